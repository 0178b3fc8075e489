import type { HostEntry } from "../../../core/network/host-names.ts";
import type { SetupRow } from "./setups.ts";

/** Whose packages a set-up command brings. */
export type Registry = NonNullable<SetupRow["hosts_from"]>;

/** What the user says about registries: files of the home folder and of the repository as it is, and variables. */
export interface RegistryFacts {
  home(path: string): string | null;
  /** Of the real tree, never of the candidate. */
  base(path: string): string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Source {
  /** Without any setting. */
  readonly hosts: readonly string[];
  readonly variables: readonly string[];
  readonly home: readonly string[];
  readonly base: readonly string[];
  /** Finds addresses in a line of a settings file. */
  readonly line: RegExp;
}

const SOURCES: Readonly<Record<Registry, Source>> = {
  npm: {
    hosts: ["registry.npmjs.org", "registry.yarnpkg.com"],
    variables: ["npm_config_registry", "NPM_CONFIG_REGISTRY", "YARN_NPM_REGISTRY_SERVER"],
    home: [".npmrc", ".yarnrc.yml"],
    base: [".npmrc", ".yarnrc.yml"],
    line: /^\s*(?:(?:@[\w.-]+:)?registry\s*=|npmRegistryServer\s*:)\s*["']?(\S+?)["']?\s*$/,
  },
  pip: {
    hosts: ["pypi.org", "files.pythonhosted.org"],
    variables: ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX"],
    home: [".config/pip/pip.conf", ".pip/pip.conf"],
    base: [],
    line: /^\s*(?:extra-)?index-url\s*[=:]\s*(\S+)\s*$/,
  },
  gem: {
    hosts: ["rubygems.org", "index.rubygems.org"],
    variables: [],
    home: [".bundle/config"],
    base: [],
    line: /^BUNDLE_MIRROR__\S*:\s*"?(\S+?)"?\s*$/,
  },
  composer: {
    hosts: ["repo.packagist.org", "api.github.com", "codeload.github.com"],
    variables: [],
    home: [],
    base: [],
    line: /^$/,
  },
  cargo: {
    hosts: ["index.crates.io", "static.crates.io"],
    variables: [],
    home: [".cargo/config.toml"],
    base: [".cargo/config.toml"],
    line: /^\s*(?:index|registry)\s*=\s*"(?:sparse\+)?(\S+?)"\s*$/,
  },
  go: {
    hosts: ["proxy.golang.org", "sum.golang.org"],
    variables: ["GOPROXY"],
    home: [],
    base: [],
    line: /^$/,
  },
};

const PROGRAMS: Readonly<Record<string, Registry>> = {
  npm: "npm",
  npx: "npm",
  pnpm: "npm",
  yarn: "npm",
  bun: "npm",
  pip: "pip",
  pip3: "pip",
  uv: "pip",
  poetry: "pip",
  bundle: "gem",
  gem: "gem",
  composer: "composer",
  cargo: "cargo",
  go: "go",
};

/** Whose packages a command brings, by the name of its program; null: nobody's that is known. */
export function registryOf(argv: readonly string[]): Registry | null {
  const program = argv[0] ?? "";
  return PROGRAMS[program.slice(program.lastIndexOf("/") + 1)] ?? null;
}

/**
 * The hosts that set-up commands need. What the home folder or a variable names may have a private address, because it is
 * the user's own word; what the repository names may not.
 */
export function findRegistryHosts(registries: readonly (Registry | null)[], facts: RegistryFacts): HostEntry[] {
  const found = new Map<string, HostEntry>();
  const add = (entry: HostEntry) => {
    const key = `${entry.host}:${entry.port}`;
    if (found.get(key)?.private !== true) found.set(key, entry);
  };
  for (const name of new Set(registries)) {
    if (name === null) continue;
    const { hosts, variables, home, base, line } = SOURCES[name];
    for (const host of hosts) add({ host, port: 443, private: false });
    const lines = (text: string | null) => (text ?? "").split(/\r?\n/).flatMap((one) => line.exec(one)?.[1] ?? []);
    const own = [
      ...variables.flatMap((one) => facts.env[one]?.split(/[\s,|]+/) ?? []),
      ...home.flatMap((one) => lines(facts.home(one))),
    ];
    for (const [addresses, isPrivate] of [
      [own, true],
      [base.flatMap((one) => lines(facts.base(one))), false],
    ] as const) {
      for (const address of addresses) {
        const entry = readAddress(address);
        if (entry !== null) add({ ...entry, private: isPrivate });
      }
    }
  }
  return [...found.values()];
}

/** Host and port of a web address; the host must be a name. */
function readAddress(text: string): Pick<HostEntry, "host" | "port"> | null {
  const [, scheme, host, port] =
    /^(https?):\/\/(?:[^/@\s]*@)?([A-Za-z0-9.-]+)(?::([0-9]{1,5}))?(?:[/?#]|$)/.exec(text) ?? [];
  if (host === undefined || !/[A-Za-z]/.test(host)) return null;
  const number = port === undefined ? (scheme === "https" ? 443 : 80) : Number(port);
  return number >= 1 && number <= 65_535 ? { host: host.toLowerCase().replace(/\.$/, ""), port: number } : null;
}

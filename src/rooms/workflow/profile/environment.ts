import { sortedUnique } from "../../../core/canonical/index.ts";
import type { AgentProfile } from "../contracts/agent-profile.ts";

/** What every agent gets: who and where it is, its terminal and language, and where tools are installed. */
const ALWAYS: readonly string[] = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "XDG_*", "EDITOR", "PAGER"],
  ...["TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"],
  ...["NVM_DIR", "VOLTA_HOME", "PYENV_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME", "GOPATH", "GOROOT"],
  ...["CARGO_HOME", "RUSTUP_HOME", "NODE_OPTIONS"],
];

/** Ways to other programs of the user. No profile passes them; `--env NAME` does. */
const NEVER_BY_PROFILE: readonly string[] = ["SSH_AUTH_SOCK", "DBUS_*", "DOCKER_HOST"];

/** What nobody passes: keys, tokens and databases of Verbatim open the records themselves, and the rest is set anew. */
const NEVER: readonly string[] = ["VERBATIM_*"];
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Options of Node that load a file into every process it starts. */
const LOADS_FILES = /(?:^|\s)["']?(?:--require|--import|--loader|--experimental-loader|-r)(?=[=\s"']|$)/;

/** What decides which variables an agent gets. */
export interface EnvironmentRequest {
  /** The caller's own variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly profile: AgentProfile | null;
  /** `agent.env` of the configuration. */
  readonly config: { readonly pass: readonly string[]; readonly set: Readonly<Record<string, string>> };
  /** `--env NAME`, `--env NAME=VALUE` and `--env-all`. */
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, string>>;
  readonly all: boolean;
}

/** Which of the caller's variables an agent gets, by name, and what is set besides. */
export interface AgentEnvironment {
  readonly passed: readonly string[];
  readonly withheld: readonly string[];
  readonly set: Readonly<Record<string, string>>;
}

/** Filters the environment of an agent. Values that are set go before those of the caller; flags before everything. */
export function filterEnvironment(request: EnvironmentRequest): AgentEnvironment {
  const { env, profile, config, names, values, all } = request;
  const there = Object.keys(env).filter((name) => env[name] !== undefined);
  const byHand = [...config.pass, ...names];
  const passes = (name: string): boolean => {
    if (isNamed(NEVER, name) || !NAME.test(name)) return false;
    if (all || isNamed(byHand, name)) return true;
    if (isNamed(NEVER_BY_PROFILE, name)) return false;
    if (name === "NODE_OPTIONS" && LOADS_FILES.test(env[name]!)) return false;
    return isNamed(ALWAYS, name) || isNamed(profile?.env?.pass ?? [], name);
  };
  const set = { ...profile?.env?.set, ...config.set, ...values };
  const given = Object.fromEntries(Object.entries(set).filter(([name]) => !isNamed(NEVER, name)));
  const passed = there.filter((name) => passes(name) && !Object.hasOwn(given, name));
  const known = new Set([...passed, ...Object.keys(given)]);
  return {
    passed: sortedUnique(passed),
    withheld: sortedUnique(there.filter((name) => !known.has(name))),
    set: given,
  };
}

/** Whether a list of names, some of them with `*` at the end, has this one. */
function isNamed(names: readonly string[], name: string): boolean {
  return names.some((one) => (one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : one === name));
}

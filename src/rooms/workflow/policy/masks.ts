import { compilePathPattern } from "../../../core/paths/index.ts";
import { SECRET_PATHS } from "./default-policy.ts";

/** Places of the home folder that hold credentials; an agent finds them empty. */
export const HOME_SECRETS: readonly string[] = [
  ".ssh",
  ".aws",
  ".azure",
  ".config/gcloud",
  ".kube",
  ".gnupg",
  ".docker/config.json",
  ".netrc",
  ".pgpass",
  ".pypirc",
  ".git-credentials",
  ".config/gh",
  ".config/op",
  ".password-store",
  ".terraform.d",
  ".npmrc",
  // What other tools keep in the same way.
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".composer/auth.json",
  ".config/composer/auth.json",
  ".config/containers/auth.json",
  ".config/github-copilot",
  ".config/glab-cli",
  ".config/hub",
  ".config/rclone",
  ".boto",
  ".gem/credentials",
  ".local/share/keyrings",
  ".local/share/kwalletd",
  ".my.cnf",
  ".mylogin.cnf",
  ".oci",
  ".s3cfg",
  ".vault-token",
  // Who reads it sees every key that is typed on the screen.
  ".Xauthority",
  // What was typed, passwords among it.
  ".bash_history",
  ".mysql_history",
  ".node_repl_history",
  ".psql_history",
  ".python_history",
  ".rediscli_history",
  ".zsh_history",
];

/** Variables that move one of these elsewhere, and what of the folder they name is meant. */
const MOVED: Readonly<Record<string, string>> = {
  AWS_CONFIG_FILE: "",
  AWS_SHARED_CREDENTIALS_FILE: "",
  AWS_WEB_IDENTITY_TOKEN_FILE: "",
  AZURE_CONFIG_DIR: "",
  CARGO_HOME: "/credentials.toml",
  CLOUDSDK_CONFIG: "",
  DOCKER_CONFIG: "/config.json",
  GH_CONFIG_DIR: "",
  GNUPGHOME: "",
  GOOGLE_APPLICATION_CREDENTIALS: "",
  KUBECONFIG: "",
  NETRC: "",
  NPM_CONFIG_USERCONFIG: "",
  PASSWORD_STORE_DIR: "",
  PGPASSFILE: "",
  TF_CLI_CONFIG_FILE: "",
  XAUTHORITY: "",
  npm_config_userconfig: "",
};

/** Where the variables of a user say that credentials lie, whatever the places are called. */
export function listMoved(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(MOVED).flatMap(([name, rest]) =>
    (env[name] ?? "")
      .split(":")
      .filter((place) => place.startsWith("/"))
      .map((place) => `${place.replace(/\/+$/, "")}${rest}`),
  );
}

/** Where browsers keep passwords, cookies and sessions. */
export const BROWSER_FOLDERS: readonly string[] = [
  ".mozilla",
  ".librewolf",
  ".config/BraveSoftware",
  ".config/chromium",
  ".config/google-chrome",
  ".config/google-chrome-beta",
  ".config/google-chrome-unstable",
  ".config/microsoft-edge",
  ".config/opera",
  ".config/vivaldi",
  ".var/app/com.brave.Browser",
  ".var/app/com.google.Chrome",
  ".var/app/com.microsoft.Edge",
  ".var/app/org.chromium.Chromium",
  ".var/app/org.mozilla.firefox",
  "snap/chromium",
  "snap/firefox",
  "Library/Application Support/BraveSoftware",
  "Library/Application Support/Firefox",
  "Library/Application Support/Google/Chrome",
  "Library/Application Support/Microsoft Edge",
  "Library/Cookies",
  "Library/Keychains",
  "Library/Safari",
];

/** Folders into which package managers put what others published: certificates among it are no secrets. */
export const INSTALLED_FOLDERS: readonly string[] = ["node_modules", "site-packages", "dist-packages"];

/** What makes files of a repository hidden. */
export interface MaskSources {
  /** `agent.policy.secret`; a `!pattern` there permits a change and shows nothing. */
  readonly secret: readonly string[];
  /** `agent.masks.add`. */
  readonly add: readonly string[];
  /** `agent.masks.show`, `--unmask`. */
  readonly show: readonly string[];
}

export interface MaskRules {
  /** Whether a file or folder with this name may be one at all, which is quick to say of most. */
  isSuspect(name: string): boolean;
  /** Whether a file is hidden. */
  isHidden(path: string): boolean;
}

/** The files of a repository that an agent finds empty: the secret class of the policy, and what somebody added. */
export function compileMasks({ secret, add, show }: MaskSources): MaskRules {
  const own = [...secret.filter((pattern) => !pattern.startsWith("!")), ...add];
  const patterns = [...SECRET_PATHS.flatMap((row) => row.patterns), ...own];
  const all = patterns.map((text) => {
    const out = text.startsWith("!");
    const source = out ? text.slice(1) : text;
    return { source, out, pattern: compilePathPattern(source, { fold: true }) };
  });
  // Names are taken as they are: a twin is not shown with them.
  const shown = show.map((source) => compilePathPattern(source, { fold: false }));
  const quick = new RegExp(
    `^(?:${all
      .filter(({ out }) => !out)
      .map(({ source }) => toQuick(source))
      .join("|")})$`,
    "i",
  );
  return {
    // Names beyond ASCII have twins that only the patterns themselves know.
    isSuspect: (name) => quick.test(name) || /[^\x20-\x7e]/.test(name) || name.includes("~"),
    isHidden(path) {
      const last = all.findLast(({ pattern }) => pattern.matches(path));
      return last !== undefined && !last.out && !shown.some((pattern) => pattern.matches(path));
    },
  };
}

/** The last name of a pattern as a regular expression that finds too much rather than too little. */
function toQuick(source: string): string {
  const name = source.replace(/\/+$/, "").split("/").at(-1)!;
  return name
    .replaceAll(/[\\^$.+()[\]{}|/-]/g, "\\$&")
    .replaceAll(/\*+/g, ".*")
    .replaceAll("?", ".");
}

/** A value in a hidden file, by the name that it has there. */
export interface HiddenValue {
  readonly name: string;
  readonly value: string;
}

const LINE = /^\s*(?:export\s+|\/\/[^=\s]*:)?["']?([A-Za-z_][\w.-]{0,99})["']?\s*=\s*(.*?)\s*$/;

/** The `KEY=value` lines of a text. */
export function readAssignments(text: string): HiddenValue[] {
  return text.split("\n").flatMap((line) => {
    const [, name, written] = LINE.exec(line) ?? [];
    if (name === undefined || written === undefined) return [];
    const quoted = /^(["'])(.*)\1$/.exec(written);
    const value = quoted === null ? written.replace(/\s+#.*$/, "") : quoted[2]!;
    return value === "" ? [] : [{ name, value }];
  });
}

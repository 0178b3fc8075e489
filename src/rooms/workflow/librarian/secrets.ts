const NAMES = new Set(
  (
    ".env .netrc _netrc .npmrc .pypirc .pgpass .htpasswd .git-credentials id_rsa id_dsa id_ecdsa id_ed25519 " +
    "credentials.json client_secret.json"
  ).split(" "),
);
const HARMLESS = new Set([".env.example", ".env.sample", ".env.template", ".env.dist"]);
const ENDINGS = new Set([".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"]);
const PATH_ENDINGS = [".aws/credentials", ".docker/config.json", ".kube/config"];

/** What the configuration says about files that look secret. */
export interface SecretRules {
  /** Exact paths that may be read all the same. */
  readonly allow: readonly string[];
  /** More base-name patterns, with an optional `*` at either end. */
  readonly deny_extra: readonly string[];
}

/** Whether a path looks like a secret. A request cannot lift this, only the configuration, path by path. */
export function looksSecret(path: string, rules: SecretRules): boolean {
  if (rules.allow.includes(path)) return false;
  const lower = path.toLowerCase();
  const name = lower.slice(lower.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return (
    NAMES.has(name) ||
    (dot !== -1 && ENDINGS.has(name.slice(dot))) ||
    (name.startsWith(".env.") && !HARMLESS.has(name)) ||
    PATH_ENDINGS.some(
      (ending) => lower.endsWith(ending) && (lower.length === ending.length || lower.at(-ending.length - 1) === "/"),
    ) ||
    rules.deny_extra.some((pattern) => matches(name, pattern.toLowerCase()))
  );
}

function matches(name: string, pattern: string): boolean {
  const [open, close] = [pattern.startsWith("*"), pattern.length > 1 && pattern.endsWith("*")];
  const core = pattern.slice(open ? 1 : 0, close ? -1 : undefined);
  if (open && close) return name.includes(core);
  if (open) return name.endsWith(core);
  return close ? name.startsWith(core) : name === core;
}

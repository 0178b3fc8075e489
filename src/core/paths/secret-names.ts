const NAMES: ReadonlySet<string> = new Set([
  ".env",
  ".netrc",
  "_netrc",
  ".npmrc",
  ".pypirc",
  ".pgpass",
  ".htpasswd",
  ".git-credentials",
  "id_rsa",
  "id_dsa",
  "id_ecdsa",
  "id_ed25519",
  "credentials.json",
  "client_secret.json",
]);

/** Files that show which variables an environment has, without their values. */
const SAMPLES: ReadonlySet<string> = new Set([".env.example", ".env.sample", ".env.template", ".env.dist"]);

const ENDINGS = [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"] as const;
const PATH_ENDINGS = [".aws/credentials", ".docker/config.json", ".kube/config"] as const;

/**
 * Whether the name of a file says that it holds a secret, without case. `extra` adds patterns for the base name, with
 * an optional `*` at either end.
 */
export function looksSecret(path: string, extra: readonly string[] = []): boolean {
  const lower = path.toLowerCase();
  const name = lower.slice(lower.lastIndexOf("/") + 1);
  if (NAMES.has(name) || (name.startsWith(".env.") && !SAMPLES.has(name))) return true;
  if (ENDINGS.some((ending) => name.endsWith(ending))) return true;
  if (PATH_ENDINGS.some((ending) => lower === ending || lower.endsWith(`/${ending}`))) return true;
  return extra.some((pattern) => matchesPattern(pattern.toLowerCase(), name));
}

function matchesPattern(pattern: string, name: string): boolean {
  const open = pattern.startsWith("*");
  const close = pattern.length > 1 && pattern.endsWith("*");
  const text = pattern.slice(open ? 1 : 0, close ? -1 : undefined);
  if (open && close) return name.includes(text);
  if (open) return name.endsWith(text);
  return close ? name.startsWith(text) : name === text;
}

import { isJsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { LIBRARIAN_DENIED } from "../../../core/contracts/config/index.ts";
import { isUnder } from "../../../core/paths/index.ts";
import { GIT_SEGMENT, type OmitReason } from "../artifacts/context-pack.ts";

/** Why a need is left out. */
interface Omission {
  readonly path: string;
  readonly reason: OmitReason;
  readonly detail: string;
}

/** What may be read from a repository. */
export interface ReadRules {
  readonly deny_prefixes: readonly string[];
  readonly secrets: SecretRules;
}

/** The normalised path of a need, or why it is left out before anything is looked at (rules a to c). */
export function readNeedPath(need: JsonValue, index: number): { readonly path: string } | Omission {
  const place = `needs[${index}]`;
  if (!isJsonObject(need)) return { path: place, reason: "invalid_request", detail: "not_an_object" };
  const path = Object.hasOwn(need, "path") ? need["path"] : undefined;
  if (typeof path !== "string" || path === "")
    return { path: place, reason: "invalid_request", detail: "path_missing" };
  return normalizePath(path);
}

/** Control characters, backslashes, drive letters, and empty, `.` or `..` segments. */
const NOT_PLAIN = /[\x00-\x1f\x7f\\]|^[A-Za-z]:|(?:^|\/)\.{0,2}(?:\/|$)/;

/** A path without empty and `.` segments, or why its form is refused. */
export function normalizePath(path: string): { readonly path: string } | Omission {
  if (!NOT_PLAIN.test(path) && path.isWellFormed()) return { path };
  const hostile =
    /[\x00-\x1f\x7f]/.test(path) ||
    !path.isWellFormed() ||
    /^(?:[/\\]|[A-Za-z]:)/.test(path) ||
    path.split(/[/\\]/).includes("..");
  if (hostile) return { path, reason: "denied", detail: "path_form" };
  if (path.includes("\\")) return { path, reason: "invalid_request", detail: "backslash" };
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.length === 0) return { path, reason: "invalid_request", detail: "path_missing" };
  return { path: segments.join("/") };
}

const DENIED: ReadonlySet<string> = new Set(LIBRARIAN_DENIED);

/** Why a normalised path may not be read (rules e and f), or null. */
export function findDenial(path: string, rules: ReadRules): "denied_prefix" | "secret_pattern" | null {
  const slash = path.indexOf("/");
  if (DENIED.has(slash === -1 ? path : path.slice(0, slash)) || GIT_SEGMENT.test(path)) return "denied_prefix";
  if (rules.deny_prefixes.some((prefix) => isUnder(path, prefix.replace(/\/+$/, "")))) return "denied_prefix";
  return looksSecret(path, rules.secrets) ? "secret_pattern" : null;
}

/** The line ranges of a need in snippets mode, each ordered, or null when one of them is malformed (rule l). */
export function readLineRanges(value: JsonValue | undefined): (readonly [number, number])[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const ranges: (readonly [number, number])[] = [];
  for (const range of value as readonly JsonValue[]) {
    if (!Array.isArray(range) || range.length !== 2) return null;
    const [a, b] = (range as readonly JsonValue[]).map(toLineNumber);
    if (a == null || b == null) return null;
    ranges.push(a <= b ? [a, b] : [b, a]);
  }
  return ranges;
}

// An integer beyond every file is out of range like any other and clamped.
function toLineNumber(value: JsonValue): number | null {
  if (typeof value === "bigint") return value < 0n ? 0 : Number.MAX_SAFE_INTEGER;
  return typeof value === "number" && Number.isInteger(value) ? value : null;
}

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
interface SecretRules {
  /** Exact paths that may be read all the same. */
  readonly allow: readonly string[];
  /** More base-name patterns, with an optional `*` at either end. */
  readonly deny_extra: readonly string[];
}

/** Whether a path looks like a secret. A request cannot lift this, only the configuration, path by path. */
function looksSecret(path: string, rules: SecretRules): boolean {
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

import { isJsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { LIBRARIAN_DENIED } from "../../../core/contracts/config/index.ts";
import { isUnder } from "../../../core/paths/index.ts";
import { GIT_SEGMENT, type OmitReason } from "../artifacts/context-pack.ts";
import { looksSecret, type SecretRules } from "./secrets.ts";

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

import { VerbatimError } from "../errors/index.ts";

declare const safe: unique symbol;

/**
 * A safe path inside a repository: relative, `/` separated, no empty, `.` or `..` segment, no drive letter,
 * no backslash, no NUL, well-formed. Never Unicode-normalised, never case-folded.
 */
export type RepoPath = string & { readonly [safe]: true };

/** Why a text is not a safe path. The first reason in this order is the one reported. */
export type PathProblem =
  | "PATH_EMPTY"
  | "PATH_NOT_UTF8"
  | "PATH_NUL"
  | "PATH_BACKSLASH"
  | "PATH_ABSOLUTE"
  | "PATH_TRAVERSAL"
  | "PATH_SEGMENT"
  | "PATH_TOO_LONG";

const REASONS: Readonly<Record<PathProblem, string>> = {
  PATH_EMPTY: "is empty",
  PATH_NOT_UTF8: "is not valid Unicode",
  PATH_NUL: "contains NUL",
  PATH_BACKSLASH: "contains a backslash",
  PATH_ABSOLUTE: "is absolute",
  PATH_TRAVERSAL: "contains a '..' segment",
  PATH_SEGMENT: "contains an empty or '.' segment",
  PATH_TOO_LONG: "is longer than 4,096 characters or has a name longer than 255 bytes",
};

const MAX_PATH = 4096;
const MAX_NAME_BYTES = 255;
const encoder = new TextEncoder();

/** The problem of a would-be path, or null when it is safe. Cost: linear in its length. */
export function findPathProblem(text: string): PathProblem | null {
  if (text === "") return "PATH_EMPTY";
  if (!text.isWellFormed()) return "PATH_NOT_UTF8";
  if (text.includes("\0")) return "PATH_NUL";
  if (text.includes("\\")) return "PATH_BACKSLASH";
  if (text.startsWith("/") || /^[A-Za-z]:/.test(text)) return "PATH_ABSOLUTE";
  const segments = text.split("/");
  if (segments.includes("..")) return "PATH_TRAVERSAL";
  if (segments.includes("") || segments.includes(".")) return "PATH_SEGMENT";
  if (text.length > MAX_PATH || segments.some(isNameTooLong)) return "PATH_TOO_LONG";
  return null;
}

function isNameTooLong(name: string): boolean {
  return name.length > MAX_NAME_BYTES / 3 && encoder.encode(name).length > MAX_NAME_BYTES;
}

/**
 * Parses a safe path or throws PATH_REFUSED with the reason in `details.reason`.
 *
 * @example
 * const path: RepoPath = parseRepoPath("docs/tides.md");
 * parseRepoPath("docs/../../secrets"); // throws PATH_REFUSED
 */
export function parseRepoPath(text: string): RepoPath {
  const problem = findPathProblem(text);
  if (problem !== null) {
    throw new VerbatimError("PATH_REFUSED", {
      message: `the path ${showPath(text)} ${REASONS[problem]}`,
      details: { path: text.toWellFormed(), reason: problem },
    });
  }
  return text as RepoPath;
}

/**
 * Whether a text is a safe path.
 *
 * @example
 * isRepoPath("docs/tides.md"); // => true
 * isRepoPath("/etc/passwd"); // => false
 */
export function isRepoPath(text: string): text is RepoPath {
  return findPathProblem(text) === null;
}

/** Whether `path` is `root` or is below it, by whole components: `ab/c` is not under `a`. */
export function isUnder(path: string, root: string): boolean {
  return path === root || (path.startsWith(root) && path[root.length] === "/");
}

/** Whether one of two paths contains the other. */
export function overlaps(a: string, b: string): boolean {
  return isUnder(a, b) || isUnder(b, a);
}

/** A path as it may be shown on a terminal: quoted, control and invisible characters escaped. */
export function showPath(path: string): string {
  return JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}…` : path).replace(
    /[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

import { utf8Length } from "../../../core/canonical/index.ts";
import { foldName, foldPath, isGitName, isUnder } from "../../../core/paths/index.ts";
import { ARTIFACT_NAMES } from "../contracts/constants.ts";

/** Why a text cannot be a path, by the text alone. The first rule that applies is the answer. */
type LexicalCode =
  | "PATH_EMPTY"
  | "PATH_INVALID"
  | "PATH_ABSOLUTE"
  | "PATH_BACKSLASH"
  | "PATH_CONTAINS_TRAVERSAL"
  | "PATH_TOO_LONG";

const CONTROL = /\p{Cc}/u;
const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;

/** The first lexical rule a path breaks, or null. The text is judged as it is: normalising first would hide `/etc`. */
export function findLexicalCode(path: string): LexicalCode | null {
  if (path === "") return "PATH_EMPTY";
  if (!path.isWellFormed() || CONTROL.test(path)) return "PATH_INVALID";
  if (/^(?:[/\\]|[A-Za-z]:)/.test(path)) return "PATH_ABSOLUTE";
  if (path.includes("\\")) return "PATH_BACKSLASH";
  const components = path.split("/");
  if (components.includes("..")) return "PATH_CONTAINS_TRAVERSAL";
  if (utf8Length(path) > MAX_PATH_BYTES || components.some((name) => utf8Length(name) > MAX_NAME_BYTES)) {
    return "PATH_TOO_LONG";
  }
  return null;
}

/** Drops `.` and empty components; the root itself becomes the empty text. */
export function normalizePath(path: string): string {
  return path
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .join("/");
}

/** As `normalizePath`, with `.` for the root: the form JOBSPEC.json keeps. */
export function normalizeOrRoot(path: string): string {
  return normalizePath(path) || ".";
}

/** Whether a component is the git folder on some file system. */
export function hasGitComponent(path: string): boolean {
  return path.split("/").some(isGitName);
}

/** Whether one normalised path contains the other, by whole components; the root contains everything. */
export function containsOrInside(a: string, b: string): boolean {
  return isInside(a, b) || isInside(b, a);
}

/** Whether a normalised path is a root or is below it; the empty root is the repository. */
export function isInside(path: string, root: string): boolean {
  return root === "" || isUnder(path, root);
}

const FOLDED_ARTIFACTS = new Set(ARTIFACT_NAMES.map(foldName));

/** Whether a path is exactly `<runs_root>/<x>/<artifact name>`, folded. */
export function isArtifactPlace(path: string, runsRoot: string): boolean {
  const below = belowFolded(path, runsRoot);
  if (below === null) return false;
  const parts = below.split("/");
  return parts.length === 2 && FOLDED_ARTIFACTS.has(parts[1]!);
}

/** The folded rest of a path below a root, or null when it is not below it. */
export function belowFolded(path: string, root: string): string | null {
  const folded = foldPath(path);
  const base = foldPath(root);
  return folded.startsWith(`${base}/`) ? folded.slice(base.length + 1) : null;
}

import { sortedByCodePoint } from "../../../core/canonical/index.ts";
import { isInside } from "../declare/path-rules.ts";
import type { Policy } from "../declare/policy.ts";
import { isOwnState, parentOf } from "../run/places.ts";

/** Which paths of the repository a view shows, compares and carries. */
export class ViewScope {
  /** Forbidden places, which the command finds as they are and cannot write. */
  readonly holes: readonly string[];
  readonly #policy: Policy;
  #ignored: readonly string[] = [];
  #names: ReadonlySet<string> = new Set();
  #masked: ReadonlySet<string> = new Set();

  constructor(policy: Policy) {
    this.#policy = policy;
    const forbidden = policy.forbidden_roots.filter((root) => root !== ".git");
    this.holes = sortedByCodePoint(new Set([...forbidden, ".verbatim"]));
  }

  /** What git ignores; folders end with a slash. */
  get ignored(): readonly string[] {
    return this.#ignored;
  }

  set ignored(paths: readonly string[]) {
    this.#ignored = paths;
    this.#names = new Set(paths);
  }

  /** Files that the command found empty. */
  get masked(): readonly string[] {
    return [...this.#masked];
  }

  set masked(paths: readonly string[]) {
    this.#masked = new Set(paths);
  }

  isHole(path: string): boolean {
    return this.holes.some((hole) => isInside(path, hole)) || isOwnState(path, this.#policy);
  }

  /** What is not compared: forbidden places and the private repository have their own rules. */
  isLeftOut(path: string): boolean {
    return this.isHole(path) || isInside(path, ".git");
  }

  /** What of a view is no change: what is not compared, and what takes the place of a file that was hidden. */
  isUncarried(path: string): boolean {
    return this.isLeftOut(path) || isAmong(path, this.#masked);
  }

  isInView(path: string): boolean {
    return !this.isLeftOut(path) && !this.isIgnored(path);
  }

  isIgnored(path: string): boolean {
    return isAmong(path, this.#names);
  }
}

/** Whether a path, or a folder that it is in, is named; folders may end with a slash. */
function isAmong(path: string, names: ReadonlySet<string>): boolean {
  if (names.size === 0) return false;
  for (let at = path; at !== ""; at = parentOf(at)) if (names.has(at) || names.has(`${at}/`)) return true;
  return false;
}

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

  isHole(path: string): boolean {
    return this.holes.some((hole) => isInside(path, hole)) || isOwnState(path, this.#policy);
  }

  /** What is not compared: forbidden places and the private repository have their own rules. */
  isLeftOut(path: string): boolean {
    return this.isHole(path) || isInside(path, ".git");
  }

  isInView(path: string): boolean {
    return !this.isLeftOut(path) && !this.isIgnored(path);
  }

  isIgnored(path: string): boolean {
    if (this.#names.size === 0) return false;
    for (let at = path; at !== ""; at = parentOf(at)) {
      if (this.#names.has(at) || this.#names.has(`${at}/`)) return true;
    }
    return false;
  }
}

import { VerbatimError } from "../errors/index.ts";

/** A glob that was understood. Paths are relative to the root and `/` separated. */
export interface Glob {
  readonly source: string;
  /** The folder below which everything it matches lies, without wildcards; "" is the root. */
  readonly folder: string;
  matches(path: string): boolean;
  /** The same for a path that was taken apart at its slashes. */
  matchesNames(names: readonly string[]): boolean;
  /** Whether something below a folder could match; "" is the root. */
  couldMatchBelow(folder: string): boolean;
  /** Whether everything below a folder matches, so that an exclusion need not look inside. */
  matchesAllBelow(folder: string): boolean;
}

/** One segment: any number of segments, or a pattern for one name (a literal is a pattern without wildcards). */
export type Segment = typeof ANY_SEGMENTS | string;

export const ANY_SEGMENTS = Symbol("any number of segments");
const ANY_NAME = "*";
const RESERVED = /[[\]{}!]/;
const CONTROL = /[\x00-\x1f\x7f]/;
const WILDCARD = /[*?]/;
const FORMS =
  "Write a pattern relative to the root with single slashes; * and ? match within a segment, ** is a segment of its own.";

/**
 * Compiles a glob, or throws GLOB_SYNTAX naming the part that is not allowed.
 *
 * @example
 * const glob = compileGlob("docs/*.md");
 * glob.matches("docs/tides.md"); // => true
 * compileGlob("docs/[a-z].md"); // throws GLOB_SYNTAX
 */
export function compileGlob(source: string): Glob {
  const problem = findProblem(source);
  if (problem !== null) {
    throw new VerbatimError("GLOB_SYNTAX", {
      message: `the glob ${JSON.stringify(source)} ${problem}`,
      fix: FORMS,
      details: { glob: source.toWellFormed() },
    });
  }
  const names = source.split("/");
  const segments: Segment[] = names.map((name) => (name === "**" ? ANY_SEGMENTS : name));
  // At the end `**` stands for at least one segment: what it matches is below, it is not the folder itself.
  if (segments.at(-1) === ANY_SEGMENTS) segments.push(ANY_NAME);
  const firstWild = names.findIndex((name) => WILDCARD.test(name));
  const literals = names.slice(0, firstWild === -1 ? names.length - 1 : Math.min(firstWild, names.length - 1));
  return {
    source,
    folder: literals.join("/"),
    matches: (path) => path !== "" && matchSegments(segments, path.split("/")),
    matchesNames: (names) => matchSegments(segments, names),
    couldMatchBelow: (folder) => placesAfter(segments, folder).some((at) => at < segments.length),
    matchesAllBelow: (folder) =>
      placesAfter(segments, folder).some(
        (at) => at === segments.length - 2 && segments[at] === ANY_SEGMENTS && segments[at + 1] === ANY_NAME,
      ),
  };
}

function findProblem(source: string): string | null {
  if (source === "") return "is empty";
  if (CONTROL.test(source)) return "contains a control character";
  if (source.includes("\\")) return "contains a backslash";
  const reserved = RESERVED.exec(source);
  if (reserved !== null) return `contains the reserved character ${reserved[0]}`;
  if (source.startsWith("/") || source.endsWith("/")) return "starts or ends with a slash";
  for (const name of source.split("/")) {
    if (name === "") return "has an empty segment";
    if (name === "." || name === "..") return `has a segment ${name}`;
    if (name !== "**" && name.includes("**")) return `has ** inside the segment ${name}`;
  }
  return null;
}

/** Whether a path is matched whole. On a mismatch only the last `**` takes one segment more: earlier ones need not. */
export function matchSegments(segments: readonly Segment[], names: readonly string[]): boolean {
  let at = 0;
  let name = 0;
  let lastAny = -1;
  let resume = 0;
  while (name < names.length) {
    const segment = segments[at];
    if (segment === ANY_SEGMENTS) {
      lastAny = at++;
      resume = name;
    } else if (segment !== undefined && matchName(segment, names[name]!)) {
      at++;
      name++;
    } else if (lastAny !== -1) {
      at = lastAny + 1;
      name = ++resume;
    } else return false;
  }
  return at === segments.length;
}

/** Whether a name is matched whole, the same way: on a mismatch only the last `*` takes one character more. */
function matchName(pattern: string, name: string): boolean {
  let at = 0;
  let i = 0;
  let lastStar = -1;
  let resume = 0;
  while (i < name.length) {
    const code = pattern.charCodeAt(at);
    if (code === 42) {
      lastStar = at++;
      resume = i;
    } else if (code === 63) {
      at++;
      i += name.codePointAt(i)! > 0xffff ? 2 : 1;
    } else if (code === name.charCodeAt(i)) {
      at++;
      i++;
    } else if (lastStar !== -1) {
      at = lastStar + 1;
      resume += name.codePointAt(resume)! > 0xffff ? 2 : 1;
      i = resume;
    } else return false;
  }
  while (pattern.charCodeAt(at) === 42) at++;
  return at === pattern.length;
}

/** Every place in the glob that can be reached once the names of a folder are matched. */
function placesAfter(segments: readonly Segment[], folder: string): number[] {
  let places = [0];
  for (const name of folder === "" ? [] : folder.split("/")) {
    const next = new Set<number>();
    for (const at of withZeroSegments(segments, places)) {
      const segment = segments[at];
      if (segment === ANY_SEGMENTS) next.add(at);
      else if (segment !== undefined && matchName(segment, name)) next.add(at + 1);
    }
    places = [...next];
    if (places.length === 0) return places;
  }
  return [...withZeroSegments(segments, places)];
}

function withZeroSegments(segments: readonly Segment[], places: readonly number[]): Set<number> {
  const all = new Set(places);
  for (const at of all) if (segments[at] === ANY_SEGMENTS) all.add(at + 1);
  return all;
}

import { foldPath } from "./fold-path.ts";
import { ANY_SEGMENTS, matchSegments, type Segment } from "./glob.ts";

/** A pattern in the syntax of gitignore that names files or whole folders. */
export interface PathPattern {
  readonly source: string;
  /** Whether the pattern names the path, or a folder above it. */
  matches(path: string): boolean;
}

/**
 * Compiles a pattern: a name without a slash is meant at every depth, a slash ties it to the root, a slash at the end means
 * a folder, and a folder means everything below it. `*`, `?` and `**` are wildcards; brackets, braces and `!` are letters of
 * a name. `fold` compares twins of a name as one: case, composition, and what HFS+ and NTFS leave out.
 */
export function compilePathPattern(source: string, options: { readonly fold: boolean }): PathPattern {
  const fold = options.fold ? foldTwins : (text: string) => text;
  const isFolder = source.endsWith("/");
  const names = source
    .replace(/^\/|\/+$/g, "")
    .split("/")
    .map((name) => (name === "**" ? ANY_SEGMENTS : fold(name)));
  const isTied = source.replace(/\/+$/, "").includes("/");
  const whole: readonly Segment[] = isTied ? names : [ANY_SEGMENTS, ...names];
  const below: readonly Segment[] = [...whole, ANY_SEGMENTS, "*"];
  return {
    source,
    matches(path) {
      const parts = fold(path).split("/");
      return (!isFolder && matchSegments(whole, parts)) || matchSegments(below, parts);
    },
  };
}

/** Upper case first: it joins the letters that lower case alone keeps apart, such as the long s and the dotless i. */
function foldTwins(path: string): string {
  return foldPath(path.toUpperCase());
}

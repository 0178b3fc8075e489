import { compileGlob, type Glob, isUnder } from "../../../core/paths/index.ts";
import type { WalkRules } from "../ports.ts";

/** What no configuration can make a source. */
const NEVER = ["**/.git/**", "**/.verbatim/**"];

/** The globs of a configuration, ready to walk with. */
export interface SourceRules extends WalkRules {
  /** Globs of `sources` that select none of these paths. */
  findEmpty(paths: readonly string[]): string[];
  /** The globs of each list that match a path. */
  explain(path: string): { readonly sources: string[]; readonly exclude: string[] };
  /** Whether a path is out of bounds for every configuration. */
  isNever(path: string): boolean;
}

/** Compiles `sources` and `exclude`; GLOB_SYNTAX names the first glob that is not one. */
export function compileSources(sources: readonly string[], exclude: readonly string[]): SourceRules {
  const wanted = sources.map(compileGlob);
  const never = NEVER.map(compileGlob);
  const excluded = exclude.map(compileGlob);
  const refused = [...excluded, ...never];
  return {
    prefixes: outermost(wanted.map(({ folder }) => folder)),
    enters: (folder) =>
      wanted.some((glob) => glob.couldMatchBelow(folder)) && !refused.some((glob) => glob.matchesAllBelow(folder)),
    // What must never be a source is in folders that are not entered.
    matches: (path) => isAnyMatch(wanted, path) && !isAnyMatch(excluded, path),
    findEmpty: (paths) => wanted.filter((glob) => !isAnyMatched(glob, paths)).map(toText),
    explain: (path) => ({
      sources: wanted.filter((glob) => glob.matches(path)).map(toText),
      exclude: refused.filter((glob) => glob.matches(path)).map(toText),
    }),
    isNever: (path) => isAnyMatch(never, path),
  };
}

/** Most globs are about one folder: its name decides before the path is taken apart, which happens once. */
function isAnyMatch(globs: readonly Glob[], path: string): boolean {
  let names: string[] | undefined;
  for (const glob of globs) {
    if (!path.startsWith(glob.folder)) continue;
    names ??= path.split("/");
    if (glob.matchesNames(names)) return true;
  }
  return false;
}

function isAnyMatched(glob: Glob, paths: readonly string[]): boolean {
  for (const path of paths) if (path.startsWith(glob.folder) && glob.matches(path)) return true;
  return false;
}

function toText({ source }: Glob): string {
  return source;
}

/** Folders that are in no other one of the list. */
function outermost(folders: readonly string[]): string[] {
  const distinct = [...new Set(folders)];
  return distinct.filter(
    (folder) => !distinct.some((other) => other !== folder && (other === "" || isUnder(folder, other))),
  );
}

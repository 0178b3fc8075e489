import { isUnder } from "../../core/paths/index.ts";
import { compileGlob } from "./glob.ts";
import type { WalkRules } from "./ports.ts";

/** The globs of a configuration, ready to walk with. */
export interface SourceRules extends WalkRules {
  /** Globs of `sources` that select none of these paths. */
  findEmpty(paths: readonly string[]): string[];
  /** The globs of each list that match a path. */
  explain(path: string): { readonly sources: string[]; readonly exclude: string[] };
}

/** Compiles `sources` and `exclude`; GLOB_SYNTAX names the first glob that is not one. */
export function compileSources(sources: readonly string[], exclude: readonly string[]): SourceRules {
  const wanted = sources.map((text) => ({ text, glob: compileGlob(text) }));
  const refused = exclude.map((text) => ({ text, glob: compileGlob(text) }));
  return {
    prefixes: outermost(wanted.map(({ glob }) => glob.folder)),
    enters: (folder) =>
      wanted.some(({ glob }) => glob.couldMatchBelow(folder)) &&
      !refused.some(({ glob }) => glob.matchesAllBelow(folder)),
    matches: (path) => wanted.some(({ glob }) => glob.matches(path)) && !refused.some(({ glob }) => glob.matches(path)),
    findEmpty(paths) {
      return wanted.filter(({ glob }) => !paths.some((path) => glob.matches(path))).map(({ text }) => text);
    },
    explain: (path) => ({
      sources: wanted.filter(({ glob }) => glob.matches(path)).map(({ text }) => text),
      exclude: refused.filter(({ glob }) => glob.matches(path)).map(({ text }) => text),
    }),
  };
}

/** Folders that lie in no other one of the list. */
function outermost(folders: readonly string[]): string[] {
  const distinct = [...new Set(folders)];
  return distinct.filter(
    (folder) => !distinct.some((other) => other !== folder && (other === "" || isUnder(folder, other))),
  );
}

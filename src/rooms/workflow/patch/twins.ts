import { foldName } from "../../../core/paths/index.ts";
import type { PatchSection } from "./patch-section.ts";

/** A new name that some system would take for one that is there. */
export interface Twin {
  readonly path: string;
  readonly line: number;
}

/** Sections that bring a new name into the tree. */
export function listCreated(sections: readonly PatchSection[]): readonly PatchSection[] {
  return sections.filter(({ operation }) => operation === "create" || operation === "rename" || operation === "copy");
}

/** Paths that are gone after the patch. */
export function listLeaving(sections: readonly PatchSection[]): ReadonlySet<string> {
  const gone = sections.filter(({ operation }) => operation === "delete" || operation === "rename");
  return new Set(gone.map(({ old_path }) => old_path));
}

/** The folders on the way to a path, the root first as the empty text. */
export function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return ["", ...parts.map((_, i) => parts.slice(0, i + 1).join("/"))];
}

/**
 * New names that some system takes for another name in the same folder, of a file or of a folder, there
 * before or made by the same patch. `entries` has the names in each folder that exists.
 */
export function findTwins(
  sections: readonly PatchSection[],
  entries: ReadonlyMap<string, readonly string[]>,
): readonly Twin[] {
  const leaving = listLeaving(sections);
  const known = new Map<string, Set<string>>();
  const namesLike = (folder: string, name: string) => {
    const key = `${folder}/${foldName(name)}`;
    const names = known.get(key) ?? new Set<string>();
    known.set(key, names);
    return names;
  };
  for (const [folder, names] of entries) {
    for (const name of names) {
      if (!leaving.has(folder === "" ? name : `${folder}/${name}`)) namesLike(folder, name).add(name);
    }
  }
  return listCreated(sections).flatMap(({ new_path, line }): Twin[] => {
    const names = new_path.split("/");
    const isTwin = foldersOf(new_path).some((folder, i) => {
      const like = namesLike(folder, names[i]!);
      if (like.size > 0 && !like.has(names[i]!)) return true;
      like.add(names[i]!);
      return false;
    });
    return isTwin ? [{ path: new_path, line }] : [];
  });
}

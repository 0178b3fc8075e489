import type { TreeDifferences } from "../../rooms/catalytic/ports.ts";
import { entriesOf, packEntry, type TreeTable } from "./tree-table.ts";

export const NO_DIFFERENCES: TreeDifferences = { was: new Map(), is: new Map() };

/** What differs between two tables: only folders that changed, came or went are compared. */
export function differ(before: TreeTable, after: TreeTable, changed: ReadonlySet<number>): TreeDifferences {
  const [was, is] = [new Map<string, string>(), new Map<string, string>()];
  const now = new Map(after.folders.map((path, i) => [path, i]));
  const then = new Set(before.folders);
  for (const [i, folder] of before.folders.entries()) {
    if (!changed.has(i) && now.has(folder)) continue;
    for (const { path, at } of entriesOf(before, i)) was.set(path, packEntry(before, at));
    const k = now.get(folder);
    if (k !== undefined) for (const { path, at } of entriesOf(after, k)) is.set(path, packEntry(after, at));
  }
  for (const [i, folder] of after.folders.entries()) {
    if (!then.has(folder)) for (const { path, at } of entriesOf(after, i)) is.set(path, packEntry(after, at));
  }
  was.set(".", packEntry(before, 0));
  is.set(".", packEntry(after, 0));
  return dropSame(was, is);
}

/** Leaves only the paths that differ. */
export function dropSame(was: Map<string, string>, is: Map<string, string>): TreeDifferences {
  for (const [path, packed] of was) {
    if (is.get(path) !== packed) continue;
    was.delete(path);
    is.delete(path);
  }
  return { was, is };
}

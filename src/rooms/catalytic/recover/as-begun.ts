import { sortedByCodePoint } from "../../../core/canonical/index.ts";
import type { LayerMarks } from "../ports.ts";
import { diffTree } from "../tree/diff.ts";
import type { Entry, Tree } from "../tree/tree.ts";
import type { ViewChanges } from "../view/view-changes.ts";

interface Begun {
  /** The real tree when the command began. */
  readonly tree: Tree;
  readonly marks: LayerMarks;
  /** Whether the command's side of the overlay has something at a path. */
  isWritten(path: string): boolean;
  /** Whether the real tree has something at a path today. */
  isReal(path: string): boolean;
}

/**
 * A folder that was renamed in an overlay is one word that points to the real one, and shows what is in there today. What
 * the command did not write is taken as it was when it began: what somebody has edited since, as it was; what somebody
 * has made since is not the command's; and what somebody has removed since came along all the same.
 */
export function takeAsBegun<T extends Pick<ViewChanges, "added" | "removed" | "changed">>(changes: T, begun: Begun): T {
  const { tree, marks, isWritten, isReal } = begun;
  const [added, removed, changed] = [new Map(changes.added), new Map(changes.removed), new Map(changes.changed)];
  const take = (path: string, after: Entry | undefined) => {
    const before = tree.get(path);
    for (const one of [added, removed, changed]) one.delete(path);
    if (after === undefined && before !== undefined) removed.set(path, before);
    if (after !== undefined && before === undefined) added.set(path, after);
    if (after === undefined || before === undefined) return;
    const change = diffTree(new Map([[path, before]]), new Map([[path, after]])).changed.get(path);
    if (change !== undefined) changed.set(path, change);
  };
  for (const path of [...changes.added.keys(), ...changes.changed.keys()]) {
    if (isWritten(path)) continue;
    const origin = originOf(path, marks);
    take(path, origin === null ? undefined : tree.get(origin));
  }
  // What is in neither tree today was not compared: it is gone under its old path, and came along to the new one.
  for (const real of tree.keys()) {
    const origin = originOf(real, marks);
    if (origin !== real && !isWritten(real) && !isReal(real))
      take(real, origin === null ? undefined : tree.get(origin));
  }
  for (const folder of sortedByCodePoint([...marks.redirects.keys()])) {
    const origin = originOf(folder, marks);
    if (origin === null) continue;
    for (const [real, entry] of tree) {
      if (!real.startsWith(`${origin}/`) || isReal(real)) continue;
      const path = `${folder}${real.slice(origin.length)}`;
      if (!isWritten(path) && originOf(path, marks) === real) take(path, entry);
    }
  }
  return { ...changes, added, removed, changed };
}

/** The path in the real tree of which an overlay shows the contents at another one; null: none. */
export function originOf(path: string, { gone, opaque, redirects }: LayerMarks): string | null {
  let at: string | null = "";
  let origin: string | null = "";
  for (const name of path.split("/")) {
    const parent: string | null = origin;
    at = at === "" ? name : `${at}/${name}`;
    const to = redirects.get(at);
    if (gone.has(at)) return null;
    if (to !== undefined) origin = to.startsWith("/") ? to.slice(1) : parent === null ? null : join(parent, to);
    else if (opaque.has(at) || parent === null) origin = null;
    else origin = join(parent, name);
  }
  return origin;
}

function join(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

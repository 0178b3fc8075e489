import { isUnder } from "../../../core/paths/index.ts";
import type { PlanPorts } from "../landing/plan-landing.ts";
import type { BaseTree } from "../patch/ports.ts";
import type { TreeEntry, TreeFiles } from "../ports.ts";
import type { TreePath } from "./ports.ts";

/**
 * A tree of git as planning a landing sees the working tree, so that one set of rules says what a change becomes on either.
 * Bytes are read only of the paths that are planned for. Cost: the number of paths of the tree, once.
 */
export async function readTreeAsFiles(
  trees: TreeFiles,
  tree: BaseTree,
  paths: readonly TreePath[],
  wanted: readonly string[],
): Promise<PlanPorts["files"]> {
  const known = new Map(paths.map((one) => [one.path, one]));
  const folders = new Map<string, Set<string>>([["", new Set()]]);
  for (const { path } of paths) addToFolders(folders, path);
  const found = await trees.find(
    tree,
    wanted.filter((path) => known.has(path)),
  );
  const bytes = new Map<string, Uint8Array>();
  for (const [path, file] of found) bytes.set(path, await file.read());
  const look = (path: string): TreeEntry => {
    if (folders.has(path)) return { kind: "folder" };
    const there = known.get(path);
    if (there === undefined) return { kind: isBlocked(known, path) ? "blocked" : "missing" };
    const own = bytes.get(path);
    // A submodule, or a file that nobody asks for the bytes of.
    if (there.mode === "160000") return { kind: "special" };
    const body = own ?? new Uint8Array();
    const { id: stamp } = there;
    if (there.mode === "120000") return { kind: "link", mode: "120000", bytes: body, stamp };
    const mode = there.mode === "100755" ? "100755" : "100644";
    return { kind: "file", mode, permissions: mode === "100755" ? 0o755 : 0o644, bytes: body, stamp };
  };
  return {
    look,
    names: (folder) => [...(folders.get(folder) ?? [])],
    below: (folder) => ({
      files: paths.filter(({ path }) => isUnder(path, folder)).map(({ path }) => path),
      folders: [...folders.keys()].filter((path) => path !== folder && isUnder(path, folder)),
    }),
  };
}

function addToFolders(folders: Map<string, Set<string>>, path: string): void {
  const parts = path.split("/");
  for (let depth = 0; depth < parts.length; depth++) {
    const folder = parts.slice(0, depth).join("/");
    const names = folders.get(folder) ?? new Set();
    folders.set(folder, names.add(parts[depth]!));
  }
}

/** Whether a file stands where a folder of the path would be. */
function isBlocked(known: ReadonlyMap<string, TreePath>, path: string): boolean {
  const parts = path.split("/");
  return parts.some((_, depth) => depth > 0 && known.has(parts.slice(0, depth).join("/")));
}

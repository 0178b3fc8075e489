import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeUtf8 } from "../../core/canonical/index.ts";
import type { BaseTree } from "../../rooms/workflow/ports.ts";
import { requireGit, splitNul } from "./git-process.ts";
import { readObjectFolder, writeTree } from "./work-tree.ts";

/** A path as a tree has it; null: the tree has nothing there. */
export interface BasePath {
  readonly path: string;
  readonly mode: "100644" | "100755" | "120000" | null;
  readonly id: string;
}

/** What a checkout would put at a path. */
export interface BaseFile {
  readonly path: string;
  readonly mode: "100644" | "100755" | "120000";
  readonly bytes: Uint8Array;
}

/**
 * Every path that git does not ignore and that is not as in a tree. Folders that are repositories of their own are left
 * as they are. Costs what `git add` of the whole tree costs.
 */
export async function listBaseDifferences(root: string, base: BaseTree): Promise<readonly BasePath[]> {
  const objects = await mkdtemp(join(tmpdir(), "verbatim-objects-"));
  try {
    const now = await writeTree(root, objects, true);
    if (now === base.tree) return [];
    const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: joinFolders([objects, base.objects]) };
    const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", now, base.tree];
    const rows = splitNul(await requireGit({ cwd: root, args, env }));
    return rows.flatMap((row, i) => (i % 2 === 0 ? toBasePath(row, rows[i + 1]!) : []));
  } finally {
    await rm(objects, { recursive: true, force: true });
  }
}

/** `:100644 100755 <id> <id> M` */
function toBasePath(row: string, path: string): BasePath[] {
  const [was, mode, , id] = row.slice(1).split(" ") as [string, string, string, string];
  if (mode === "160000" || (mode === "000000" && was === "160000")) return [];
  return [{ path, mode: mode === "000000" ? null : (mode as BaseFile["mode"]), id }];
}

/**
 * The files of a tree as git would check them out here, line ends and filters of the user's own settings included. They
 * are checked out into a folder of our own.
 */
export async function* readBaseFiles(
  root: string,
  base: BaseTree,
  paths: readonly BasePath[],
): AsyncGenerator<BaseFile, void, void> {
  const files = paths.filter(({ mode }) => mode !== null);
  if (files.length === 0) return;
  const folder = await mkdtemp(join(tmpdir(), "verbatim-base-"));
  try {
    const own = joinFolders([base.objects, await readObjectFolder(root)]);
    const env = { GIT_INDEX_FILE: join(folder, "index"), GIT_ALTERNATE_OBJECT_DIRECTORIES: own };
    const lines = files.map(({ path, mode, id }) => `${mode} ${id}\t${path}\0`).join("");
    await requireGit({ cwd: root, args: ["update-index", "-z", "--index-info"], stdin: encodeUtf8(lines), env });
    const prefix = join(folder, "files");
    const names = encodeUtf8(files.map(({ path }) => `${path}\0`).join(""));
    await requireGit({
      cwd: root,
      args: ["checkout-index", "-z", "--stdin", `--prefix=${prefix}/`],
      stdin: names,
      env,
    });
    for (const { path, mode } of files) {
      const place = join(prefix, path);
      const isLink = lstatSync(place).isSymbolicLink();
      const bytes = isLink ? encodeUtf8(readlinkSync(place)) : readFileSync(place);
      yield { path, mode: mode!, bytes };
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function joinFolders(folders: readonly (string | null)[]): string {
  return folders.filter((folder) => folder !== null).join(":");
}

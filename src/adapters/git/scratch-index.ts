import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BaseTree } from "../../rooms/workflow/ports.ts";
import { requireGit } from "./git-process.ts";

/** A path of a tree, as `ls-tree` tells it. */
export interface IndexRow {
  readonly path: string;
  /** Six octal digits; folders are no part of an index. */
  readonly mode: string;
  readonly id: string;
}

/**
 * Runs something with a temporary index; the user's index is never touched. It holds the given paths of a tree, or without
 * them the whole tree, which costs what the tree is large.
 */
export async function withIndex<T>(
  root: string,
  base: BaseTree,
  rows: readonly IndexRow[] | null,
  run: (env: Record<string, string>) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "verbatim-index-"));
  try {
    const place = join(folder, "index");
    const env: Record<string, string> = { GIT_INDEX_FILE: place };
    if (base.objects !== null) env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = base.objects;
    if (rows === null) await requireGit({ cwd: root, args: ["read-tree", base.tree], env });
    else await writeFile(place, formatIndex(rows, base.tree.length / 2));
    return await run(env);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const FOLDER = "040000";
/** Times, device, inode, owner and size: nothing is known of them, and whoever only reads the index asks for none. */
const STAT = 40;
/** Where the mode lies among them. */
const MODE_AT = 24;
const LONGEST_NAME = 0xfff;

/** An index of version 2, as git's own documentation lays it out. `width` is that of an object id in bytes. */
export function formatIndex(rows: readonly IndexRow[], width: number): Uint8Array {
  const entries = rows
    .filter(({ mode }) => mode !== FOLDER)
    .map(({ path, mode, id }) => ({ name: Buffer.from(path), mode: Number.parseInt(mode, 8), id }))
    .sort((a, b) => a.name.compare(b.name));
  const head = Buffer.alloc(12);
  head.write("DIRC");
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(entries.length, 8);
  const parts = [head, ...entries.map((entry) => formatEntry(entry, width))];
  const hash = createHash(width === 20 ? "sha1" : "sha256");
  for (const part of parts) hash.update(part);
  return Buffer.concat([...parts, hash.digest()]);
}

interface Entry {
  readonly name: Buffer;
  readonly mode: number;
  readonly id: string;
}

/** Its name ends with one to eight zeros, so that the next entry begins at a multiple of eight. */
function formatEntry({ name, mode, id }: Entry, width: number): Buffer {
  const size = STAT + width + 2 + name.length;
  const entry = Buffer.alloc(size + 8 - (size % 8));
  entry.writeUInt32BE(mode, MODE_AT);
  entry.write(id, STAT, "hex");
  entry.writeUInt16BE(Math.min(name.length, LONGEST_NAME), STAT + width);
  name.copy(entry, STAT + width + 2);
  return entry;
}

import { lstatSync } from "node:fs";
import type { TreeChecker } from "./tree-check.ts";
import type { TableSource, TreeFile } from "./tree-file.ts";
import { type Hidden, packEntry, type TreeTable, WIDTH } from "./tree-table.ts";

/** A table in memory, or one that is read from its file when someone needs it. */
export class KnownTable {
  readonly entries: number;
  /** Everything that is not a folder. */
  readonly files: number;
  /** The stat of the root itself, packed. */
  readonly top: string;
  /** The file that holds this table, if one does. */
  #file: TreeFile | null;
  #table: TreeTable | null;
  #near: TreeTable | null = null;

  constructor(from: TreeFile | TreeTable) {
    const isFile = "load" in from;
    this.#file = isFile ? from : null;
    this.#table = isFile ? null : from;
    this.entries = isFile ? from.source.entries : from.stats.length / WIDTH;
    this.files = this.entries - (isFile ? from.source.folders : from.folders.length);
    this.top = isFile ? from.top : packEntry(from, 0);
  }

  get source(): TableSource | null {
    return this.#file?.source ?? null;
  }

  get(): TreeTable {
    if (this.#table === null) {
      this.#table = this.#file!.load();
      // What was noted about the root in the meantime holds for the whole table.
      if (this.#near !== null) this.#table.stats.set(this.#near.stats);
    }
    return this.#table;
  }

  /** The part of the table that has the root and what is directly in it. */
  getTop(): TreeTable {
    this.#near ??= this.#table ?? this.#file!.loadTop();
    return this.#near;
  }

  keepIn(file: TreeFile): void {
    this.#file?.close();
    this.#file = file;
  }

  close(): void {
    this.#file?.close();
  }
}

/** The folders that are not as the table says. */
export async function compare(
  checker: TreeChecker,
  root: string,
  hidden: Hidden,
  known: KnownTable,
  onSeen?: (files: number) => void,
): Promise<ReadonlySet<number>> {
  const quick = known.source === null ? null : await checker.checkFile(root, hidden, known.source, onSeen);
  return quick ?? checker.check(root, hidden, known.get());
}

/** The stat of the root itself, packed. */
export function rootStat(root: string): string {
  const facts = lstatSync(root, { bigint: true });
  const { ino, mode, nlink, uid, gid, size, mtimeNs, ctimeNs } = facts;
  const stats = BigInt64Array.of(ino, mode, nlink, uid, gid, size, mtimeNs, ctimeNs);
  // Of a table, packing one entry reads the numbers and the targets of links, and nothing else.
  return packEntry({ stats, targets: new Map() } as unknown as TreeTable, 0);
}

import * as crypto from "node:crypto";
import * as fs from "node:fs";
import { formatCanonical } from "../../../core/canonical/index.ts";
import type { Entry, FolderNow, SnapshotOptions, Tree } from "../../../rooms/catalytic/ports.ts";
import { listMountsBelow } from "../stat/mounts.ts";
import { BATCH, type Desk, DIGEST, makeDesk, PIECE, readBatch, SnapshotThread } from "./snapshot-thread.ts";
import { snapshotPlace, toMode } from "./tree-snapshot.ts";

/** Below this many files a second thread costs more than it gives. */
const WORTH_A_THREAD = 500;
const TURN_MS = 25;

const thread = new SnapshotThread();

/** The paths of a folder: its files, and its folders and links, which need no reading. */
interface Listing {
  readonly files: readonly string[];
  readonly others: readonly (readonly [string, Entry])[];
}

/**
 * Begins to read a folder on a second thread and returns at once; whoever asks for the answer helps with what is left.
 * Anything unusual (names that share a file, names that are not UTF-8, errors) falls back to the careful reading.
 */
export function beginSnapshot(place: string, options: SnapshotOptions): () => Promise<FolderNow> {
  const careful = async () => {
    const { entries } = await snapshotPlace(place, options);
    return {
      isSame: (tree: Tree) =>
        tree.size === entries.size && [...entries].every(([path, entry]) => isSame(tree.get(path), entry as Entry)),
    };
  };
  const listing = isPlain(options) ? orNull(() => list(place, options.max_entries)) : null;
  if (listing === null || listing.files.length < WORTH_A_THREAD) return careful;
  const { files } = listing;
  const desk = makeDesk(files.length);
  const other = thread.read(place, files, desk);
  return async () => {
    const buffer = Buffer.allocUnsafe(PIECE);
    let turn = performance.now();
    for (let more: boolean | null = true; more; ) {
      more = orNull(() => readBatch(fs, crypto, place, files, desk, BATCH, buffer));
      if (more === null) {
        Atomics.store(desk.next, 0, files.length);
        return careful();
      }
      if (performance.now() - turn < TURN_MS) continue;
      await new Promise((resolve) => setImmediate(resolve));
      turn = performance.now();
    }
    const ok = await other();
    return ok && Atomics.load(desk.next, 1) === 0 ? { isSame: (tree) => isSameAsRead(tree, listing, desk) } : careful();
  };
}

function isSame(a: Entry | undefined, b: Entry): boolean {
  return a !== undefined && formatCanonical(a) === formatCanonical(b);
}

function isPlain({ strict_mtime, lenient, skip, knownHash }: SnapshotOptions): boolean {
  return !strict_mtime && lenient !== true && skip === undefined && knownHash === undefined;
}

/** Null for an error: the careful reading meets the same one and gives it its code. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Error) return null;
    throw thrown;
  }
}

/** The files below a place, and its folders and links; null when there is something that is not plain. */
function list(place: string, most: number): Listing | null {
  const facts = fs.lstatSync(place, { throwIfNoEntry: false });
  if (facts === undefined || !facts.isDirectory() || listMountsBelow(place).length > 0) return null;
  const files: string[] = [];
  const others: [string, Entry][] = [[".", { type: "dir", mode: toMode(facts.mode) }]];
  const pending = [""];
  for (let prefix = pending.pop(); prefix !== undefined; prefix = pending.pop()) {
    for (const item of fs.readdirSync(`${place}/${prefix}`, { withFileTypes: true })) {
      const path = prefix + item.name;
      if (item.name.includes("\ufffd") || files.length + others.length >= most) return null;
      if (item.isFile()) files.push(path);
      else if (item.isSymbolicLink()) {
        const target = fs.readlinkSync(`${place}/${path}`);
        if (target.includes("\ufffd")) return null;
        others.push([path, { type: "symlink", target }]);
      } else if (item.isDirectory()) {
        const below = fs.lstatSync(`${place}/${path}`);
        if (below.dev !== facts.dev) return null;
        others.push([path, { type: "dir", mode: toMode(below.mode) }]);
        pending.push(`${path}/`);
      } else return null;
    }
  }
  return { files, others };
}

/** Whether what was read is exactly a tree. No entry is made: the table of digests is compared as one text. */
function isSameAsRead(tree: Tree, { files, others }: Listing, { modes, sizes, digests }: Desk): boolean {
  if (tree.size !== files.length + others.length) return false;
  if (!others.every(([path, entry]) => isSame(tree.get(path), entry))) return false;
  const hashes = Buffer.from(digests.buffer).toString("hex");
  return files.every((path, i) => {
    const entry = tree.get(path);
    return (
      entry?.type === "file" &&
      entry.size === sizes[i] &&
      entry.mode === toMode(modes[i]!) &&
      entry.sha256.length === DIGEST * 2 &&
      hashes.startsWith(entry.sha256, i * DIGEST * 2) &&
      entry.link_group === undefined &&
      entry.mtime_ns === undefined
    );
  });
}

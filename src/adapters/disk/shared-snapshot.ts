import { hash } from "node:crypto";
import * as fs from "node:fs";
import { Worker } from "node:worker_threads";
import { compareCodePoints } from "../../core/canonical/index.ts";
import type { SnapshotOptions, SnapshotTaken } from "../../rooms/catalytic/ports.ts";
import type { Entry } from "../../rooms/catalytic/tree.ts";
import { listMountsBelow, snapshotPlace, toMode } from "./tree-snapshot.ts";

/** Below this many folders a second thread costs more than it gives. */
const WORTH_A_THREAD = 8;

type Found =
  | readonly [path: string, target: string]
  | readonly [path: string, mode: number, size: number, sha256: string];

interface Share {
  /** False: something was met that only the careful reading can name. */
  readonly ok: boolean;
  readonly found: readonly Found[];
}

/**
 * Begins a snapshot on a second thread and returns at once. Whoever calls the answer helps with what is left. Anything
 * unusual (links between names, large files, names that are not UTF-8, errors) falls back to the careful reading.
 */
export function beginSnapshot(place: string, options: SnapshotOptions): () => Promise<SnapshotTaken> {
  const careful = () => snapshotPlace(place, options);
  const folders = options.strict_mtime ? null : listFolders(place, options.max_entries);
  if (folders === null || folders.length < WORTH_A_THREAD) return careful;
  const dirs = folders.map(([path]) => path);
  const next = new Int32Array(new SharedArrayBuffer(4));
  const other = startWorker(place, dirs, next);
  return async () => {
    const own = readShare(place, dirs, next);
    const theirs = await other;
    if (!own.ok || !theirs.ok) return careful();
    return merge(folders, [...own.found, ...theirs.found]);
  };
}

function readShare(place: string, dirs: readonly string[], next: Int32Array): Share {
  try {
    return readFolders(fs, hash, place, dirs, next);
  } catch (thrown) {
    // The careful reading meets the same error and gives it its code.
    if (thrown instanceof Error) return { ok: false, found: [] };
    throw thrown;
  }
}

function startWorker(folder: string, dirs: readonly string[], next: Int32Array): Promise<Share> {
  const code = `const { workerData: w, parentPort } = require("node:worker_threads");
    parentPort.postMessage((${readFolders.toString()})(require("node:fs"), require("node:crypto").hash, w.folder, w.dirs, w.next));`;
  return new Promise((resolve) => {
    const worker = new Worker(code, { eval: true, workerData: { folder, dirs, next }, execArgv: [] });
    worker.once("message", (share: Share) => resolve(share));
    worker.once("error", () => resolve({ ok: false, found: [] }));
    worker.once("exit", () => resolve({ ok: false, found: [] }));
  });
}

/** Every folder below a place with its mode, or null when there is something that is not plain. */
function listFolders(place: string, most: number): [string, string][] | null {
  const facts = fs.lstatSync(place, { throwIfNoEntry: false });
  if (facts === undefined || !facts.isDirectory() || listMountsBelow(place).length > 0) return null;
  const folders: [string, string][] = [["", toMode(facts.mode)]];
  for (let i = 0; i < folders.length; i++) {
    if (folders.length > most) return null;
    const prefix = folders[i]![0] === "" ? "" : `${folders[i]![0]}/`;
    for (const item of fs.readdirSync(`${place}/${prefix}`, { withFileTypes: true })) {
      if (item.name.includes("\ufffd")) return null;
      if (!item.isDirectory()) continue;
      const below = fs.lstatSync(`${place}/${prefix}${item.name}`);
      if (below.dev !== facts.dev) return null;
      folders.push([prefix + item.name, toMode(below.mode)]);
    }
  }
  return folders;
}

/**
 * Takes folders from the common list until none is left, and hashes what lies in them. It is also sent to the worker as
 * text, so it uses nothing but its arguments.
 */
function readFolders(
  files: typeof fs,
  digest: typeof hash,
  folder: string,
  dirs: readonly string[],
  next: Int32Array,
): Share {
  const found: Found[] = [];
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = files.constants;
  const buffer = Buffer.allocUnsafe(1024 * 1024);
  for (let i = Atomics.add(next, 0, 1); i < dirs.length; i = Atomics.add(next, 0, 1)) {
    const prefix = dirs[i] === "" ? "" : `${dirs[i]}/`;
    for (const item of files.readdirSync(`${folder}/${prefix}`, { withFileTypes: true })) {
      const path = prefix + item.name;
      if (item.isDirectory()) continue;
      if (item.isSymbolicLink()) {
        found.push([path, files.readlinkSync(`${folder}/${path}`)]);
        continue;
      }
      if (!item.isFile()) return { ok: false, found };
      const fd = files.openSync(`${folder}/${path}`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        const before = files.fstatSync(fd);
        if (!before.isFile() || before.nlink > 1 || before.size > buffer.length) return { ok: false, found };
        let got = 0;
        while (got < before.size) {
          const count = files.readSync(fd, buffer, got, before.size - got, null);
          if (count === 0) return { ok: false, found };
          got += count;
        }
        const after = files.fstatSync(fd);
        if (after.size !== before.size || after.mtimeMs !== before.mtimeMs) return { ok: false, found };
        found.push([path, before.mode, before.size, digest("sha256", buffer.subarray(0, got), "hex")]);
      } finally {
        files.closeSync(fd);
      }
    }
  }
  return { ok: true, found };
}

function merge(folders: readonly (readonly [string, string])[], found: readonly Found[]): SnapshotTaken {
  const entries: [string, Entry][] = folders.map(([path, mode]) => [path === "" ? "." : path, { type: "dir", mode }]);
  let bytes = 0;
  for (const one of found) {
    if (one.length === 2) entries.push([one[0], { type: "symlink", target: one[1] }]);
    else {
      entries.push([one[0], { type: "file", mode: toMode(one[1]), size: one[2], sha256: one[3] }]);
      bytes += one[2];
    }
  }
  entries.sort(([a], [b]) => compareCodePoints(a, b));
  return { entries: new Map(entries), not_utf8: new Set(), bytes, foreign: null };
}

import * as crypto from "node:crypto";
import * as fs from "node:fs";
import { Worker } from "node:worker_threads";
import type { SnapshotOptions } from "../../rooms/catalytic/ports.ts";
import type { Entry, OtherEntry } from "../../rooms/catalytic/tree.ts";
import { listMountsBelow, snapshotPlace, toMode } from "./tree-snapshot.ts";

/** Below this many files a second thread costs more than it gives. */
const WORTH_A_THREAD = 500;
/** Files a thread takes at once. */
const BATCH = 32;
const DIGEST = 32;
const TURN_MS = 25;

/** What both threads write: how far the list is taken, and mode, size and digest of each file. */
interface Desk {
  /** The next file that nobody took, and how often something was met that only the careful reading can name. */
  readonly next: Int32Array;
  readonly modes: Int32Array;
  readonly sizes: Float64Array;
  readonly digests: Uint8Array;
}

/**
 * Begins to read a folder on a second thread and returns at once; whoever asks for the answer helps with what is left.
 * The answer is in no order. Anything unusual (names that share a file, names that are not UTF-8, errors) falls back to
 * the careful reading.
 */
export function beginSnapshot(
  place: string,
  options: SnapshotOptions,
): () => Promise<ReadonlyMap<string, Entry | OtherEntry>> {
  const careful = async () => (await snapshotPlace(place, options)).entries;
  const listing = isPlain(options) ? orNull(() => list(place, options.max_entries)) : null;
  if (listing === null || listing.files.length < WORTH_A_THREAD) return careful;
  const { files, others } = listing;
  const desk = makeDesk(files.length);
  const other = startWorker(place, files, desk);
  return async () => {
    let turn = performance.now();
    for (let more: boolean | null = true; more; ) {
      more = orNull(() => readBatch(fs, crypto, place, files, desk, BATCH));
      if (more === null) return careful();
      if (performance.now() - turn < TURN_MS) continue;
      await new Promise((resolve) => setImmediate(resolve));
      turn = performance.now();
    }
    const ok = await other;
    return ok && Atomics.load(desk.next, 1) === 0 ? merge(files, others, desk) : careful();
  };
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

function makeDesk(count: number): Desk {
  return {
    next: new Int32Array(new SharedArrayBuffer(8)),
    modes: new Int32Array(new SharedArrayBuffer(4 * count)),
    sizes: new Float64Array(new SharedArrayBuffer(8 * count)),
    digests: new Uint8Array(new SharedArrayBuffer(DIGEST * count)),
  };
}

/** True when the other thread read its share without meeting anything unusual. */
function startWorker(folder: string, files: readonly string[], desk: Desk): Promise<boolean> {
  const code = `const { workerData: w, parentPort } = require("node:worker_threads");
    const files = w.files.split("\\0"), read = ${readBatch.toString()};
    const fs = require("node:fs"), crypto = require("node:crypto");
    while (read(fs, crypto, w.folder, files, w.desk, ${BATCH}));
    parentPort.postMessage(true);`;
  return new Promise((resolve) => {
    const workerData = { folder, files: files.join("\0"), desk };
    const worker = new Worker(code, { eval: true, workerData, execArgv: [], env: {}, trackUnmanagedFds: false });
    worker.once("message", () => resolve(true));
    worker.once("error", () => resolve(false));
    worker.once("exit", () => resolve(false));
  });
}

/** The files below a place, and its folders and links; null when there is something that is not plain. */
function list(place: string, most: number): { readonly files: string[]; readonly others: [string, Entry][] } | null {
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

/**
 * Takes the next files from the common list and hashes them; false when none is left. It is also sent to the worker as
 * text, so it uses nothing but its arguments.
 */
function readBatch(
  { openSync, fstatSync, readSync, closeSync, constants }: typeof fs,
  { hash, createHash }: typeof crypto,
  folder: string,
  files: readonly string[],
  { next, modes, sizes, digests }: Desk,
  batch: number,
): boolean {
  const first = Atomics.add(next, 0, batch);
  const end = Math.min(first + batch, files.length);
  const buffer = Buffer.allocUnsafe(first < end ? 256 * 1024 : 0);
  for (let i = first; i < end; i++) {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const fd = openSync(`${folder}/${files[i]}`, flags);
    try {
      const { mode, size, nlink } = fstatSync(fd);
      let total = readSync(fd, buffer, 0, buffer.length, null);
      let digest = total === size ? hash("sha256", buffer.subarray(0, total), "buffer") : null;
      if (digest === null && total === buffer.length) {
        const running = createHash("sha256");
        for (let got = total; got > 0; total += got) {
          running.update(buffer.subarray(0, got));
          got = readSync(fd, buffer, 0, buffer.length, null);
        }
        digest = running.digest();
      }
      if (digest === null || total !== size || (mode & 0o170000) !== 0o100000 || nlink > 1) {
        Atomics.add(next, 1, 1);
        return false;
      }
      digests.set(digest, i * 32);
      modes[i] = mode;
      sizes[i] = size;
    } finally {
      closeSync(fd);
    }
  }
  return end < files.length;
}

function merge(files: readonly string[], others: readonly [string, Entry][], desk: Desk): Map<string, Entry> {
  const entries = new Map<string, Entry>(others);
  const digests = Buffer.from(desk.digests.buffer);
  files.forEach((path, i) => {
    const sha256 = digests.toString("hex", i * DIGEST, (i + 1) * DIGEST);
    entries.set(path, { type: "file", mode: toMode(desk.modes[i]!), size: desk.sizes[i]!, sha256 });
  });
  return entries;
}

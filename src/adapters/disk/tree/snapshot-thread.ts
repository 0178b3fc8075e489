import type * as nodeCrypto from "node:crypto";
import type * as nodeFs from "node:fs";
import { Worker } from "node:worker_threads";

/** Files a thread takes at once. */
export const BATCH = 32;
export const DIGEST = 32;
/** What is read at once; a file that is not larger is hashed in one call. */
export const PIECE = 256 * 1024;
/** A thread that nobody used for so long is ended. */
const IDLE_MS = 5000;

/** What both threads write: how far the list is taken, and mode, size and digest of each file. */
export interface Desk {
  /** The next file that nobody took, and how often something was met that only the careful reading can name. */
  readonly next: Int32Array;
  readonly modes: Int32Array;
  readonly sizes: Float64Array;
  readonly digests: Uint8Array;
}

/** Memory that threads share, for so many files. */
export function makeDesk(count: number): Desk {
  return {
    next: new Int32Array(new SharedArrayBuffer(8)),
    modes: new Int32Array(new SharedArrayBuffer(4 * count)),
    sizes: new Float64Array(new SharedArrayBuffer(8 * count)),
    digests: new Uint8Array(new SharedArrayBuffer(DIGEST * count)),
  };
}

/**
 * Takes the next files from the common list and hashes them; false when none is left. It is also sent to the worker as
 * text, so it uses nothing but its arguments.
 */
export function readBatch(
  { openSync, fstatSync, readSync, closeSync, constants }: typeof nodeFs,
  { hash, createHash }: typeof nodeCrypto,
  folder: string,
  files: readonly string[],
  { next, modes, sizes, digests }: Desk,
  batch: number,
  buffer: Buffer,
): boolean {
  const first = Atomics.add(next, 0, batch);
  const end = Math.min(first + batch, files.length);
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const table = Buffer.from(digests.buffer);
  let piece = buffer;
  for (let i = first; i < end; i++) {
    const fd = openSync(`${folder}/${files[i]}`, flags);
    try {
      const { mode, size, nlink } = fstatSync(fd);
      let total = readSync(fd, buffer, 0, buffer.length, null);
      if (total === size) {
        if (piece.length !== total) piece = buffer.subarray(0, total);
        // One character is one byte; a Buffer for each digest would cost more than the digest.
        table.write(hash("sha256", piece, "binary"), i * 32, "latin1");
      } else if (total === buffer.length) {
        const running = createHash("sha256");
        for (let got = total; got > 0; total += got) {
          running.update(buffer.subarray(0, got));
          got = readSync(fd, buffer, 0, buffer.length, null);
        }
        running.digest().copy(table, i * 32);
      }
      if (total !== size || (mode & 0o170000) !== 0o100000 || nlink > 1) {
        Atomics.add(next, 1, 1);
        return false;
      }
      modes[i] = mode;
      sizes[i] = size;
    } finally {
      closeSync(fd);
    }
  }
  return end < files.length;
}

/** A second thread that reads its share of the files of a folder. It is kept for the next folder for a while. */
export class SnapshotThread {
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | null = null;
  #asked = 0;
  readonly #pending = new Map<number, (ok: boolean) => void>();

  /** Starts the thread, so that it is there when it is needed. */
  warm(): Worker {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
    this.#worker ??= this.#start();
    return this.#worker;
  }

  /** Begins to read. The answer is true when the thread met nothing unusual; asking for it keeps the process alive. */
  read(folder: string, files: readonly string[], desk: Desk): () => Promise<boolean> {
    const worker = this.warm();
    const id = ++this.#asked;
    const answer = new Promise<boolean>((resolve) => this.#pending.set(id, resolve));
    worker.postMessage({ id, folder, files: files.join("\0"), desk });
    return () => {
      if (this.#pending.has(id)) worker.ref();
      return answer;
    };
  }

  #start(): Worker {
    const code = `const { parentPort } = require("node:worker_threads"), read = ${readBatch.toString()};
      const fs = require("node:fs"), crypto = require("node:crypto"), buffer = Buffer.allocUnsafe(${PIECE});
      parentPort.on("message", ({ id, folder, files, desk }) => {
        let ok = true;
        try {
          const list = files.split("\\0");
          while (read(fs, crypto, folder, list, desk, ${BATCH}, buffer));
        } catch { ok = false; }
        parentPort.postMessage({ id, ok });
      });`;
    const worker = new Worker(code, { eval: true, execArgv: [], env: {}, trackUnmanagedFds: false });
    // It must not keep a process alive that has nothing else to do.
    worker.unref();
    worker.on("message", ({ id, ok }: { id: number; ok: boolean }) => this.#settle(worker, [id], ok));
    const broke = () => {
      if (this.#worker === worker) this.#worker = null;
      this.#settle(worker, [...this.#pending.keys()], false);
    };
    worker.on("error", broke);
    worker.on("exit", broke);
    return worker;
  }

  #settle(worker: Worker, ids: readonly number[], ok: boolean): void {
    for (const id of ids) {
      this.#pending.get(id)?.(ok);
      this.#pending.delete(id);
    }
    if (this.#pending.size > 0) return;
    worker.unref();
    if (this.#worker !== worker) return;
    this.#idle = setTimeout(() => this.#end(worker), IDLE_MS);
    this.#idle.unref();
  }

  #end(worker: Worker): void {
    this.#worker = null;
    this.#idle = null;
    void worker.terminate();
  }
}

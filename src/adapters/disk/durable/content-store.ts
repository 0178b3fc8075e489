import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { isHash, sortedByCodePoint } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode, toDiskError } from "../../../core/errors/system.ts";
import type { Clock, ContentStore, SyncCrypto } from "../../../core/ports.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../guarded/private-modes.ts";
import { writeDurable } from "./atomic-write.ts";
import { syncFolder } from "./sync-folder.ts";
import { TemporaryFiles } from "./temporary-files.ts";

interface ContentStoreOptions {
  /** Payloads are in `<folder>/sha256/ab/cd/<hash>`, unfinished ones in `<folder>/tmp`. */
  readonly folder: string;
  readonly crypto: SyncCrypto;
  readonly clock: Clock;
}

const READ_NO_LINK = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);
const SMALL = 64 * 1024;
const CHUNK = 1024 * 1024;

/** Payloads as files. A payload's modification time says when it was last stored. */
export function createContentStore(options: ContentStoreOptions): ContentStore {
  return new FolderContentStore(options);
}

class FolderContentStore implements ContentStore {
  readonly #root: string;
  readonly #crypto: SyncCrypto;
  readonly #clock: Clock;
  readonly #temporary: TemporaryFiles;

  constructor({ folder, crypto, clock }: ContentStoreOptions) {
    this.#root = folder;
    this.#crypto = crypto;
    this.#clock = clock;
    this.#temporary = new TemporaryFiles(join(folder, "tmp"));
  }

  async put(bytes: Uint8Array): Promise<string> {
    const hash = this.#crypto.sha256(bytes);
    const path = this.#place(hash);
    try {
      if (!(await this.#refresh(hash, path))) await this.#write(hash, path, bytes);
    } catch (thrown) {
      throw toDiskError(thrown, path);
    }
    return hash;
  }

  async putStream(parts: Iterable<Uint8Array>): Promise<string> {
    const rest = parts[Symbol.iterator]();
    const first = rest.next();
    const second = rest.next();
    // Most files are one part, and one that is known already need not be written.
    if (first.done === true) return this.put(new Uint8Array());
    if (second.done === true) return this.put(first.value);
    const temporary = await this.#temporary.next();
    try {
      const hash = await this.#writeParts(temporary, [first.value, second.value], { [Symbol.iterator]: () => rest });
      const path = this.#place(hash);
      if (await this.#refresh(hash, path)) await rm(temporary);
      else {
        const folder = await this.#makeFolders(hash);
        await rename(temporary, path);
        await syncFolder(folder);
      }
      return hash;
    } catch (thrown) {
      await rm(temporary, { force: true });
      throw toDiskError(thrown, temporary);
    }
  }

  /** Writes a new file, hashing what goes in. */
  async #writeParts(path: string, begin: readonly Uint8Array[], rest: Iterable<Uint8Array>): Promise<string> {
    const running = this.#crypto.hasher();
    const hashed = function* () {
      for (const parts of [begin, rest]) {
        for (const part of parts) {
          running.update(part);
          yield part;
        }
      }
    };
    await writeDurable(path, Readable.from(hashed()), { mode: PRIVATE_FILE, mtimeMs: this.#clock.now() });
    return running.digest();
  }

  async get(hash: string): Promise<Uint8Array> {
    const path = this.#place(requireHash(hash));
    const bytes = this.#readSmall(hash, path) ?? (await this.#readLarge(hash, path));
    if (this.#crypto.sha256(bytes) !== hash) throw corrupt(hash, path, "the stored bytes no longer match their hash");
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Reads a payload that is not large at once: the four trips to other threads would take longer than the reading. */
  #readSmall(hash: string, path: string): Buffer | null {
    if (!this.#isThere(hash, path)) throw corrupt(hash, path, "the payload is missing");
    let file: number | undefined;
    try {
      file = openSync(path, READ_NO_LINK);
      return fstatSync(file).size <= SMALL ? readFileSync(file) : null;
    } catch (thrown) {
      const what = errnoCode(thrown) === "ENOENT" ? "is missing" : "cannot be read";
      throw corrupt(hash, path, `the payload ${what}`, thrown);
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  async #readLarge(hash: string, path: string): Promise<Buffer> {
    const handle = await this.#open(hash, path);
    if (handle === null) throw corrupt(hash, path, "the payload is missing");
    try {
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  }

  async has(hash: string): Promise<boolean> {
    return this.#isThere(requireHash(hash), this.#place(hash));
  }

  async *list(): AsyncIterable<string> {
    const root = join(this.#root, "sha256");
    for (const first of await namesIn(root, /^[0-9a-f]{2}$/)) {
      for (const second of await namesIn(join(root, first), /^[0-9a-f]{2}$/)) {
        for (const name of await namesIn(join(root, first, second), /^[0-9a-f]{64}$/)) {
          if (name.startsWith(first + second)) yield name;
        }
      }
    }
  }

  async remove(hash: string, storedBefore: number): Promise<boolean> {
    const path = this.#place(requireHash(hash));
    try {
      if (!this.#isThere(hash, path) || lstatSync(path).mtimeMs >= storedBefore) return false;
      // Out of the way first: whoever stores the payload meanwhile either shows in the time or writes it again.
      const aside = await this.#temporary.next();
      await rename(path, aside);
      if (lstatSync(aside).mtimeMs >= storedBefore) {
        await rename(aside, path);
        return false;
      }
      await rm(aside);
      return true;
    } catch (thrown) {
      if (errnoCode(thrown) === "ENOENT") return false;
      throw toDiskError(thrown, path);
    }
  }

  /** Marks a good payload as stored just now; false when there is none and it must be written. */
  async #refresh(hash: string, path: string): Promise<boolean> {
    const handle = await this.#open(hash, path);
    if (handle === null) return false;
    try {
      if ((await this.#hashOpen(handle)) !== hash) return false;
      const now = this.#clock.now() / 1000;
      await handle.utimes(now, now);
      // Garbage collection may have taken the file away before it saw the new time.
      const { ino } = await handle.stat();
      return lstatSync(path, { throwIfNoEntry: false })?.ino === ino;
    } finally {
      await handle.close();
    }
  }

  async #hashOpen(handle: FileHandle): Promise<string> {
    const running = this.#crypto.hasher();
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK, (await handle.stat()).size + 1));
    for (let at = 0; ; ) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) return running.digest();
      running.update(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
  }

  async #write(hash: string, path: string, bytes: Uint8Array): Promise<void> {
    const folder = await this.#makeFolders(hash);
    const temporary = await this.#temporary.next();
    try {
      await writeDurable(temporary, bytes, { mode: PRIVATE_FILE, mtimeMs: this.#clock.now() });
      await rename(temporary, path);
    } catch (thrown) {
      await rm(temporary, { force: true });
      throw thrown;
    }
    await syncFolder(folder);
  }

  /** Makes the folders of a payload one by one, each durable in the one above it. */
  async #makeFolders(hash: string): Promise<string> {
    await mkdir(this.#root, { recursive: true, mode: PRIVATE_FOLDER });
    let folder = this.#root;
    for (const name of ["sha256", hash.slice(0, 2), hash.slice(2, 4)]) {
      const parent = folder;
      folder = join(folder, name);
      if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) continue;
      await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
      await syncFolder(parent);
    }
    this.#isThere(hash, this.#place(hash));
    return folder;
  }

  async #open(hash: string, path: string): Promise<FileHandle | null> {
    if (!this.#isThere(hash, path)) return null;
    try {
      return await open(path, READ_NO_LINK);
    } catch (thrown) {
      if (errnoCode(thrown) === "ENOENT") return null;
      throw corrupt(hash, path, "the payload cannot be read", thrown);
    }
  }

  /** Whether the payload's file exists; a link or anything else that is not a folder or file is refused. */
  #isThere(hash: string, path: string): boolean {
    let at = this.#root;
    for (const name of ["", "sha256", hash.slice(0, 2), hash.slice(2, 4), hash]) {
      at = join(at, name);
      const facts = lstatSync(at, { throwIfNoEntry: false });
      if (facts === undefined) return false;
      if (name === hash ? !facts.isFile() : !facts.isDirectory()) {
        throw corrupt(hash, at, `a ${facts.isSymbolicLink() ? "link" : "foreign object"} is in the way at ${path}`);
      }
    }
    return true;
  }

  #place(hash: string): string {
    return join(this.#root, "sha256", hash.slice(0, 2), hash.slice(2, 4), hash);
  }
}

async function namesIn(folder: string, pattern: RegExp): Promise<string[]> {
  try {
    return sortedByCodePoint((await readdir(folder)).filter((name) => pattern.test(name)));
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT") return [];
    throw thrown;
  }
}

function requireHash(hash: string): string {
  if (!isHash(hash))
    throw new VerbatimError("INTERNAL", { message: "a payload was requested by something that is not a SHA-256" });
  return hash;
}

function corrupt(hash: string, where: string, message: string, cause?: unknown): VerbatimError {
  return new VerbatimError("CONTENT_STORE_CORRUPT", { message, where, details: { hash }, cause });
}

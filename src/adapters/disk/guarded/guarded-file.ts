import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { errnoCode } from "../../../core/errors/system.ts";

/** Neither a link nor a FIFO nor a terminal can lead this anywhere or make it wait. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const CHUNK = 1024 * 1024;
const FURTHER = 1024;
const ABSENT = ["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EACCES", "EPERM", "ENAMETOOLONG", "ENODEV"];

/** A regular file someone else may have made, open for reading. */
export interface GuardedFile {
  readonly size: number;
  /** Bytes from a position: as many as there are, at most `count`. */
  read(at: number, count: number): Buffer;
}

/**
 * Opens a file that a guarded command may have written and hands it over; null when it is anything but a regular file
 * reached without a link in its last name. The caller decides how much is read.
 */
export function withGuardedFile<T>(place: string, use: (file: GuardedFile) => T): T | null {
  const fd = openGuarded(place);
  if (fd === null) return null;
  try {
    const facts = fstatSync(fd);
    if (!facts.isFile()) return null;
    return use({ size: facts.size, read: (at, count) => readAt(fd, at, count, facts.size) });
  } finally {
    closeSync(fd);
  }
}

/** The whole of a small file of the guarded side; null when there is none, it is not a regular file or it is larger. */
export function readGuarded(place: string, most: number): Buffer | null {
  return withGuardedFile(place, (file) => {
    if (file.size > most) return null;
    // It may have grown since: one byte more than allowed tells.
    const bytes = file.read(0, most + 1);
    return bytes.length > most ? null : bytes;
  });
}

/** So many bytes of a file of the guarded side, in parts, and one byte more where it has grown since. */
export function* readGuardedChunks(place: string, size: number): Generator<Uint8Array, void, void> {
  const fd = openGuarded(place);
  if (fd === null) return;
  try {
    if (!fstatSync(fd).isFile()) return;
    for (let at = 0; at <= size; ) {
      const part = readAt(fd, at, Math.min(CHUNK, size + 1 - at), size);
      if (part.length === 0) return;
      yield part;
      at += part.length;
    }
  } finally {
    closeSync(fd);
  }
}

/** Names in a folder of the guarded side, at most so many; none where it is not a folder. */
export function listGuarded(place: string, most: number): string[] {
  try {
    if (!lstatSync(place).isDirectory()) return [];
    return readdirSync(place).slice(0, most);
  } catch (thrown) {
    if (ABSENT.includes(errnoCode(thrown) ?? "")) return [];
    throw thrown;
  }
}

/** Whether every folder from a base to a path is a real one: a link on the way could lead out of the guarded side. */
export function isPlainBelow(base: string, path: string): boolean {
  let place = base;
  for (const name of path.split("/").slice(0, -1)) {
    place = join(place, name);
    try {
      if (!lstatSync(place).isDirectory()) return false;
    } catch (thrown) {
      if (ABSENT.includes(errnoCode(thrown) ?? "")) return false;
      throw thrown;
    }
  }
  return true;
}

function openGuarded(place: string): number | null {
  try {
    return openSync(place, READ);
  } catch (thrown) {
    if (ABSENT.includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
}

function readAt(fd: number, at: number, count: number, size: number): Buffer {
  const parts: Buffer[] = [];
  for (let done = 0, further = FURTHER; done < count; ) {
    // Most files are small. What a file is said to hold and one byte more show its end; after that it has grown.
    const left = size - at - done;
    const room = left > 0 ? left + 1 : further;
    if (left <= 0) further *= 4;
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK, count - done, room));
    const got = readSync(fd, buffer, 0, buffer.length, at + done);
    if (got === 0) break;
    parts.push(buffer.subarray(0, got));
    done += got;
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

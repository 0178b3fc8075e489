import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { VerbatimError } from "../../../core/errors/index.ts";

interface PrivateFile {
  /** What it is, for a sentence: `the token file`. */
  readonly name: string;
  /** Mode bits that nobody may have set; others could read the secret. */
  readonly forbidden: number;
  readonly fix: string;
}

/** Opens a regular file, never a pipe or a device that would be waited for, and hands its descriptor on. */
export function withFile<T>(file: string, { name, forbidden, fix }: PrivateFile, read: (descriptor: number) => T): T {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const facts = fstatSync(descriptor);
    if (!facts.isFile()) {
      throw new VerbatimError("FILE_UNREADABLE", { message: `${name} is not a regular file`, where: file });
    }
    // Windows has no such modes.
    if (process.platform !== "win32" && (facts.mode & forbidden) !== 0) {
      throw new VerbatimError("USAGE", { message: `other users can read ${name} ${file}`, fix });
    }
    return read(descriptor);
  } catch (cause) {
    if (cause instanceof VerbatimError) throw cause;
    throw new VerbatimError("FILE_UNREADABLE", { where: file, cause });
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** At most so many bytes from where the descriptor stands; `isEnough` may end it earlier. */
export function readAtMost(descriptor: number, most: number, isEnough: (bytes: Buffer) => boolean): Buffer {
  const bytes = Buffer.alloc(most);
  let length = 0;
  while (length < most && !isEnough(bytes.subarray(0, length))) {
    const got = readSync(descriptor, bytes, length, most - length, null);
    if (got === 0) break;
    length += got;
  }
  return bytes.subarray(0, length);
}

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, open, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode, toDiskError } from "../../../core/errors/system.ts";
import type { LocalFiles } from "../../../core/ports.ts";
import { writeFileAtomic } from "../durable/atomic-write.ts";

/** Files relative to a folder; `-` reads the given standard input. */
export function createLocalFiles(folder: string, stdin: AsyncIterable<Uint8Array>): LocalFiles {
  return {
    read: (path, maxBytes) =>
      path === "-" ? readStream(stdin, maxBytes) : readRegularFile(resolve(folder, path), path, maxBytes),
    create: async (path, bytes) => {
      if (path === "-") {
        throw new VerbatimError("USAGE", {
          message: "- means standard input; a file is needed here",
          fix: "Name a file, or read the result with --json.",
        });
      }
      await createFile(resolve(folder, path), path, bytes);
    },
    replace: (path, bytes) =>
      writeFileAtomic(resolve(folder, path), bytes).catch((thrown: unknown) => {
        throw toCodedError(thrown, path);
      }),
  };
}

async function readStream(stream: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge("standard input", maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function readRegularFile(place: string, path: string, maxBytes: number): Promise<Uint8Array> {
  // Not blocking: a pipe that nobody writes to must be refused, not waited for.
  const file = await open(place, constants.O_RDONLY | constants.O_NONBLOCK).catch((thrown: NodeJS.ErrnoException) => {
    throw new VerbatimError(thrown.code === "ENOENT" ? "FILE_NOT_FOUND" : "FILE_UNREADABLE", {
      message: thrown.code === "ENOENT" ? "the file does not exist" : "the file cannot be read",
      where: path,
      cause: thrown,
    });
  });
  try {
    const facts = await file.stat();
    if (!facts.isFile()) {
      throw new VerbatimError("FILE_UNREADABLE", { message: "this is not a regular file", where: path });
    }
    if (facts.size > maxBytes) throw tooLarge(path, maxBytes);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function tooLarge(where: string, limit: number): VerbatimError {
  return new VerbatimError("FILE_TOO_LARGE", { message: `more than ${limit} bytes`, where, details: { limit } });
}

/** Writes next to the target, makes it durable, then links it into place: there whole or not at all. */
async function createFile(place: string, path: string, bytes: Uint8Array): Promise<void> {
  const temporary = join(dirname(place), `.verbatim-${randomBytes(8).toString("hex")}.tmp`);
  const file = await open(temporary, "wx", 0o644).catch((thrown: unknown) => {
    throw toCodedError(thrown, path);
  });
  try {
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(temporary, place);
  } catch (thrown) {
    throw toCodedError(thrown, path);
  } finally {
    await unlink(temporary);
  }
}

function toCodedError(thrown: unknown, path: string): unknown {
  switch (errnoCode(thrown)) {
    case "EEXIST":
      return new VerbatimError("FILE_EXISTS", { where: path, cause: thrown });
    case "EISDIR":
      return new VerbatimError("FILE_EXISTS", {
        message: "there is a folder with that name",
        where: path,
        cause: thrown,
      });
    case "ENOENT":
      return new VerbatimError("FILE_NOT_FOUND", { message: "its folder does not exist", where: path, cause: thrown });
    default:
      return toDiskError(thrown, path);
  }
}

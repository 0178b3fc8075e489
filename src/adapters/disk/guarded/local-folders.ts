import { constants } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { sortedByCodePoint } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { FolderEntry, Folders } from "../../../rooms/world/ports.ts";

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Folders relative to a folder. No link below them is followed, and nothing outside them is read. */
export function createLocalFolders(base: string): Folders {
  return {
    async list(folder, most) {
      const root = await resolveRoot(resolve(base, folder), folder);
      const found: FolderEntry[] = [];
      let left = most;
      const walk = async (above: string): Promise<void> => {
        const entries = await readdir(join(root, above), { withFileTypes: true });
        const names = new Map(entries.map((entry) => [entry.name, entry]));
        for (const name of sortedByCodePoint(names.keys())) {
          if (left-- <= 0) {
            throw new VerbatimError("FILE_TOO_LARGE", { message: `more than ${most} names`, where: folder });
          }
          const entry = names.get(name)!;
          const path = above === "" ? name : `${above}/${name}`;
          if (entry.isDirectory()) await walk(path);
          else if (entry.isFile()) found.push({ path, kind: "file", bytes: await sizeOf(join(root, path)) });
          else found.push({ path, kind: entry.isSymbolicLink() ? "link" : "other", bytes: 0 });
        }
      };
      await walk("").catch((thrown: unknown) => {
        throw thrown instanceof VerbatimError ? thrown : unreadable(folder, thrown);
      });
      return found;
    },
    async read(folder, path, maxBytes) {
      const root = await resolveRoot(resolve(base, folder), folder);
      const place = join(root, path);
      const parent = await realpath(dirname(place)).catch((thrown: unknown) => {
        throw unreadable(path, thrown);
      });
      // A folder that became a link meanwhile leads this nowhere.
      if (parent !== dirname(place) || !place.startsWith(root.endsWith(sep) ? root : root + sep)) {
        throw unreadable(path, undefined);
      }
      const file = await open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((thrown: unknown) => {
        throw unreadable(path, thrown);
      });
      try {
        const facts = await file.stat();
        if (!facts.isFile()) throw unreadable(path, undefined);
        if (facts.size > maxBytes) {
          throw new VerbatimError("FILE_TOO_LARGE", { message: `more than ${maxBytes} bytes`, where: path });
        }
        return await file.readFile();
      } finally {
        await file.close();
      }
    },
    async isFolder(path) {
      const facts = await lstat(resolve(base, path)).catch(() => null);
      return facts?.isDirectory() === true;
    },
  };
}

async function resolveRoot(place: string, folder: string): Promise<string> {
  return realpath(place).catch((thrown: unknown) => {
    throw new VerbatimError("FILE_NOT_FOUND", { message: "the folder does not exist", where: folder, cause: thrown });
  });
}

async function sizeOf(place: string): Promise<number> {
  return (await lstat(place)).size;
}

function unreadable(where: string, cause: unknown): VerbatimError {
  return new VerbatimError("FILE_UNREADABLE", { message: "the file cannot be read", where, cause });
}

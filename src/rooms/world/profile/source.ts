import { sortedByCodePoint } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { MAX_IMPORT_BYTES } from "../import/read.ts";
import { unknownFormat } from "../import/refusals.ts";
import { isZip, readZip, unzip, type ZipEntry } from "../import/zip.ts";
import type { FolderEntry, Folders, Inflater } from "../ports.ts";

/** Names in a profile at most. */
const MAX_FILES = 100_000;
/** An archive of this format says no more. */
const MAX_ARCHIVED = 65_534;

/** A folder of another program, on a disk or in an archive. */
export interface ProfileSource {
  readonly files: readonly FolderEntry[];
  /** What every path of the profile begins with. */
  readonly root: string;
  read(path: string): Promise<Uint8Array>;
}

/** A profile in a folder. */
export async function openFolder(folders: Folders, folder: string): Promise<ProfileSource> {
  const files = await folders.list(folder, MAX_FILES);
  return { files, root: findRoot(files), read: (path) => folders.read(folder, path, MAX_IMPORT_BYTES) };
}

/** A profile in an archive. A name that appears twice is refused: two readers could see two files. */
export function openArchive(inflater: Inflater, bytes: Uint8Array): ProfileSource {
  if (!isZip(bytes)) throw unknownFormat("a profile is a folder or a zip archive");
  const entries = new Map<string, ZipEntry>();
  for (const entry of readZip(bytes, MAX_ARCHIVED)) {
    if (entry.name.endsWith("/")) continue;
    if (entries.has(entry.name)) throw twice(entry.name);
    entries.set(entry.name, entry);
  }
  const files = sortedByCodePoint(entries.keys()).map((path): FolderEntry => {
    return { path, kind: "file", bytes: entries.get(path)!.size };
  });
  return {
    files,
    root: findRoot(files),
    async read(path) {
      const entry = entries.get(path);
      if (entry === undefined) throw new VerbatimError("FILE_NOT_FOUND", { where: path });
      if (entry.size > MAX_IMPORT_BYTES) throw new VerbatimError("FILE_TOO_LARGE", { where: path });
      return unzip(inflater, bytes, entry);
    },
  };
}

function twice(name: string): VerbatimError {
  return unknownFormat(`the archive has ${JSON.stringify(name.slice(0, 80))} twice`);
}

/** Where the folders of a user are: a profile may lie in a folder of its own. */
function findRoot(files: readonly FolderEntry[]): string {
  const roots = new Set(
    files.flatMap(({ path }) => {
      const found = /^((?:.*\/)?)(?:chats|characters|group chats)\/[^/]/.exec(path);
      return found === null ? [] : [found[1]!];
    }),
  );
  // A folder named like one of these may lie deeper inside; the outermost is meant.
  const shortest = [...roots].sort((a, b) => a.length - b.length)[0];
  if (shortest === undefined) throw unknownFormat("there is no profile here: no folder chats and no folder characters");
  const others = [...roots].filter((root) => !root.startsWith(shortest));
  if (others.length > 0) throw unknownFormat("there are several profiles here; name the folder of one user");
  return shortest;
}

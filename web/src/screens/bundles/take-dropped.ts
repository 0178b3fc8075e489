import type { Dropped } from "../../workers/dropped.ts";

/** What was dropped, folders walked through: files with their paths, and folders that hold nothing. */
export interface Taken {
  readonly name: string;
  readonly dropped: readonly Dropped[];
  readonly folders: readonly string[];
}

/** Reads what lies on the page after a drop. The entries must be asked for at once: a moment later they are gone. */
export async function takeDropped(transfer: DataTransfer): Promise<Taken> {
  const entries = [...transfer.items].flatMap((item) => {
    const entry = item.kind === "file" ? item.webkitGetAsEntry() : null;
    return entry === null ? [] : [entry];
  });
  const dropped: Dropped[] = [];
  const folders: string[] = [];
  for (const entry of entries) await walk(entry, entry.name, dropped, folders);
  return { name: entries.map(({ name }) => name).join(", "), dropped, folders };
}

async function walk(entry: FileSystemEntry, path: string, dropped: Dropped[], folders: string[]): Promise<void> {
  if (entry instanceof FileSystemFileEntry) {
    dropped.push({ path, file: await new Promise<File>((resolve, reject) => entry.file(resolve, reject)) });
    return;
  }
  const members = await listFolder(entry as FileSystemDirectoryEntry);
  if (members.length === 0) folders.push(path);
  for (const member of members) await walk(member, `${path}/${member.name}`, dropped, folders);
}

/** A browser gives the members of a folder in parts, and an empty part at the end. */
async function listFolder(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return all;
    all.push(...part);
  }
}

/** The files of a file field; those of a folder have their paths in it. */
export function takeChosen(files: FileList): Taken {
  const dropped = [...files].map((file) => ({
    path: file.webkitRelativePath === "" ? file.name : file.webkitRelativePath,
    file,
  }));
  const [first] = dropped;
  return { name: first?.path.split("/")[0] ?? "", dropped, folders: [] };
}

import { encodeUtf8 } from "../../../core/canonical/index.ts";
import type { ContentStore } from "../../../core/ports.ts";
import type { CatalyticPorts, LaunchRequest } from "../ports.ts";

/** What a command finds at a path instead of what the real tree has: a file by its hash, a link, or nothing. */
export type TreeWrite =
  | { readonly path: string; readonly mode: "100644" | "100755"; readonly sha256: string }
  | { readonly path: string; readonly mode: "120000"; readonly target: string }
  | { readonly path: string; readonly mode: null };

type Staged = NonNullable<LaunchRequest["written"]>[number];
type Disk = CatalyticPorts["disk"];

const FOLDER = "wr";

/**
 * Puts the bytes of a view's writes into its work folder, for a launcher that writes them through the layer. Paths are
 * relative to the layer of the tree. Linear in the bytes.
 */
export async function stageWrites(
  disk: Disk,
  content: Pick<ContentStore, "get">,
  work: string,
  writes: readonly TreeWrite[],
): Promise<Staged[]> {
  if (writes.length > 0) disk.makeFolders(`${work}/${FOLDER}`);
  const staged: Staged[] = [];
  for (const [i, write] of writes.entries()) {
    if (write.mode === null) {
      staged.push({ how: "gone", from: "-", path: write.path });
      continue;
    }
    const from = `${FOLDER}/${i}`;
    const bytes = write.mode === "120000" ? encodeUtf8(write.target) : await content.get(write.sha256);
    disk.replaceFile(`${work}/${from}`, bytes, "no");
    staged.push({ how: HOW[write.mode], from, path: write.path });
  }
  return staged;
}

const HOW = { "100644": "file", "100755": "exec", "120000": "link" } as const;

/** The same in a copy, which nobody else sees. A link or a file in the place of a folder is replaced, never followed. */
export async function writeIntoCopy(
  disk: Disk,
  content: Pick<ContentStore, "get">,
  copy: string,
  writes: readonly TreeWrite[],
): Promise<void> {
  for (const write of writes) {
    const names = write.path.split("/");
    const place = `${copy}/${write.path}`;
    if (!reach(disk, copy, names.slice(0, -1), write.mode !== null)) continue;
    if (write.mode === null) {
      if (disk.stat(place)?.kind === "dir") disk.removeEmptyFolder(place);
      else disk.removeFile(place);
      for (let n = names.length - 1; n > 0; n--) {
        if (!disk.removeEmptyFolder(`${copy}/${names.slice(0, n).join("/")}`)) break;
      }
      continue;
    }
    clear(disk, place);
    if (write.mode === "120000") disk.link(write.target, place);
    else {
      disk.createFile(place, await content.get(write.sha256));
      disk.setMode(place, write.mode === "100755" ? 0o755 : 0o644);
    }
  }
}

/** Whether the folders of a path are there; with `make` they are. */
function reach(disk: Disk, copy: string, names: readonly string[], make: boolean): boolean {
  let place = copy;
  for (const name of names) {
    place += `/${name}`;
    const kind = disk.stat(place)?.kind;
    if (kind === "dir") continue;
    if (!make) return false;
    if (kind !== undefined) disk.removeFile(place);
    disk.createFolder(place, 0o755);
  }
  return true;
}

function clear(disk: Disk, place: string): void {
  const kind = disk.stat(place)?.kind;
  if (kind === "dir") {
    for (const name of disk.list(place) ?? []) clear(disk, `${place}/${name}`);
    disk.removeEmptyFolder(place);
  } else if (kind !== undefined) disk.removeFile(place);
}

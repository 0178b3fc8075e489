import { randomBytes } from "node:crypto";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { toDiskError } from "../../../core/errors/system.ts";
import { syncFolder } from "./sync-folder.ts";

/** Writes a whole file or nothing: next to the target, made durable, then renamed over it. */
export async function writeFileAtomic(
  path: string,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  mode = 0o644,
): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    await writeDurable(temporary, bytes, { mode });
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw toDiskError(thrown, path);
  }
}

/** Writes a new file, never through a link or over another file, and waits until the disk has it. */
export async function writeDurable(
  path: string,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  { mode, mtimeMs, exact }: { readonly mode: number; readonly mtimeMs?: number; readonly exact?: boolean },
): Promise<void> {
  const handle = await open(path, "wx", mode);
  try {
    await writeFile(handle, bytes);
    if (exact === true) await handle.chmod(mode);
    if (mtimeMs !== undefined) await handle.utimes(mtimeMs / 1000, mtimeMs / 1000);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

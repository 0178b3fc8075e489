import { closeSync, fsync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { toDiskError } from "../../../core/errors/system.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../guarded/private-modes.ts";

/**
 * Writes next to the target, makes it durable and renames it into place: the old bytes or the new ones, never a part.
 * Folders on the way are as private as the file.
 */
export function writeDurably(place: string, bytes: Uint8Array, mode = 0o644): void {
  put(place, bytes, mode);
  attempt(place, () => syncFolder(dirname(place)));
}

/**
 * The same for several private files at once: all are durable before the first gets its name, and the names are durable at the
 * end. The system makes many files durable together in little more time than one.
 */
export async function writeAllDurably(files: readonly (readonly [place: string, bytes: Uint8Array])[]): Promise<void> {
  const folders = new Set(files.map(([place]) => dirname(place)));
  for (const folder of folders) attempt(folder, () => mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER }));
  const opened: { readonly file: number; readonly temporary: string; readonly place: string }[] = [];
  try {
    for (const [place, bytes] of files) {
      const temporary = temporaryOf(place);
      const file = attempt(place, () => openSync(temporary, "w", PRIVATE_FILE));
      opened.push({ file, temporary, place });
      attempt(place, () => writeAll(file, bytes));
    }
    // All must have ended before a file is closed.
    const synced = await Promise.allSettled(opened.map(({ file, place }) => syncFile(file, place)));
    for (const one of synced) if (one.status === "rejected") throw one.reason;
    for (const { temporary, place } of opened) attempt(place, () => renameSync(temporary, place));
  } finally {
    for (const { file, temporary } of opened) {
      closeSync(file);
      rmSync(temporary, { force: true });
    }
  }
  for (const folder of folders) attempt(folder, () => syncFolder(folder));
}

function syncFile(file: number, place: string): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(file, (error) => (error === null ? resolve() : reject(toDiskError(error, place))));
  });
}

function attempt<T>(place: string, act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    throw toDiskError(thrown, place);
  }
}

function temporaryOf(place: string): string {
  return join(dirname(place), `.tmp-${process.pid}-${basename(place)}`);
}

function put(place: string, bytes: Uint8Array, mode: number): void {
  const folder = dirname(place);
  const temporary = temporaryOf(place);
  try {
    mkdirSync(folder, { recursive: true, ...(mode === PRIVATE_FILE ? { mode: PRIVATE_FOLDER } : {}) });
    const file = openSync(temporary, "w", mode);
    try {
      writeAll(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, place);
  } catch (thrown) {
    rmSync(temporary, { force: true });
    throw toDiskError(thrown, place);
  }
}

/** Appends to a private file with one write and makes it durable. */
export function appendDurably(place: string, bytes: Uint8Array): void {
  try {
    const file = openSync(place, "a", PRIVATE_FILE);
    try {
      writeAll(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (thrown) {
    throw toDiskError(thrown, place);
  }
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

/** Makes a rename durable. Windows cannot open folders; its renames are journalled by the file system. */
export function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

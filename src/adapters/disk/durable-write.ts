import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { toDiskError } from "./errors.ts";

/** Writes beside the target, makes it durable and renames it into place: the old bytes or the new ones, never a part. */
export function writeDurably(place: string, bytes: Uint8Array, mode = 0o644): void {
  put(place, bytes, mode);
  syncFolder(dirname(place));
}

/** The same for several files, one after another; their folders are made durable at the end, each once. */
export function writeAllDurably(files: readonly (readonly [place: string, bytes: Uint8Array])[]): void {
  for (const [place, bytes] of files) put(place, bytes, 0o644);
  for (const folder of new Set(files.map(([place]) => dirname(place)))) syncFolder(folder);
}

function put(place: string, bytes: Uint8Array, mode: number): void {
  const folder = dirname(place);
  const temporary = join(folder, `.tmp-${process.pid}-${basename(place)}`);
  try {
    mkdirSync(folder, { recursive: true });
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

/** Appends with one write and makes it durable. */
export function appendDurably(place: string, bytes: Uint8Array): void {
  try {
    const file = openSync(place, "a", 0o644);
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

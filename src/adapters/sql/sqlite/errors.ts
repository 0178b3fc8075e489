import { accessSync, constants, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";

// Primary result codes of SQLite (sqlite.org/rescode.html).
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PROTOCOL = 15;
const CONSTRAINT = 19;
const MISMATCH = 20;
const NOTADB = 26;

/** SQLite's extended result code of an error, or null when SQLite did not throw it. */
export function sqliteCode(thrown: unknown): number | null {
  return thrown instanceof Error && "errcode" in thrown && typeof thrown.errcode === "number" ? thrown.errcode : null;
}

/** Whether another connection holds a lock that this one needs. */
export function isBusy(thrown: unknown): boolean {
  const code = sqliteCode(isVerbatimError(thrown) ? thrown.cause : thrown);
  return code !== null && [BUSY, LOCKED, PROTOCOL].includes(code & 0xff);
}

/** Whether a write was refused because the connection or the file only allows reading. */
export function isReadOnly(thrown: unknown): boolean {
  const code = sqliteCode(thrown);
  return code !== null && (code & 0xff) === READONLY;
}

/** Turns what the driver threw into an error of the table. `path` is the database file. */
export function toStoreError(thrown: unknown, path: string): Error {
  if (isVerbatimError(thrown)) return thrown;
  const code = sqliteCode(thrown);
  if (code === null) return new VerbatimError("INTERNAL", { message: "the SQLite driver failed", cause: thrown });
  const parts = { where: path, cause: thrown, details: { sqlite: code } };
  switch (code & 0xff) {
    case BUSY:
    case LOCKED:
    case PROTOCOL:
      return new VerbatimError("STORE_BUSY", parts);
    case CORRUPT:
    case NOTADB:
      return new VerbatimError("STORE_CORRUPT", parts);
    case READONLY:
      return new VerbatimError("FOLDER_READ_ONLY", parts);
    case FULL:
      return new VerbatimError("DISK_FULL", parts);
    case CONSTRAINT:
    case MISMATCH:
      return new VerbatimError("STORE_REFUSED", { ...parts, message: refusal(thrown) });
    case CANTOPEN:
    case IOERR:
      return new VerbatimError(whyUnusable(path), parts);
    default:
      return new VerbatimError("INTERNAL", { ...parts, message: "the database refused a statement" });
  }
}

/** Our triggers say which rule was broken; SQLite itself names the constraint. */
function refusal(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : "a constraint failed";
}

/** SQLite says only that it could not open, read or write; the folder and the disk say why. */
function whyUnusable(path: string): "FOLDER_READ_ONLY" | "DISK_FULL" | "STORE_UNAVAILABLE" {
  const folder = dirname(path);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    return "FOLDER_READ_ONLY";
  }
  return statfsSync(folder).bavail === 0 ? "DISK_FULL" : "STORE_UNAVAILABLE";
}

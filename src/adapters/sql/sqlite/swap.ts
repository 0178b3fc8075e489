import { closeSync, constants, copyFileSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { toDiskError } from "../../../core/errors/system.ts";
import { syncFolder } from "../../disk/durable/durable-write.ts";
import { loadSqlite, SqliteDatabase } from "./driver.ts";
import { isBusy } from "./errors.ts";

// A short wait for each try: whoever actually uses the store will still do so later.
const WAIT_MS = 25;
const SPOILED = new Uint8Array(512).fill(0x21);

/**
 * Changes a copy of the store and puts it in place of the store, or leaves the store as it was. Nobody else may have
 * the file open: they would go on writing into what is no longer there.
 */
export async function swapStore<T>(path: string, change: (copy: string) => Promise<T>): Promise<T> {
  const copy = `${path}.swap`;
  const held = await holdAlone(path);
  // Locks of this process end with the first handle that is closed, so this one stays open until the last moment.
  let old: number | undefined;
  try {
    removeStore(copy);
    copyFileSync(path, copy, constants.COPYFILE_EXCL);
    const result = await change(copy);
    await compact(copy);
    old = process.platform === "win32" ? undefined : openSync(path, "r+");
    if (old === undefined) held.close();
    renameSync(copy, path);
    syncFolder(dirname(path));
    // Whoever opened the old file meanwhile must fail, not write where nobody will look.
    if (old !== undefined) writeSync(old, SPOILED, 0, SPOILED.length, 0);
    return result;
  } catch (thrown) {
    removeStore(copy);
    throw isVerbatimError(thrown) || !(thrown instanceof Error && "code" in thrown)
      ? thrown
      : toDiskError(thrown, path);
  } finally {
    if (old !== undefined || process.platform !== "win32") held.close();
    if (old !== undefined) closeSync(old);
  }
}

const TRIES = 40;
const COLLECTIONS = 5;

/** Leaving the WAL is possible only for the one who has the file open alone. */
async function holdAlone(path: string): Promise<SqliteDatabase> {
  for (let tried = 1; ; tried++) {
    const database = new SqliteDatabase(await loadSqlite(), path, WAIT_MS);
    try {
      database.exec("pragma locking_mode = exclusive; pragma journal_mode = delete; begin exclusive; commit;");
      return database;
    } catch (thrown) {
      database.close();
      if (!isBusy(thrown)) throw thrown;
      if (tried === TRIES) throw busy(path, thrown);
    }
    // What this process keeps is gone after a few collections, which take long; the others are waited for.
    if (tried <= COLLECTIONS) await collectStatements();
    else await wait(WAIT_MS);
  }
}

/**
 * The package keeps a closed file open until the last of its statements was collected, so this process itself may be
 * the other one.
 */
async function collectStatements(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  await wait(5);
}

function busy(path: string, cause?: unknown): VerbatimError {
  return new VerbatimError("STORE_BUSY", {
    message: "another process has the store open",
    where: path,
    fix: "Stop verbatim studio and whatever else uses this workspace, then try again.",
    cause,
  });
}

/** Checks the file, rewrites it without anything that was deleted, and makes it durable. */
async function compact(copy: string): Promise<void> {
  const checked = new SqliteDatabase(await loadSqlite(), copy, WAIT_MS);
  try {
    checked.check();
  } finally {
    checked.close();
  }
  // Only whole scripts run here: a prepared statement would keep the file locked after it was closed.
  const database = await holdAlone(copy);
  try {
    database.exec("vacuum");
  } finally {
    database.close();
  }
  const file = openSync(copy, "r+");
  fsyncSync(file);
  closeSync(file);
}

function removeStore(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(`${path}${suffix}`, { force: true });
}

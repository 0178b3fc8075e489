import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { toDiskError } from "../../../core/errors/system.ts";
import type { Clock, Ids } from "../../../core/ports.ts";
import { makePrivateFile, narrow, PRIVATE_FOLDER } from "../../disk/guarded/private-modes.ts";
import { StatementCache } from "./connection.ts";
import { loadSqlite, SqliteDatabase } from "./driver.ts";
import { isBusy } from "./errors.ts";
import { applyMigrations, findMissing } from "./migrate.ts";
import type { SqliteMigration } from "./migration.ts";

/** How long to wait for another process before it is STORE_BUSY, unless told otherwise. */
export const BUSY_MS = 10_000;

// The driver waits inside the event loop; between slices other work of the process gets its turn.
const SLICE_MS = 50;

/** Opens the file for the one writer of this process, making and migrating it when needed. */
export async function openWriter(
  path: string,
  migrations: readonly SqliteMigration[],
  ports: { readonly clock: Clock; readonly ids: Ids },
  busyMs: number,
): Promise<StatementCache> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
    // SQLite gives its side files the mode of the file.
    makePrivateFile(path);
    for (const side of ["-wal", "-shm", "-journal"]) narrow(`${path}${side}`);
  } catch (thrown) {
    throw toDiskError(thrown, dirname(path));
  }
  const database = new SqliteDatabase(await loadSqlite(), path, SLICE_MS);
  const cache = new StatementCache(database);
  try {
    const missing = await whileBusy(() => findMissing(database, migrations), busyMs);
    await whileBusy(() => configure(database), busyMs);
    database.exec(WRITER_SETTINGS);
    if (missing.length > 0) {
      await beginImmediate(cache, busyMs);
      applyMigrations(database, migrations, ports);
      database.exec("commit");
    }
    return cache;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** Opens the file once more for reading, after the writer has made it. */
export async function openReader(path: string, busyMs: number): Promise<StatementCache> {
  const database = new SqliteDatabase(await loadSqlite(), path, busyMs);
  try {
    await whileBusy(() => configure(database), busyMs);
    database.forbidWriting();
    return new StatementCache(database);
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/**
 * Folds the WAL into the file and closes it. The package's close leaves the WAL as it is while a statement has not
 * been collected, and the next to open would have to read it all. Where others use the file, they will do it.
 */
export function closeWriter(cache: StatementCache): void {
  const { database } = cache;
  database.exec("pragma busy_timeout = 0");
  try {
    database.prepare("pragma wal_checkpoint(truncate)").get([]);
  } catch (thrown) {
    // Nothing is lost: the WAL is part of the store. A damaged file is reported by whoever reads it.
    if (!isVerbatimError(thrown)) throw thrown;
  } finally {
    cache.close();
  }
}

/** Takes the write lock of the file, waiting for other processes up to `busyMs`. */
export function beginImmediate(cache: StatementCache, busyMs: number): Promise<void> | void {
  const begin = () => void cache.statement("begin immediate").run([]);
  try {
    return begin();
  } catch (thrown) {
    if (!isBusy(thrown)) throw thrown;
    return whileBusy(begin, busyMs);
  }
}

/** Repeats what another process's lock prevents, until it works or `busyMs` have passed. */
async function whileBusy<T>(fn: () => T, busyMs: number): Promise<T> {
  let end: number | undefined;
  for (;;) {
    try {
      return fn();
    } catch (thrown) {
      end ??= performance.now() + busyMs;
      if (!isBusy(thrown) || performance.now() > end) throw thrown;
    }
    await wait(1);
  }
}

const SETTINGS = [
  ["journal_mode", "wal"],
  ["synchronous", 2],
  ["foreign_keys", 1],
  ["recursive_triggers", 1],
  ["trusted_schema", 0],
  ["journal_size_limit", 64 * 1024 * 1024],
] as const;

// Hashes land anywhere in their index, so some of its pages should stay in memory; but SQLite walks over the whole cache
// at every commit that split a page, so not too many. Folding the WAL less often writes pages that many commits touched
// only once (at 64 MB, the limit above). Neither changes what is durable.
const WRITER_SETTINGS = "pragma cache_size = -4096; pragma wal_autocheckpoint = 16000;";

/** Sets what every connection needs and checks that it holds: a file system may not be able to keep a WAL. */
function configure(database: SqliteDatabase): void {
  for (const [name, value] of SETTINGS) {
    database.prepare(`pragma ${name} = ${value}`).get([]);
    const row = database.prepare(`pragma ${name}`).get([]) as Record<string, unknown>;
    if (row[name] !== value) {
      throw new VerbatimError("STORE_UNAVAILABLE", {
        message: `SQLite does not accept ${name} = ${value} here; it says ${String(row[name])}`,
        where: database.path,
        fix: "Keep the store on a local disk.",
      });
    }
  }
}

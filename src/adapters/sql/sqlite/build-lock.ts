import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode, toDiskError } from "../../../core/errors/system.ts";
import type { BuildLock } from "../../../rooms/context/ports.ts";
import { makePrivateFile, PRIVATE_FILE, PRIVATE_FOLDER } from "../../disk/guarded/private-modes.ts";
import { loadSqlite, SqliteDatabase } from "./driver.ts";
import { isBusy } from "./errors.ts";

const PATIENCE_MS = 10_000;
const STEP_MS = 20;

/**
 * One index build at a time. The lock is SQLite's own on an otherwise empty file: the system frees it when its
 * process dies, so nothing stale is ever left. Beside it a text file says whose it is.
 */
export function createBuildLock(path: string, patienceMs = PATIENCE_MS): BuildLock {
  const holder = `${path}.pid`;
  return {
    async hold(fn) {
      try {
        mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
        makePrivateFile(path);
      } catch (thrown) {
        throw toDiskError(thrown, dirname(path));
      }
      const database = new SqliteDatabase(await loadSqlite(), path, 0);
      try {
        await take(database, holder, patienceMs);
        writeFileSync(holder, `${process.pid}\n`, { mode: PRIVATE_FILE });
        return await fn();
      } finally {
        database.close();
      }
    },
  };
}

async function take(database: SqliteDatabase, holder: string, patienceMs: number): Promise<void> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      database.exec("begin exclusive");
      return;
    } catch (thrown) {
      if (!isBusy(thrown)) throw thrown;
      if (performance.now() > end) {
        const pid = readHolder(holder);
        const who = pid === null ? "" : ` (process ${pid})`;
        throw new VerbatimError("INDEX_BUSY", { message: `another index build is running${who}`, details: { pid } });
      }
    }
    await wait(STEP_MS);
  }
}

function readHolder(holder: string): number | null {
  try {
    return Number(readFileSync(holder, "utf8").trim());
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT") return null;
    throw thrown;
  }
}

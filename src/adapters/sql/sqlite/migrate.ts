import { VerbatimError } from "../../../core/errors/index.ts";
import type { Clock, Ids } from "../../../core/ports.ts";
import { formatTime } from "../../../core/time.ts";
import { fromFuture, missingMigrations, newestVersion } from "../versions.ts";
import type { SqliteDatabase } from "./driver.ts";
import type { SqliteMigration } from "./migration.ts";

/** Marks the file as ours in its header: "VRBM". */
export const APPLICATION_ID = 0x5652424d;

/**
 * The migrations a file lacks. Refuses what is not ours or too new, from the header and before anything is changed.
 * All of it is read at one moment: another process may be making the store just now.
 */
export function findMissing(database: SqliteDatabase, migrations: readonly SqliteMigration[]): SqliteMigration[] {
  if (database.inTransaction) return judgeFile(database, migrations);
  database.exec("begin");
  try {
    return judgeFile(database, migrations);
  } finally {
    if (database.inTransaction) database.exec("rollback");
  }
}

function judgeFile(database: SqliteDatabase, migrations: readonly SqliteMigration[]): SqliteMigration[] {
  const applicationId = readNumber(database, "pragma application_id");
  const version = readNumber(database, "pragma user_version");
  if (applicationId !== APPLICATION_ID) {
    const objects = readNumber(database, "select count(*) from sqlite_schema");
    if (applicationId === 0 && version === 0 && objects === 0) {
      return missingMigrations(migrations, [], database.path);
    }
    throw new VerbatimError("STORE_CORRUPT", {
      message: "the file is a SQLite database, but not a Verbatim store",
      where: database.path,
      fix: "Move it somewhere else; Verbatim then creates its own store there.",
    });
  }
  const newest = newestVersion(migrations);
  if (version > newest) throw fromFuture(version, newest, database.path);
  const rows = database.prepare("select version from migration").all([]) as { version: number }[];
  return missingMigrations(
    migrations,
    rows.map((row) => row.version),
    database.path,
  );
}

/** Applies what is missing. Runs inside a write transaction, so another process waits and then finds it done. */
export function applyMigrations(
  database: SqliteDatabase,
  migrations: readonly SqliteMigration[],
  ports: { readonly clock: Clock; readonly ids: Ids },
): void {
  for (const migration of findMissing(database, migrations)) {
    database.exec(migration.sql);
    for (const { sql, values } of migration.seed?.(ports) ?? []) database.prepare(sql).run(values);
    database
      .prepare("insert into migration (version, name, time) values (?, ?, ?)")
      .run([migration.version, migration.name, formatTime(ports.clock.now())]);
  }
  database.exec(`pragma application_id = ${APPLICATION_ID}`);
  database.exec(`pragma user_version = ${newestVersion(migrations)}`);
}

function readNumber(database: SqliteDatabase, sql: string): number {
  const row = database.prepare(sql).get([]) as Record<string, number>;
  return Object.values(row)[0]!;
}

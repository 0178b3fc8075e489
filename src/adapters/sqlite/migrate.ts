import { VerbatimError } from "../../core/errors/index.ts";
import type { Clock, Ids } from "../../core/ports.ts";
import { formatTime } from "../../core/time.ts";
import type { SqliteDatabase } from "./driver.ts";
import type { SqliteMigration } from "./migration.ts";

/** Marks the file as ours in its header: "VRBM". */
export const APPLICATION_ID = 0x5652424d;

/** Reads the header and refuses what is not ours or too new, before anything is changed. Returns the version. */
export function requireOurs(database: SqliteDatabase, newest: number): number {
  const applicationId = readNumber(database, "pragma application_id");
  const version = readNumber(database, "pragma user_version");
  if (applicationId !== APPLICATION_ID) {
    const objects = readNumber(database, "select count(*) from sqlite_schema");
    if (applicationId === 0 && version === 0 && objects === 0) return 0;
    throw new VerbatimError("STORE_CORRUPT", {
      message: "the file is a SQLite database, but not a Verbatim store",
      where: database.path,
      fix: "Move it away; Verbatim then makes its own store there.",
    });
  }
  if (version > newest) {
    throw new VerbatimError("STORE_FROM_FUTURE", {
      message: `the store has version ${version}; this Verbatim knows versions up to ${newest}`,
      where: database.path,
      details: { version, newest },
    });
  }
  return version;
}

/** Applies what is missing. Runs inside a write transaction, so another process waits and then finds it done. */
export function applyMigrations(
  database: SqliteDatabase,
  migrations: readonly SqliteMigration[],
  ports: { readonly clock: Clock; readonly ids: Ids },
): void {
  const version = requireOurs(database, migrations.length);
  for (const migration of migrations.slice(version)) {
    database.exec(migration.sql);
    for (const { sql, values } of migration.seed?.(ports) ?? []) database.prepare(sql).run(values);
    database
      .prepare("insert into migration (version, name, time) values (?, ?, ?)")
      .run([migration.version, migration.name, formatTime(ports.clock.now())]);
    database.exec(`pragma user_version = ${migration.version}`);
  }
  if (version === 0) database.exec(`pragma application_id = ${APPLICATION_ID}`);
}

function readNumber(database: SqliteDatabase, sql: string): number {
  const row = database.prepare(sql).get([]) as Record<string, number>;
  return Object.values(row)[0]!;
}

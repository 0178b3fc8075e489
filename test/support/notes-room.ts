import { appendOnlyTriggers as postgresTriggers } from "../../src/adapters/sql/postgres/append-only.ts";
import type { PostgresReadConnection, PostgresWriteConnection } from "../../src/adapters/sql/postgres/connection.ts";
import type { PostgresMigration } from "../../src/adapters/sql/postgres/migration.ts";
import { ledgerMigration as postgresLedger } from "../../src/adapters/sql/postgres/migrations/0001-ledger.ts";
import { ledgerPiecesMigration as postgresPieces } from "../../src/adapters/sql/postgres/migrations/0008-ledger-pieces.ts";
import { workspacesMigration as postgresWorkspaces } from "../../src/adapters/sql/postgres/migrations/0014-workspaces.ts";
import { appendOnlyTriggers as sqliteTriggers } from "../../src/adapters/sql/sqlite/append-only.ts";
import type { SqliteReadConnection, SqliteWriteConnection } from "../../src/adapters/sql/sqlite/connection.ts";
import type { SqliteMigration } from "../../src/adapters/sql/sqlite/migration.ts";
import { ledgerMigration as sqliteLedger } from "../../src/adapters/sql/sqlite/migrations/0001-ledger.ts";
import { ledgerPiecesMigration as sqlitePieces } from "../../src/adapters/sql/sqlite/migrations/0008-ledger-pieces.ts";

/** A small room of the tests' own: notes that change, and stamps that never do. */
export interface NotesReader {
  list(): Promise<string[]>;
  /** What a reader must not be able to do. */
  sneak(text: string): Promise<unknown>;
}

export interface NotesWriter extends NotesReader {
  add(text: string): Promise<void>;
  stamp(code: string, serial: number): Promise<void>;
}

const sqliteTables: SqliteMigration = {
  version: 1000,
  name: "notes",
  sql: `
create table note (text text not null) strict;
create table stamp (code text not null primary key, serial integer not null unique) strict;
${sqliteTriggers({ table: "stamp", keys: [["code"], ["serial"]] })}`,
};

const postgresTables: PostgresMigration = {
  version: 1000,
  name: "notes",
  sql: (s) => `
create table ${s}.note (text text collate "C" not null);
create table ${s}.stamp (code text collate "C" primary key, serial bigint not null unique);
${postgresTriggers({ schema: s, table: "stamp", keys: [["code"], ["serial"]] })}`,
};

export const SQLITE_WITH_NOTES: readonly SqliteMigration[] = [sqliteLedger, sqlitePieces, sqliteTables];
export const POSTGRES_WITH_NOTES: readonly PostgresMigration[] = [
  postgresLedger,
  postgresPieces,
  postgresWorkspaces,
  postgresTables,
];

function reader(connection: SqliteReadConnection | PostgresReadConnection): NotesReader {
  return {
    list: async () =>
      (await connection.all<{ text: string }>("select text from note order by text")).map(({ text }) => text),
    // No parameter: the databases write them differently, and quotes are all a test puts into its text.
    sneak: async (text) => connection.all(`insert into note (text) values ('${text.replaceAll("'", "''")}')`),
  };
}

/** The SQLite room can also make the disk look full. */
export interface SqliteNotesWriter extends NotesWriter {
  limitPages(pages: number): Promise<void>;
}

export const sqliteNotes = {
  read: reader,
  write: (connection: SqliteWriteConnection): SqliteNotesWriter => ({
    ...reader(connection),
    limitPages: async (pages) => void connection.get(`pragma max_page_count = ${pages}`),
    add: async (text) => void connection.run("insert into note (text) values (?)", text),
    stamp: async (code, serial) => void connection.run("insert into stamp (code, serial) values (?, ?)", code, serial),
  }),
};

/** The PostgreSQL room can also run any statement. */
export interface PostgresNotesWriter extends NotesWriter {
  sql(statement: string): Promise<unknown>;
}

export const postgresNotes = {
  read: reader,
  write: (connection: PostgresWriteConnection): PostgresNotesWriter => ({
    ...reader(connection),
    sql: (statement) => connection.get(statement),
    add: async (text) => void (await connection.run("insert into note (text) values ($1)", text)),
    stamp: async (code, serial) =>
      void (await connection.run("insert into stamp (code, serial) values ($1, $2)", code, serial)),
  }),
};

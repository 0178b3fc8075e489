import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { POSTGRES_MIGRATIONS } from "../../src/adapters/sql/postgres/migrations/index.ts";
import { SQLITE_MIGRATIONS } from "../../src/adapters/sql/sqlite/migrations/index.ts";
import { openSqliteStore } from "../../src/adapters/sql/sqlite/store.ts";
import { fixedPorts } from "../../test/support/fixed-ports.ts";
import { DatabaseSync } from "../../test/support/raw-sqlite.ts";
import type { FrozenFiles } from "./files.ts";
import { sha256 } from "./table.ts";

/** The migrations of both databases by the hash of their SQL, and the schema that SQLite has after all of them. */
export async function freezeStore(): Promise<FrozenFiles> {
  const lines = [
    ...SQLITE_MIGRATIONS.map(({ version, name, sql }) => `sqlite ${version} ${name} ${sha256(sql)}`),
    ...POSTGRES_MIGRATIONS.map(({ version, name, sql }) => `postgres ${version} ${name} ${sha256(sql("verbatim"))}`),
  ];
  return new Map([
    ["store/migrations.txt", `${lines.join("\n")}\n`],
    ["store/sqlite.sql", await readFinalSchema()],
  ]);
}

async function readFinalSchema(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-freeze-"));
  try {
    const path = join(folder, "store.db");
    await (await openSqliteStore({ ...fixedPorts(), path })).close();
    const database = new DatabaseSync(path);
    const rows = database
      .prepare("select sql from sqlite_schema where sql is not null order by type, name")
      .all() as unknown as { readonly sql: string }[];
    database.close();
    return rows.map(({ sql }) => `${sql};\n`).join("\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

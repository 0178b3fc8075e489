import pg from "pg";
import { POSTGRES_MIGRATIONS } from "../../../src/adapters/sql/postgres/migrations/index.ts";
import { DatabaseSync } from "../../support/raw-sqlite.ts";

// Stores as SQL text, to freeze what the code of one version really wrote: run with the code that made the store.

interface Made {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** A SQLite store that nobody writes to: its tables, their rows, then the triggers that would refuse them. */
export function dumpSqlite(path: string): string {
  const database = new DatabaseSync(path, { readOnly: true });
  const made = database
    .prepare("select type, name, sql from sqlite_schema where sql is not null")
    .all() as unknown as Made[];
  const virtual = made.filter(({ sql }) => /^create virtual/i.test(sql)).map(({ name }) => name);
  // A virtual table makes its shadow tables itself.
  const own = made.filter(({ name }) => !virtual.some((one) => name.startsWith(`${one}_`)));
  const tables = own.filter(({ type, name }) => type === "table" && !virtual.includes(name));
  const rows = tables.flatMap(({ name }) =>
    (database.prepare(`select * from "${name}"`).all() as Record<string, unknown>[]).map((row) => insert(name, row)),
  );
  const header = ["application_id", "user_version"].map((name) => {
    const [value] = Object.values(database.prepare(`pragma ${name}`).get() as Record<string, unknown>);
    return `pragma ${name} = ${String(value)};`;
  });
  database.close();
  const define = (isTrigger: boolean) =>
    own.filter(({ type }) => (type === "trigger") === isTrigger).map(({ sql }) => `${sql};`);
  return `${[...define(false), ...rows, ...define(true), ...header].join("\n")}\n`;
}

/** A PostgreSQL store: what its migrations ran, then its rows in the order of their keys. */
export async function dumpPostgres(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const list = async (sql: string) => (await client.query<Record<string, unknown>>(sql)).rows;
    const found = await list("select tablename from pg_tables where schemaname = 'verbatim'");
    const names = found.map(({ tablename }) => String(tablename)).toSorted();
    const versions = new Set(
      (await list("select version from verbatim.migration")).map(({ version }) => Number(version)),
    );
    const schema = POSTGRES_MIGRATIONS.filter(({ version }) => versions.has(version)).map(({ sql }) =>
      sql("verbatim").trim(),
    );
    const rows: string[] = [];
    for (const name of toOrder(names)) {
      const table = `verbatim.${name}`;
      for (const row of await list(`select * from ${table} order by 1, 2`)) rows.push(insert(table, row, "\\x"));
    }
    // Since workspaces, what a later migration adds is divided at its end, as `store migrate` does.
    const divide = Math.max(...versions) > 14 ? ["select verbatim.isolate_tables();"] : [];
    return `${["create schema verbatim;", ...schema, ...divide, "begin;", ...rows, "commit;"].join("\n")}\n`;
  } finally {
    await client.end();
  }
}

/** A workspace comes before what is in it; the schema makes the mark of its restoring itself. */
function toOrder(names: readonly string[]): string[] {
  const own = names.filter((name) => name !== "workspace" && name !== "incarnation");
  return names.includes("workspace") ? ["workspace", ...own] : own;
}

function insert(table: string, row: Readonly<Record<string, unknown>>, bytes: "" | "\\x" = ""): string {
  // The login that reads the store in may have another name than the one that wrote it.
  const values = Object.entries(row).map(([name, value]) =>
    name === "login" ? "session_user" : literal(value, bytes),
  );
  return `insert into ${table} (${Object.keys(row).join(", ")}) values (${values.join(", ")});`;
}

function literal(value: unknown, bytes: "" | "\\x"): string {
  if (value === null) return "null";
  if (value instanceof Uint8Array) {
    const hex = Buffer.from(value).toString("hex");
    return bytes === "" ? `x'${hex}'` : `'${bytes}${hex}'`;
  }
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}

import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sealNext } from "../../../src/adapters/sql/append.ts";
import { POSTGRES_MIGRATIONS } from "../../../src/adapters/sql/postgres/migrations/index.ts";
import type { PostgresValue } from "../../../src/adapters/sql/postgres/pool.ts";
import type { SqliteValue } from "../../../src/adapters/sql/sqlite/driver.ts";
import { APPLICATION_ID } from "../../../src/adapters/sql/sqlite/migrate.ts";
import { SQLITE_MIGRATIONS } from "../../../src/adapters/sql/sqlite/migrations/index.ts";
import { newestVersion } from "../../../src/adapters/sql/versions.ts";
import type { EntryRecord } from "../../../src/core/ports.ts";
import { fixedPorts } from "../../support/fixed-ports.ts";

// Freezes the schema of a release: npx tsx test/pins/store/write.ts [VERSION], once, before it is published.
// Each file makes a store as that release made it, with a little in it. A file that exists is never written again.

const TIME = "2025-01-02T03:04:05.000Z";

function main(): void {
  const version = Number(process.argv[2] ?? newestVersion(SQLITE_MIGRATIONS));
  write(`sqlite-v${version}.sql`, sqlitePin(version));
  write(`postgres-v${version}.sql`, postgresPin(version));
}

function write(name: string, text: string): void {
  const path = fileURLToPath(new URL(name, import.meta.url));
  if (existsSync(path)) throw new Error(`${name} is frozen already`);
  writeFileSync(path, text);
  console.log(`wrote ${name}`);
}

function sqlitePin(newest: number): string {
  const parts = SQLITE_MIGRATIONS.filter(({ version }) => version <= newest).flatMap((migration) => [
    migration.sql.trim(),
    ...(migration.seed?.(fixedPorts()) ?? []).map(({ sql, values }) => fillIn(sql, /\?/g, values)),
    `insert into migration (version, name, time) values (${migration.version}, '${migration.name}', '${TIME}');`,
  ]);
  const rows = exampleEntries().map((e, idx) => insert("ledger_entry", { idx, ...e }));
  const header = [`pragma application_id = ${APPLICATION_ID};`, `pragma user_version = ${newest};`];
  return `${[...parts, ...rows, ...header].join("\n")}\n`;
}

function postgresPin(newest: number): string {
  const parts = POSTGRES_MIGRATIONS.filter(({ version }) => version <= newest).flatMap((migration) => [
    migration.sql("verbatim").trim(),
    ...(migration.seed?.("verbatim", fixedPorts()) ?? []).map(({ sql, values }) => fillIn(sql, /\$[0-9]+/g, values)),
    `insert into verbatim.migration (version, name, time) values (${migration.version}, '${migration.name}', '${TIME}');`,
  ]);
  const rows = exampleEntries().flatMap((e, idx) => [
    insert("verbatim.ledger_entry", { ...e }),
    insert("verbatim.ledger_order", { idx, hash: e.hash }),
  ]);
  // What a later migration adds is divided by workspace at its end, as `store migrate` does.
  const divide = newest > 14 ? ["select verbatim.isolate_tables();"] : [];
  return `${["create schema verbatim;", ...parts, ...divide, ...rows].join("\n")}\n`;
}

function exampleEntries(): EntryRecord[] {
  const ports = fixedPorts();
  const note = (text: string) => ({ kind: "NOTE_ADDED", actor: "cli", body: { text } });
  const place = (stream: string) => ({ stream, head: null, expected: "next" as const });
  return [
    ...sealNext(ports, place("context"), [note("The harbour lamp was lit."), note("Mira counted the boats.")]),
    ...sealNext(ports, place("job/1"), [note("Nine, as yesterday.")]),
  ];
}

function insert(table: string, row: Readonly<Record<string, string | number>>): string {
  const values = Object.values(row).map(literal).join(", ");
  return `insert into ${table} (${Object.keys(row).join(", ")}) values (${values});`;
}

function fillIn(sql: string, placeholder: RegExp, values: readonly (SqliteValue | PostgresValue)[]): string {
  let next = 0;
  return `${sql.replace(placeholder, () => literal(values[next++] as string | number))};`;
}

function literal(value: string | number): string {
  return typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`;
}

main();

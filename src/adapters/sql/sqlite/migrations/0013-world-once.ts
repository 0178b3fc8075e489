import { appendOnlyTriggers } from "../append-only.ts";
import type { SqliteMigration } from "../migration.ts";

/** Answers of requests that make a world, by the key under which each happens once. */
export const worldOnceMigration: SqliteMigration = {
  version: 13,
  name: "world-once",
  sql: `
create table world_once (
  key text not null primary key,
  world integer not null,
  body_sha256 text not null,
  outcome text not null,
  headers text not null
) strict, without rowid;
create index world_once_world on world_once (world);
${appendOnlyTriggers({ table: "world_once", keys: [["key"]] })}
`,
};

export const ONCE_GUARDS: readonly string[] = [
  "world_once_no_update",
  "world_once_no_delete",
  "world_once_no_second_key",
];

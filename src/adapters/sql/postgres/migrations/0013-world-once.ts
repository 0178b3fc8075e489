import { appendOnlyTriggers } from "../append-only.ts";
import type { PostgresMigration } from "../migration.ts";

/** Answers of requests that make a world, by the key under which each happens once. */
export const worldOnceMigration: PostgresMigration = {
  version: 13,
  name: "world-once",
  sql: (s) => `
create table ${s}.world_once (
  key text collate "C" not null primary key,
  world integer not null,
  body_sha256 text collate "C" not null,
  outcome text not null,
  headers text not null
);
create index world_once_world on ${s}.world_once (world);
${appendOnlyTriggers({ schema: s, table: "world_once", keys: [["key"]] })}
`,
};

export const ONCE_GUARDS: readonly string[] = ["world_once_append_only", "world_once_no_truncate", "world_once_guard"];

import type { PostgresMigration } from "../migration.ts";

/** The workers of a workspace, as each of them last said. */
export const workersMigration: PostgresMigration = {
  version: 19,
  name: "workers",
  sql: (s) => `
create table ${s}.worker (
  name text collate "C" primary key,
  labels text collate "C" not null,
  repositories text collate "C" not null,
  slots integer not null check (slots >= 1),
  busy integer not null check (busy >= 0),
  version text collate "C" not null,
  state text collate "C" not null check (state in ('ready', 'paused', 'draining')),
  reason text collate "C",
  drain boolean not null default false,
  seen_ms bigint not null
);
`,
};

import type { PostgresMigration } from "../migration.ts";

/** Agent runs for lists, as in SQLite. Ids and times are compared byte by byte, whatever the locale of the database. */
export const agentRunsMigration: PostgresMigration = {
  version: 10,
  name: "agent-runs",
  sql: (s) => `
create table ${s}.agent_runs (
  run_id text collate "C" not null primary key,
  run_dir text collate "C" not null,
  repo_id text collate "C",
  root text collate "C" not null,
  common_dir text collate "C",
  goal text collate "C" not null,
  state text collate "C" not null,
  reason text collate "C",
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  files bigint not null,
  added_lines bigint not null,
  deleted_lines bigint not null
);
create index agent_runs_newest on ${s}.agent_runs (repo_id, created_at, run_id);

create table ${s}.agent_runs_fact (
  id integer not null primary key check (id = 1),
  rules integer not null
);
`,
};

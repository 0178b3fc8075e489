import type { SqliteMigration } from "../migration.ts";

/** Agent runs for lists: a projection of the streams of runs, made again whenever its rules change. */
export const agentRunsMigration: SqliteMigration = {
  version: 10,
  name: "agent-runs",
  sql: `
create table agent_runs (
  run_id text not null primary key,
  run_dir text not null,
  repo_id text,
  root text not null,
  common_dir text,
  goal text not null,
  state text not null,
  reason text,
  created_at text not null,
  updated_at text not null,
  files integer not null,
  added_lines integer not null,
  deleted_lines integer not null
) strict, without rowid;
create index agent_runs_newest on agent_runs (repo_id, created_at, run_id);

create table agent_runs_fact (
  id integer not null primary key check (id = 1),
  rules integer not null
) strict;
`,
};

import { appendOnlyTriggers } from "../append-only.ts";
import type { PostgresMigration } from "../migration.ts";

const commit = "~ '^[0-9a-f]{40}([0-9a-f]{24})?$'";

/** Agent runs that workers are asked for, and branches that are to be merged. */
export const queuedRunsMigration: PostgresMigration = {
  version: 23,
  name: "queued-runs",
  sql: (s) => `
create table ${s}.agent_request (
  run_id text collate "C" primary key,
  request text collate "C" not null,
  request_sha256 text collate "C" not null check (request_sha256 ~ '^[0-9a-f]{64}$'),
  goal text collate "C" not null,
  repository_id uuid not null,
  base_commit text collate "C" not null check (base_commit ${commit}),
  needs text collate "C" not null,
  tries integer not null check (tries >= 1),
  asked_by text collate "C" not null,
  asked_ms bigint not null
);
${appendOnlyTriggers({ schema: s, table: "agent_request", keys: [["run_id"]] })}

create table ${s}.agent_start (
  run_id text collate "C" not null,
  n integer not null check (n >= 1),
  worker text collate "C" not null,
  primary key (run_id, n)
);
${appendOnlyTriggers({ schema: s, table: "agent_start", keys: [["run_id", "n"]] })}

create table ${s}.agent_result (
  run_id text collate "C" primary key,
  state text collate "C" not null,
  reason text collate "C",
  worker text collate "C" not null,
  files integer not null,
  added integer not null,
  deleted integer not null,
  candidate text collate "C",
  commit_id text collate "C" check (commit_id ${commit}),
  tree text collate "C",
  ref text collate "C",
  package text collate "C" check (package ~ '^[0-9a-f]{64}$'),
  duration_ms bigint not null
);
${appendOnlyTriggers({ schema: s, table: "agent_result", keys: [["run_id"]] })}

create table ${s}.land_request (
  land_id text collate "C" primary key,
  kind text collate "C" not null check (kind in ('job', 'run', 'remove')),
  subject text collate "C" not null,
  repository_id uuid not null,
  ref text collate "C" not null,
  source text collate "C" not null check (source ${commit}),
  onto text collate "C" not null,
  asked_by text collate "C" not null,
  asked_ms bigint not null
);
create index land_request_subject on ${s}.land_request (subject, land_id);
${appendOnlyTriggers({ schema: s, table: "land_request", keys: [["land_id"]] })}

create table ${s}.land_intent (
  land_id text collate "C" not null,
  commit_id text collate "C" not null check (commit_id ${commit}),
  primary key (land_id, commit_id)
);
${appendOnlyTriggers({ schema: s, table: "land_intent", keys: [["land_id", "commit_id"]] })}

create table ${s}.land_result (
  land_id text collate "C" primary key,
  commit_id text collate "C" check (commit_id ${commit}),
  code text collate "C",
  message text collate "C",
  worker text collate "C" not null
);
${appendOnlyTriggers({ schema: s, table: "land_result", keys: [["land_id"]] })}
`,
};

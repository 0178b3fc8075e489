import { appendOnlyTriggers } from "../append-only.ts";
import type { PostgresMigration } from "../migration.ts";

/** Repositories of a workspace, where its jobs were sent, and what their effects are about to do. */
export const teamMigration: PostgresMigration = {
  version: 15,
  name: "team",
  sql: (s) => `
create table ${s}.repository (
  id uuid primary key,
  name text collate "C" not null unique check (name ~ '^[a-z][a-z0-9-]{1,38}$'),
  remote text collate "C" not null,
  default_branch text collate "C" not null,
  roots text collate "C" not null check (roots <> ''),
  time text collate "C" not null check (length(time) = 24)
);
${appendOnlyTriggers({ schema: s, table: "repository", keys: [["id"], ["name"]] })}

create table ${s}.job_dispatch (
  job_id text collate "C" primary key,
  queue text collate "C" not null,
  generation integer not null check (generation >= 1),
  engine_id text collate "C" not null,
  repository_id uuid,
  base_commit text collate "C",
  base_tree text collate "C",
  ref text collate "C",
  cancelled boolean not null default false
);

create table ${s}.effect_intent (
  step_id text collate "C" not null,
  commit_id text collate "C" not null check (commit_id ~ '^[0-9a-f]{40}([0-9a-f]{24})?$'),
  job_id text collate "C" not null,
  ordinal integer not null,
  attempt integer not null,
  ref text collate "C" not null,
  parent text collate "C" not null,
  tree text collate "C" not null,
  receipt text collate "C" not null,
  receipt_hash text collate "C" not null check (receipt_hash ~ '^[0-9a-f]{64}$'),
  primary key (step_id, commit_id)
);
create index effect_intent_job on ${s}.effect_intent (job_id, ordinal);
${appendOnlyTriggers({ schema: s, table: "effect_intent", keys: [["step_id", "commit_id"]] })}
`,
};

import { appendOnlyTriggers } from "../append-only.ts";
import type { PostgresMigration } from "../migration.ts";

/** Versions of beats, who waits for a turn in a world and who had the last one, and what a token is, as in SQLite. */
export const worldPlayMigration: PostgresMigration = {
  version: 22,
  name: "world-play",
  sql: (s) => `
create table ${s}.world_version (
  world integer not null primary key,
  story_id text collate "C" not null,
  of_request_id text collate "C" not null,
  version_no integer not null check (version_no > 1),
  request_id text collate "C" not null,
  unique (story_id, of_request_id, version_no)
);
${appendOnlyTriggers({
  schema: s,
  table: "world_version",
  keys: [["world"], ["story_id", "of_request_id", "version_no"]],
})}

create table ${s}.world_queue (
  world integer not null,
  ticket bigint not null,
  speaker text collate "C" not null,
  request_id text collate "C" not null,
  alive_until bigint not null,
  primary key (world, ticket)
);

create table ${s}.world_served (
  world integer not null,
  speaker text collate "C" not null,
  ticket bigint not null,
  primary key (world, speaker)
);

alter table ${s}.world_token add column token_id text collate "C", add column label text, add column made_ms bigint,
  add column used_on text collate "C", add column expires_ms bigint, add column revoked_ms bigint;
create index world_token_world on ${s}.world_token (workspace_id, world_id);

-- A key into a table of workspaces names the workspace, so these are divided first.
select ${s}.isolate_tables();
select ${s}.guard_tables(false);
alter table ${s}.world_version
  add foreign key (workspace_id, world) references ${s}.world (workspace_id, number);
alter table ${s}.world_queue
  add foreign key (workspace_id, world) references ${s}.world (workspace_id, number);
alter table ${s}.world_served
  add foreign key (workspace_id, world) references ${s}.world (workspace_id, number);
`,
};

export const VERSION_GUARDS: readonly string[] = [
  "world_version_append_only",
  "world_version_no_truncate",
  "world_version_guard",
];

import { appendOnlyTriggers } from "../append-only.ts";
import type { SqliteMigration } from "../migration.ts";

/** Versions of beats, who waits for a turn in a world and who had the last one, and what a token of a world is. */
export const worldPlayMigration: SqliteMigration = {
  version: 22,
  name: "world-play",
  sql: `
create table world_version (
  world integer not null primary key references world (number),
  story_id text not null,
  of_request_id text not null,
  version_no integer not null check (version_no > 1),
  request_id text not null
) strict, without rowid;
create unique index world_version_story on world_version (story_id, of_request_id, version_no);
${appendOnlyTriggers({ table: "world_version", keys: [["world"], ["story_id", "of_request_id", "version_no"]] })}

create table world_queue (
  world integer not null references world (number),
  ticket integer not null,
  speaker text not null,
  request_id text not null,
  alive_until integer not null,
  primary key (world, ticket)
) strict, without rowid;

create table world_served (
  world integer not null references world (number),
  speaker text not null,
  ticket integer not null,
  primary key (world, speaker)
) strict, without rowid;

alter table world_token add column token_id text;
alter table world_token add column label text;
alter table world_token add column made_ms integer;
alter table world_token add column used_on text;
alter table world_token add column expires_ms integer;
alter table world_token add column revoked_ms integer;
create index world_token_world on world_token (world_id);
`,
};

export const VERSION_GUARDS: readonly string[] = [
  "world_version_no_update",
  "world_version_no_delete",
  "world_version_no_second_world",
  "world_version_no_second_story_id_of_request_id_version_no",
];

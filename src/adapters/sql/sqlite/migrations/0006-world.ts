import { appendOnlyTriggers, refusing } from "../append-only.ts";
import type { SqliteMigration } from "../migration.ts";

/**
 * Worlds. Entries, who may see them, people and messages are projections of ledger records and never change, but for
 * the display name of a person and the state of a calendar item. Rows are keyed by the small number of their world.
 */
export const worldMigration: SqliteMigration = {
  version: 6,
  name: "world",
  sql: `
create table world (
  number integer primary key,
  world_id text not null unique,
  state text not null,
  lock_holder text,
  lock_until integer not null default 0
) strict;

create table world_person (
  world integer not null references world (number),
  number integer not null,
  person_id text not null,
  display_name text not null,
  primary key (world, number),
  unique (world, person_id)
) strict, without rowid;
${refusing("world_person_no_delete", "before delete on world_person", "world_person: people are never deleted")}
${refusing(
  "world_person_only_name",
  "before update on world_person when new.world is not old.world or new.number is not old.number or new.person_id is not old.person_id",
  "world_person: only the display name can change",
)}

create table world_entry (
  world integer not null,
  wseq integer not null,
  entry_id text not null,
  bundle_id text not null,
  position integer not null,
  request_id text not null,
  created_ms integer not null,
  created_at text not null,
  author_id text not null,
  author_class text not null,
  channel text not null,
  scope text not null,
  audience text not null,
  text text not null check (text <> ''),
  primary key (world, wseq),
  unique (world, entry_id)
) strict, without rowid;
create index world_entry_bundle on world_entry (world, bundle_id);
${appendOnlyTriggers({ table: "world_entry", keys: [["world", "entry_id"]] })}
${refusing(
  "world_entry_next",
  `before insert on world_entry when
  new.wseq is not (select coalesce(max(wseq) + 1, 1) from world_entry where world = new.world)
  or new.created_ms < (select created_ms from world_entry where world = new.world and wseq = new.wseq - 1)`,
  "world_entry: not the next entry of its world, or before the last one in time",
)}

create table world_entry_visible (
  world integer not null,
  person integer not null,
  wseq integer not null,
  primary key (world, person, wseq)
) strict, without rowid;
${appendOnlyTriggers({ table: "world_entry_visible", keys: [["world", "person", "wseq"]] })}

create table world_terms (
  world integer not null,
  key text not null,
  block integer not null,
  lows blob not null,
  primary key (world, key, block)
) strict, without rowid;

create table world_calendar (
  world integer not null references world (number),
  number integer not null,
  item_id text not null,
  state text not null,
  time_ms integer,
  body text not null,
  primary key (world, number),
  unique (world, item_id)
) strict, without rowid;
${refusing("world_calendar_no_delete", "before delete on world_calendar", "world_calendar: items are never deleted")}
${refusing(
  "world_calendar_only_state",
  `before update on world_calendar when new.world is not old.world or new.number is not old.number
  or new.item_id is not old.item_id or new.time_ms is not old.time_ms or new.body is not old.body`,
  "world_calendar: only the state can change",
)}

create table world_message (
  world integer not null references world (number),
  number integer not null,
  time_ms integer not null,
  body text not null,
  primary key (world, number)
) strict, without rowid;
${appendOnlyTriggers({ table: "world_message", keys: [["world", "number"]] })}

create table world_invocation (
  world integer not null,
  request_id text not null,
  body_sha256 text not null,
  status text not null,
  fence integer not null,
  lease_until integer not null,
  outcome text,
  headers text,
  primary key (world, request_id)
) strict, without rowid;
${refusing("world_invocation_no_delete", "before delete on world_invocation", "world_invocation: rows are never deleted")}
${refusing(
  "world_invocation_done",
  "before update on world_invocation when old.status = 'DONE'",
  "world_invocation: what is done stays as it is",
)}

create table world_call (
  world integer not null,
  number integer not null,
  call_id text not null,
  request_id text not null,
  body text not null,
  primary key (world, number),
  unique (world, call_id)
) strict, without rowid;

create table world_token (
  sha256 text not null primary key,
  role text not null,
  world_id text,
  viewer text
) strict, without rowid;
`,
};

/** Triggers without which history could be changed in silence. */
export const WORLD_GUARDS: readonly string[] = [
  "world_person_no_delete",
  "world_person_only_name",
  "world_entry_no_update",
  "world_entry_no_delete",
  "world_entry_no_second_world_entry_id",
  "world_entry_next",
  "world_entry_visible_no_update",
  "world_entry_visible_no_delete",
  "world_entry_visible_no_second_world_person_wseq",
  "world_calendar_no_delete",
  "world_calendar_only_state",
  "world_message_no_update",
  "world_message_no_delete",
  "world_message_no_second_world_number",
  "world_invocation_no_delete",
  "world_invocation_done",
];

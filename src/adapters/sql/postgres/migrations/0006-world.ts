import { appendOnlyTriggers } from "../append-only.ts";
import type { PostgresMigration } from "../migration.ts";

/** A trigger that refuses what the condition says. Its name does not mark the table as append-only. */
function refusing(s: string, table: string, name: string, event: string, condition: string, says: string): string {
  return `
create function ${s}.${name}() returns trigger language plpgsql as $$
begin
  if ${condition} then
    raise exception '${table}: ${says}' using errcode = 'restrict_violation';
  end if;
  return ${event === "delete" ? "old" : "new"};
end $$;
create trigger ${name} before ${event} on ${s}.${table} for each row execute function ${s}.${name}();
alter table ${s}.${table} enable always trigger ${name};`;
}

/** A trigger that refuses TRUNCATE of a table whose rows may change in part. */
function noTruncate(s: string, table: string): string {
  return `
create trigger ${table}_no_truncate before truncate on ${s}.${table}
  for each statement execute function ${s}.refuse_change();
alter table ${s}.${table} enable always trigger ${table}_no_truncate;`;
}

/** Worlds, with the same rules as in SQLite. */
export const worldMigration: PostgresMigration = {
  version: 6,
  name: "world",
  sql: (s) => `
create table ${s}.world (
  number integer primary key,
  world_id text collate "C" not null unique,
  state text not null,
  lock_holder text,
  lock_until bigint not null default 0
);
create table ${s}.world_person (
  world integer not null references ${s}.world (number),
  number integer not null,
  person_id text collate "C" not null,
  display_name text not null,
  primary key (world, number),
  unique (world, person_id)
);
create table ${s}.world_entry (
  world integer not null,
  wseq bigint not null,
  entry_id text collate "C" not null,
  bundle_id text collate "C" not null,
  position bigint not null,
  request_id text collate "C" not null,
  created_ms bigint not null,
  created_at text not null,
  author_id text collate "C" not null,
  author_class text not null,
  channel text not null,
  scope text not null,
  audience text not null,
  text text not null check (text <> ''),
  primary key (world, wseq),
  unique (world, entry_id)
);
create index world_entry_bundle on ${s}.world_entry (world, bundle_id);
create table ${s}.world_entry_visible (
  world integer not null,
  person integer not null,
  wseq bigint not null,
  primary key (world, person, wseq)
);
create table ${s}.world_terms (
  world integer not null,
  key text collate "C" not null,
  block bigint not null,
  lows bytea not null,
  primary key (world, key, block)
);
create table ${s}.world_calendar (
  world integer not null references ${s}.world (number),
  number integer not null,
  item_id text collate "C" not null,
  state text not null,
  time_ms bigint,
  body text not null,
  primary key (world, number),
  unique (world, item_id)
);
create table ${s}.world_message (
  world integer not null references ${s}.world (number),
  number integer not null,
  time_ms bigint not null,
  body text not null,
  primary key (world, number)
);
create table ${s}.world_invocation (
  world integer not null,
  request_id text collate "C" not null,
  body_sha256 text collate "C" not null,
  status text not null,
  fence integer not null,
  lease_until bigint not null,
  outcome text,
  headers text,
  primary key (world, request_id)
);
create table ${s}.world_call (
  world integer not null,
  number integer not null,
  call_id text collate "C" not null,
  request_id text collate "C" not null,
  body text not null,
  primary key (world, number),
  unique (world, call_id)
);
create table ${s}.world_token (
  sha256 text collate "C" primary key,
  role text not null,
  world_id text collate "C",
  viewer text collate "C"
);
${appendOnlyTriggers({ schema: s, table: "world_entry", keys: [["world", "entry_id"]] })}
${appendOnlyTriggers({ schema: s, table: "world_entry_visible", keys: [["world", "person", "wseq"]] })}
${appendOnlyTriggers({ schema: s, table: "world_message", keys: [["world", "number"]] })}
${noTruncate(s, "world_person")}
${noTruncate(s, "world_calendar")}
${noTruncate(s, "world_invocation")}
${refusing(
  s,
  "world_entry",
  "world_entry_next",
  "insert",
  `new.wseq is distinct from (select coalesce(max(e.wseq) + 1, 1) from ${s}.world_entry e where e.world = new.world)
    or new.created_ms < (select e.created_ms from ${s}.world_entry e where e.world = new.world and e.wseq = new.wseq - 1)`,
  "not the next entry of its world, or before the last one in time",
)}
${refusing(s, "world_person", "world_person_no_delete", "delete", "true", "people are never deleted")}
${refusing(
  s,
  "world_person",
  "world_person_only_name",
  "update",
  "(new.world, new.number, new.person_id) is distinct from (old.world, old.number, old.person_id)",
  "only the display name can change",
)}
${refusing(s, "world_calendar", "world_calendar_no_delete", "delete", "true", "items are never deleted")}
${refusing(
  s,
  "world_calendar",
  "world_calendar_only_state",
  "update",
  "(new.world, new.number, new.item_id, new.time_ms, new.body) is distinct from (old.world, old.number, old.item_id, old.time_ms, old.body)",
  "only the state can change",
)}
${refusing(s, "world_invocation", "world_invocation_no_delete", "delete", "true", "rows are never deleted")}
${refusing(s, "world_invocation", "world_invocation_done", "update", "old.status = 'DONE'", "what is done stays as it is")}
`,
};

/** Triggers without which history could be changed in silence. */
export const WORLD_GUARDS: readonly string[] = [
  "world_person_no_delete",
  "world_person_only_name",
  "world_person_no_truncate",
  "world_entry_append_only",
  "world_entry_no_truncate",
  "world_entry_guard",
  "world_entry_next",
  "world_entry_visible_append_only",
  "world_entry_visible_no_truncate",
  "world_entry_visible_guard",
  "world_calendar_no_delete",
  "world_calendar_only_state",
  "world_calendar_no_truncate",
  "world_message_append_only",
  "world_message_no_truncate",
  "world_message_guard",
  "world_invocation_no_delete",
  "world_invocation_done",
  "world_invocation_no_truncate",
];

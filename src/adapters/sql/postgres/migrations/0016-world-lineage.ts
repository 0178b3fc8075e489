import { appendOnlyTriggers } from "../append-only.ts";
import type { PostgresMigration } from "../migration.ts";

/** Forks that share the rows of their ancestors, and what a world was before some of its newest beats, as in SQLite. */
export const worldLineageMigration: PostgresMigration = {
  version: 16,
  name: "world-lineage",
  sql: (s) => `
create table ${s}.world_lineage (
  world integer not null,
  ancestor integer not null,
  upto_wseq bigint not null check (upto_wseq >= 0),
  upto_message bigint not null check (upto_message >= 0),
  primary key (world, ancestor)
);
create index world_lineage_ancestor on ${s}.world_lineage (ancestor);
${appendOnlyTriggers({ schema: s, table: "world_lineage", keys: [["world", "ancestor"]] })}

create table ${s}.world_state_at (
  world integer not null,
  position bigint not null,
  body text not null,
  primary key (world, position)
);

-- A key into a table of workspaces names the workspace, so both are divided first.
select ${s}.isolate_tables();
select ${s}.guard_tables(false);
alter table ${s}.world_lineage
  add foreign key (workspace_id, world) references ${s}.world (workspace_id, number),
  add foreign key (workspace_id, ancestor) references ${s}.world (workspace_id, number);
alter table ${s}.world_state_at
  add foreign key (workspace_id, world) references ${s}.world (workspace_id, number);

create or replace function ${s}.world_entry_next() returns trigger language plpgsql as $$
begin
  if new.wseq is distinct from coalesce(
      (select max(e.wseq) + 1 from ${s}.world_entry e where e.world = new.world),
      (select max(l.upto_wseq) + 1 from ${s}.world_lineage l where l.world = new.world), 1)
    or new.created_ms < coalesce(
      (select e.created_ms from ${s}.world_entry e where e.world = new.world and e.wseq = new.wseq - 1),
      (select e.created_ms from ${s}.world_lineage l join ${s}.world_entry e
        on e.world = l.ancestor and e.wseq = new.wseq - 1
        where l.world = new.world and l.upto_wseq = new.wseq - 1 limit 1)) then
    raise exception 'world_entry: not the next entry of its world, or before the last one in time'
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
`,
};

export const LINEAGE_GUARDS: readonly string[] = [
  "world_lineage_append_only",
  "world_lineage_no_truncate",
  "world_lineage_guard",
];

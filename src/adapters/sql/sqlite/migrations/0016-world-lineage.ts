import { appendOnlyTriggers, refusing } from "../append-only.ts";
import type { SqliteMigration } from "../migration.ts";

/**
 * Forks that share the rows of their ancestors, and what a world was before some of its newest beats. The first line of
 * a fork follows the last one it shares, so the rule of the next line asks the lineage where a world has no line yet.
 */
export const worldLineageMigration: SqliteMigration = {
  version: 16,
  name: "world-lineage",
  sql: `
create table world_lineage (
  world integer not null references world (number),
  ancestor integer not null references world (number),
  upto_wseq integer not null check (upto_wseq >= 0),
  upto_message integer not null check (upto_message >= 0),
  primary key (world, ancestor)
) strict, without rowid;
create index world_lineage_ancestor on world_lineage (ancestor);
${appendOnlyTriggers({ table: "world_lineage", keys: [["world", "ancestor"]] })}

create table world_state_at (
  world integer not null references world (number),
  position integer not null,
  body text not null,
  primary key (world, position)
) strict, without rowid;

drop trigger world_entry_next;
${refusing(
  "world_entry_next",
  `before insert on world_entry when
  new.wseq is not coalesce(
    (select max(wseq) + 1 from world_entry where world = new.world),
    (select max(upto_wseq) + 1 from world_lineage where world = new.world), 1)
  or new.created_ms < coalesce(
    (select created_ms from world_entry where world = new.world and wseq = new.wseq - 1),
    (select e.created_ms from world_lineage l join world_entry e on e.world = l.ancestor and e.wseq = new.wseq - 1
      where l.world = new.world and l.upto_wseq = new.wseq - 1 limit 1))`,
  "world_entry: not the next entry of its world, or before the last one in time",
)}
`,
};

export const LINEAGE_GUARDS: readonly string[] = [
  "world_lineage_no_update",
  "world_lineage_no_delete",
  "world_lineage_no_second_world_ancestor",
];

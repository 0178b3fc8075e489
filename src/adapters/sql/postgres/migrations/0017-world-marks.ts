import { BACKGROUND } from "../../world-reader.ts";
import type { PostgresMigration } from "../migration.ts";

/** What points at lines of a world (lore, pins, personas, pictures), and where the lines are that nobody lived. */
export const worldMarksMigration: PostgresMigration = {
  version: 17,
  name: "world-marks",
  sql: (s) => `
create table ${s}.world_mark (
  world integer not null,
  kind text collate "C" not null,
  id text collate "C" not null,
  number integer not null,
  body text not null,
  primary key (world, kind, id)
);
create index world_entry_background on ${s}.world_entry (workspace_id, world, wseq) where ${BACKGROUND};
`,
};

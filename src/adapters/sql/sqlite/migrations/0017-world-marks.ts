import { BACKGROUND } from "../../world-reader.ts";
import type { SqliteMigration } from "../migration.ts";

/** What points at lines of a world (lore, pins, personas, pictures), and where the lines are that nobody lived. */
export const worldMarksMigration: SqliteMigration = {
  version: 17,
  name: "world-marks",
  sql: `
create table world_mark (
  world integer not null,
  kind text not null,
  id text not null,
  number integer not null,
  body text not null,
  primary key (world, kind, id)
) strict, without rowid;
create index world_entry_background on world_entry (world, wseq) where ${BACKGROUND};
`,
};

import type { SqliteMigration } from "../migration.ts";

/** Keys of the newest lines of a world, one row per commit, until a block of lines becomes part of `world_terms`. */
export const worldRecentTermsMigration: SqliteMigration = {
  version: 7,
  name: "world-recent-terms",
  sql: `
create table world_recent_terms (
  world integer not null,
  wseq integer not null,
  keys text not null,
  primary key (world, wseq)
) strict, without rowid;
`,
};

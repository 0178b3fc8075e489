import type { PostgresMigration } from "../migration.ts";

/** Keys of the newest lines of a world, as in SQLite. */
export const worldRecentTermsMigration: PostgresMigration = {
  version: 7,
  name: "world-recent-terms",
  sql: (s) => `
create table ${s}.world_recent_terms (
  world integer not null,
  wseq bigint not null,
  keys text not null,
  primary key (world, wseq)
);
`,
};

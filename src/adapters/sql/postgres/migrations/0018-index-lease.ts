import type { PostgresMigration } from "../migration.ts";

/** Who builds the index of a workspace: a row that runs out, where there was a lock that a session held. */
export const indexLeaseMigration: PostgresMigration = {
  version: 18,
  name: "index-lease",
  sql: (s) => `
create table ${s}.index_lease (
  id integer primary key check (id = 1),
  holder text collate "C" not null,
  expires_ms bigint not null
);
`,
};

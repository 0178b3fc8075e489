import { appendOnlyTriggers } from "../append-only.ts";
import type { SqliteMigration } from "../migration.ts";

/** Long parts of bodies that many entries share, such as the manifest of a tree that does not change between runs. */
export const ledgerPiecesMigration: SqliteMigration = {
  version: 8,
  name: "ledger-pieces",
  sql: `
create table ledger_piece (
  name text not null primary key,
  text text not null
) strict;
${appendOnlyTriggers({ table: "ledger_piece", keys: [["name"]] })}
`,
};

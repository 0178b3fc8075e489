import { appendOnlyTriggers } from "../append-only.ts";
import type { PostgresMigration } from "../migration.ts";

/**
 * Long parts of bodies that many entries share. Two writers may bring the same piece at once, so a second one is not
 * refused but does nothing.
 */
export const ledgerPiecesMigration: PostgresMigration = {
  version: 8,
  name: "ledger-pieces",
  sql: (s) => `
create table ${s}.ledger_piece (
  name text collate "C" primary key,
  text text collate "C" not null
);
${appendOnlyTriggers({ schema: s, table: "ledger_piece", keys: [] })}
`,
};

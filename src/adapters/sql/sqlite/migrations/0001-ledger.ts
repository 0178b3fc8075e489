import { appendOnlyTriggers, refusing } from "../append-only.ts";
import type { SqliteMigration } from "../migration.ts";

const ZEROS = "0".repeat(64);

/** SQL that is true when a column holds a SHA-256 in lower-case hex. */
function isHash(column: string): string {
  // IS, because unhex gives NULL for anything else, and a CHECK that is NULL passes.
  return `length(${column}) = 64 and ${column} is lower(hex(unhex(${column})))`;
}

/**
 * The ledger. `idx` is the global index and the rowid, so reading in global order is reading the table.
 * The body comes last: hashes are read without touching the pages a long body spills into.
 * One trigger guards all three unique keys, because an index or a position that exists is never the next one.
 */
export const ledgerMigration: SqliteMigration = {
  version: 1,
  name: "ledger",
  sql: `
create table migration (
  version integer primary key check (version >= 1),
  name text not null,
  time text not null
) strict;
${appendOnlyTriggers({ table: "migration", keys: [["version"]] })}

create table store_fact (
  name text not null primary key,
  value text not null
) strict, without rowid;
${appendOnlyTriggers({ table: "store_fact", keys: [["name"]] })}

create table ledger_entry (
  idx integer primary key check (idx >= 0),
  stream text not null check (stream <> ''),
  position integer not null check (position >= 0),
  previous text not null,
  kind text not null check (kind <> ''),
  time text not null check (length(time) = 24),
  actor text not null check (actor <> ''),
  body_hash text not null check (${isHash("body_hash")}),
  hash text not null unique check (${isHash("hash")}),
  body text not null check (body <> ''),
  unique (stream, position)
) strict;
${appendOnlyTriggers({ table: "ledger_entry", keys: [] })}
${refusing(
  "ledger_entry_next",
  `before insert on ledger_entry when
  new.idx is not (select coalesce(max(idx) + 1, 0) from ledger_entry)
  or new.position is not (select coalesce(max(position) + 1, 0) from ledger_entry where stream = new.stream)
  or new.previous is not coalesce(
    (select hash from ledger_entry where stream = new.stream and position = new.position - 1), '${ZEROS}')
  or exists (select 1 from ledger_entry where hash = new.hash)`,
  "ledger_entry: not the next entry of its stream and of the ledger, or there already",
)}
`,
  seed: ({ ids }) => [{ sql: "insert into store_fact (name, value) values ('ledger_id', ?)", values: [ids.uuid()] }],
};

import { appendOnlyTriggers, refuseChangeFunction } from "../append-only.ts";
import type { PostgresMigration } from "../migration.ts";

const ZEROS = "0".repeat(64);

/** SQL that is true when a column holds a SHA-256 in lower-case hex. */
function isHash(column: string): string {
  return `${column} ~ '^[0-9a-f]{64}$'`;
}

/**
 * The ledger, and the payloads. Entries and their global order are two tables: an entry is written when it is
 * appended, its index last of all under one lock, so that writers of different streams overlap until then.
 */
export const ledgerMigration: PostgresMigration = {
  version: 1,
  name: "ledger",
  sql: (s) => `
create table ${s}.migration (
  version integer primary key check (version >= 1),
  name text collate "C" not null,
  time text collate "C" not null
);
create table ${s}.store_fact (
  name text collate "C" primary key,
  value text not null
);
create table ${s}.ledger_entry (
  stream text collate "C" not null check (stream <> ''),
  position bigint not null check (position >= 0),
  previous text collate "C" not null,
  kind text collate "C" not null check (kind <> ''),
  time text collate "C" not null check (length(time) = 24),
  actor text collate "C" not null check (actor <> ''),
  body_hash text collate "C" not null check (${isHash("body_hash")}),
  hash text collate "C" not null unique check (${isHash("hash")}),
  body text collate "C" not null check (body <> ''),
  primary key (stream, position)
);
create table ${s}.ledger_order (
  idx bigint primary key check (idx >= 0),
  hash text collate "C" not null unique references ${s}.ledger_entry (hash)
);
create table ${s}.content (
  hash text collate "C" primary key check (${isHash("hash")}),
  bytes bytea not null,
  stored_ms bigint not null
);
${refuseChangeFunction(s)}
${appendOnlyTriggers({ schema: s, table: "migration", keys: [["version"]] })}
${appendOnlyTriggers({ schema: s, table: "store_fact", keys: [["name"]] })}
${appendOnlyTriggers({ schema: s, table: "ledger_entry", keys: [["hash"]] })}
${appendOnlyTriggers({ schema: s, table: "ledger_order", keys: [["hash"]] })}

-- These two allow only the next position and the next index, so they also guard the primary keys.
create function ${s}.ledger_entry_next() returns trigger language plpgsql as $$
declare
  head record;
begin
  select e.position, e.hash into head from ${s}.ledger_entry e
    where e.stream = new.stream order by e.position desc limit 1;
  if new.position is distinct from coalesce(head.position + 1, 0)
    or new.previous is distinct from coalesce(head.hash, '${ZEROS}') then
    raise exception 'ledger_entry: not the next entry of its stream' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger ledger_entry_next before insert on ${s}.ledger_entry
  for each row execute function ${s}.ledger_entry_next();
alter table ${s}.ledger_entry enable always trigger ledger_entry_next;

create function ${s}.ledger_order_next() returns trigger language plpgsql as $$
begin
  if new.idx is distinct from (select coalesce(max(idx) + 1, 0) from ${s}.ledger_order) then
    raise exception 'ledger_order: not the next entry of the ledger' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger ledger_order_next before insert on ${s}.ledger_order
  for each row execute function ${s}.ledger_order_next();
alter table ${s}.ledger_order enable always trigger ledger_order_next;

create function ${s}.ledger_entry_has_order() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from ${s}.ledger_order where hash = new.hash) then
    raise exception 'ledger_entry: an entry has no place in the global order' using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create constraint trigger ledger_entry_has_order after insert on ${s}.ledger_entry
  deferrable initially deferred for each row execute function ${s}.ledger_entry_has_order();
alter table ${s}.ledger_entry enable always trigger ledger_entry_has_order;

-- Holds a stream until the end of the transaction and gives its head.
create function ${s}.ledger_hold(name text, out head_position bigint, out head_hash text) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('verbatim ${s} stream ' || name collate "C", 0));
  select e.position, e.hash into head_position, head_hash from ${s}.ledger_entry e
    where e.stream = name collate "C" order by e.position desc limit 1;
end $$;

-- Gives entries their global index. The lock is held until commit, so the order of indexes is the order of commits.
create function ${s}.ledger_index(hashes text[]) returns void language plpgsql as $$
declare
  next bigint;
begin
  perform pg_advisory_xact_lock(hashtextextended('verbatim ${s} order', 0));
  select coalesce(max(idx) + 1, 0) into next from ${s}.ledger_order;
  insert into ${s}.ledger_order (idx, hash)
    select next + given.n - 1, given.hash from unnest(hashes) with ordinality as given (hash, n) order by given.n;
end $$;
`,
  seed: (s, { ids }) => [
    { sql: `insert into ${s}.store_fact (name, value) values ('ledger_id', $1)`, values: [ids.uuid()] },
  ],
};

create table migration (
  version integer primary key check (version >= 1),
  name text not null,
  time text not null
) strict;
create trigger migration_no_update before update on migration begin select raise(abort, 'migration is append-only: no update'); end;
create trigger migration_no_delete before delete on migration begin select raise(abort, 'migration is append-only: no delete'); end;
create trigger migration_no_second_version before insert on migration when exists (select 1 from migration where version = new.version) begin select raise(abort, 'migration is append-only: a row with this version exists'); end;

create table store_fact (
  name text not null primary key,
  value text not null
) strict, without rowid;
create trigger store_fact_no_update before update on store_fact begin select raise(abort, 'store_fact is append-only: no update'); end;
create trigger store_fact_no_delete before delete on store_fact begin select raise(abort, 'store_fact is append-only: no delete'); end;
create trigger store_fact_no_second_name before insert on store_fact when exists (select 1 from store_fact where name = new.name) begin select raise(abort, 'store_fact is append-only: a row with this name exists'); end;

create table ledger_entry (
  idx integer primary key check (idx >= 0),
  stream text not null check (stream <> ''),
  position integer not null check (position >= 0),
  previous text not null,
  kind text not null check (kind <> ''),
  time text not null check (length(time) = 24),
  actor text not null check (actor <> ''),
  body_hash text not null check (length(body_hash) = 64 and body_hash is lower(hex(unhex(body_hash)))),
  hash text not null unique check (length(hash) = 64 and hash is lower(hex(unhex(hash)))),
  body text not null check (body <> ''),
  unique (stream, position)
) strict;
create trigger ledger_entry_no_update before update on ledger_entry begin select raise(abort, 'ledger_entry is append-only: no update'); end;
create trigger ledger_entry_no_delete before delete on ledger_entry begin select raise(abort, 'ledger_entry is append-only: no delete'); end;
create trigger ledger_entry_next before insert on ledger_entry when
  new.idx is not (select coalesce(max(idx) + 1, 0) from ledger_entry)
  or new.position is not (select coalesce(max(position) + 1, 0) from ledger_entry where stream = new.stream)
  or new.previous is not coalesce(
    (select hash from ledger_entry where stream = new.stream and position = new.position - 1), '0000000000000000000000000000000000000000000000000000000000000000')
  or exists (select 1 from ledger_entry where hash = new.hash) begin select raise(abort, 'ledger_entry: not the next entry of its stream and of the ledger, or there already'); end;
insert into store_fact (name, value) values ('ledger_id', '00000000-0000-4000-8000-000000000000');
insert into migration (version, name, time) values (1, 'ledger', '2025-01-02T03:04:05.000Z');
insert into ledger_entry (idx, stream, position, previous, kind, time, actor, body, body_hash, hash) values (0, 'context', 0, '0000000000000000000000000000000000000000000000000000000000000000', 'NOTE_ADDED', '2025-01-02T03:04:05.000Z', 'cli', '{"text":"The harbour lamp was lit."}', 'bdaf57a88d60a1371af08aa84ebbcd54552ac09eccf8fcce7bdadb69d21cd0b6', '62825e12fce815ecfabc1d7c47ded9e21e06b5ac31f84de45fa9c14dcc2ea93e');
insert into ledger_entry (idx, stream, position, previous, kind, time, actor, body, body_hash, hash) values (1, 'context', 1, '62825e12fce815ecfabc1d7c47ded9e21e06b5ac31f84de45fa9c14dcc2ea93e', 'NOTE_ADDED', '2025-01-02T03:04:05.000Z', 'cli', '{"text":"Mira counted the boats."}', '4924bfdc50a32ebddf4d9419be282f0311822e78d80abd8f54a7cb0c6a0ed753', 'e8d78b5e97cef0d73c7fba765eac8dd138f09c227198b5d31e8653b7112cf614');
insert into ledger_entry (idx, stream, position, previous, kind, time, actor, body, body_hash, hash) values (2, 'job/1', 0, '0000000000000000000000000000000000000000000000000000000000000000', 'NOTE_ADDED', '2025-01-02T03:04:05.000Z', 'cli', '{"text":"Nine, as yesterday."}', 'f9b468db3c8292e7f2a0de448eb6e60970c67162c981eb0c30faaca2130ad3a7', '5b4eef0563c1c7aa881ed2a11100279bf87c884e6a25472600c29cfeb2edf088');
pragma application_id = 1448231501;
pragma user_version = 1;

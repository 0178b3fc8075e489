create schema verbatim;
create table verbatim.migration (
  version integer primary key check (version >= 1),
  name text collate "C" not null,
  time text collate "C" not null
);
create table verbatim.store_fact (
  name text collate "C" primary key,
  value text not null
);
create table verbatim.ledger_entry (
  stream text collate "C" not null check (stream <> ''),
  position bigint not null check (position >= 0),
  previous text collate "C" not null,
  kind text collate "C" not null check (kind <> ''),
  time text collate "C" not null check (length(time) = 24),
  actor text collate "C" not null check (actor <> ''),
  body_hash text collate "C" not null check (body_hash ~ '^[0-9a-f]{64}$'),
  hash text collate "C" not null unique check (hash ~ '^[0-9a-f]{64}$'),
  body text collate "C" not null check (body <> ''),
  primary key (stream, position)
);
create table verbatim.ledger_order (
  idx bigint primary key check (idx >= 0),
  hash text collate "C" not null unique references verbatim.ledger_entry (hash)
);
create table verbatim.content (
  hash text collate "C" primary key check (hash ~ '^[0-9a-f]{64}$'),
  bytes bytea not null,
  stored_ms bigint not null
);

create function verbatim.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: no %', tg_table_name, lower(tg_op) using errcode = 'restrict_violation';
end $$;

create trigger migration_append_only before update or delete on verbatim.migration
  for each row execute function verbatim.refuse_change();
create trigger migration_no_truncate before truncate on verbatim.migration
  for each statement execute function verbatim.refuse_change();
alter table verbatim.migration enable always trigger migration_append_only;
alter table verbatim.migration enable always trigger migration_no_truncate;
create function verbatim.migration_guard() returns trigger language plpgsql as $$
begin
  if exists (select 1 from verbatim.migration where version = new.version) then
    raise exception 'migration is append-only: a row with this version exists'
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger migration_guard before insert on verbatim.migration for each row execute function verbatim.migration_guard();
alter table verbatim.migration enable always trigger migration_guard;

create trigger store_fact_append_only before update or delete on verbatim.store_fact
  for each row execute function verbatim.refuse_change();
create trigger store_fact_no_truncate before truncate on verbatim.store_fact
  for each statement execute function verbatim.refuse_change();
alter table verbatim.store_fact enable always trigger store_fact_append_only;
alter table verbatim.store_fact enable always trigger store_fact_no_truncate;
create function verbatim.store_fact_guard() returns trigger language plpgsql as $$
begin
  if exists (select 1 from verbatim.store_fact where name = new.name) then
    raise exception 'store_fact is append-only: a row with this name exists'
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger store_fact_guard before insert on verbatim.store_fact for each row execute function verbatim.store_fact_guard();
alter table verbatim.store_fact enable always trigger store_fact_guard;

create trigger ledger_entry_append_only before update or delete on verbatim.ledger_entry
  for each row execute function verbatim.refuse_change();
create trigger ledger_entry_no_truncate before truncate on verbatim.ledger_entry
  for each statement execute function verbatim.refuse_change();
alter table verbatim.ledger_entry enable always trigger ledger_entry_append_only;
alter table verbatim.ledger_entry enable always trigger ledger_entry_no_truncate;
create function verbatim.ledger_entry_guard() returns trigger language plpgsql as $$
begin
  if exists (select 1 from verbatim.ledger_entry where hash = new.hash) then
    raise exception 'ledger_entry is append-only: a row with this hash exists'
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger ledger_entry_guard before insert on verbatim.ledger_entry for each row execute function verbatim.ledger_entry_guard();
alter table verbatim.ledger_entry enable always trigger ledger_entry_guard;

create trigger ledger_order_append_only before update or delete on verbatim.ledger_order
  for each row execute function verbatim.refuse_change();
create trigger ledger_order_no_truncate before truncate on verbatim.ledger_order
  for each statement execute function verbatim.refuse_change();
alter table verbatim.ledger_order enable always trigger ledger_order_append_only;
alter table verbatim.ledger_order enable always trigger ledger_order_no_truncate;
create function verbatim.ledger_order_guard() returns trigger language plpgsql as $$
begin
  if exists (select 1 from verbatim.ledger_order where hash = new.hash) then
    raise exception 'ledger_order is append-only: a row with this hash exists'
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger ledger_order_guard before insert on verbatim.ledger_order for each row execute function verbatim.ledger_order_guard();
alter table verbatim.ledger_order enable always trigger ledger_order_guard;

-- These two allow only the next position and the next index, so they also guard the primary keys.
create function verbatim.ledger_entry_next() returns trigger language plpgsql as $$
declare
  head record;
begin
  select e.position, e.hash into head from verbatim.ledger_entry e
    where e.stream = new.stream order by e.position desc limit 1;
  if new.position is distinct from coalesce(head.position + 1, 0)
    or new.previous is distinct from coalesce(head.hash, '0000000000000000000000000000000000000000000000000000000000000000') then
    raise exception 'ledger_entry: not the next entry of its stream' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger ledger_entry_next before insert on verbatim.ledger_entry
  for each row execute function verbatim.ledger_entry_next();
alter table verbatim.ledger_entry enable always trigger ledger_entry_next;

create function verbatim.ledger_order_next() returns trigger language plpgsql as $$
begin
  if new.idx is distinct from (select coalesce(max(idx) + 1, 0) from verbatim.ledger_order) then
    raise exception 'ledger_order: not the next entry of the ledger' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger ledger_order_next before insert on verbatim.ledger_order
  for each row execute function verbatim.ledger_order_next();
alter table verbatim.ledger_order enable always trigger ledger_order_next;

create function verbatim.ledger_entry_has_order() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from verbatim.ledger_order where hash = new.hash) then
    raise exception 'ledger_entry: an entry has no place in the global order' using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create constraint trigger ledger_entry_has_order after insert on verbatim.ledger_entry
  deferrable initially deferred for each row execute function verbatim.ledger_entry_has_order();
alter table verbatim.ledger_entry enable always trigger ledger_entry_has_order;

-- Holds a stream until the end of the transaction and gives its head.
create function verbatim.ledger_hold(name text, out head_position bigint, out head_hash text) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('verbatim verbatim stream ' || name collate "C", 0));
  select e.position, e.hash into head_position, head_hash from verbatim.ledger_entry e
    where e.stream = name collate "C" order by e.position desc limit 1;
end $$;

-- Gives entries their global index. The lock is held until commit, so the order of indexes is the order of commits.
create function verbatim.ledger_index(hashes text[]) returns void language plpgsql as $$
declare
  next bigint;
begin
  perform pg_advisory_xact_lock(hashtextextended('verbatim verbatim order', 0));
  select coalesce(max(idx) + 1, 0) into next from verbatim.ledger_order;
  insert into verbatim.ledger_order (idx, hash)
    select next + given.n - 1, given.hash from unnest(hashes) with ordinality as given (hash, n) order by given.n;
end $$;
insert into verbatim.store_fact (name, value) values ('ledger_id', '00000000-0000-4000-8000-000000000000');
insert into verbatim.migration (version, name, time) values (1, 'ledger', '2025-01-02T03:04:05.000Z');
insert into verbatim.ledger_entry (stream, position, previous, kind, time, actor, body, body_hash, hash) values ('context', 0, '0000000000000000000000000000000000000000000000000000000000000000', 'NOTE_ADDED', '2025-01-02T03:04:05.000Z', 'cli', '{"text":"The harbour lamp was lit."}', 'bdaf57a88d60a1371af08aa84ebbcd54552ac09eccf8fcce7bdadb69d21cd0b6', '62825e12fce815ecfabc1d7c47ded9e21e06b5ac31f84de45fa9c14dcc2ea93e');
insert into verbatim.ledger_order (idx, hash) values (0, '62825e12fce815ecfabc1d7c47ded9e21e06b5ac31f84de45fa9c14dcc2ea93e');
insert into verbatim.ledger_entry (stream, position, previous, kind, time, actor, body, body_hash, hash) values ('context', 1, '62825e12fce815ecfabc1d7c47ded9e21e06b5ac31f84de45fa9c14dcc2ea93e', 'NOTE_ADDED', '2025-01-02T03:04:05.000Z', 'cli', '{"text":"Mira counted the boats."}', '4924bfdc50a32ebddf4d9419be282f0311822e78d80abd8f54a7cb0c6a0ed753', 'e8d78b5e97cef0d73c7fba765eac8dd138f09c227198b5d31e8653b7112cf614');
insert into verbatim.ledger_order (idx, hash) values (1, 'e8d78b5e97cef0d73c7fba765eac8dd138f09c227198b5d31e8653b7112cf614');
insert into verbatim.ledger_entry (stream, position, previous, kind, time, actor, body, body_hash, hash) values ('job/1', 0, '0000000000000000000000000000000000000000000000000000000000000000', 'NOTE_ADDED', '2025-01-02T03:04:05.000Z', 'cli', '{"text":"Nine, as yesterday."}', 'f9b468db3c8292e7f2a0de448eb6e60970c67162c981eb0c30faaca2130ad3a7', '5b4eef0563c1c7aa881ed2a11100279bf87c884e6a25472600c29cfeb2edf088');
insert into verbatim.ledger_order (idx, hash) values (2, '5b4eef0563c1c7aa881ed2a11100279bf87c884e6a25472600c29cfeb2edf088');

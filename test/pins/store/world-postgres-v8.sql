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
create table verbatim.context_fact (
  id integer primary key check (id = 1),
  index_hash text collate "C" not null,
  files bigint not null,
  sections bigint not null,
  sources_hash text collate "C" not null,
  rules integer not null,
  built_at text collate "C" not null,
  revision bigint not null
);
create table verbatim.context_image (
  name text collate "C" not null,
  part bigint not null,
  bytes bytea not null,
  primary key (name, part)
);
create table verbatim.context_file (
  path text collate "C" not null,
  version text collate "C" not null,
  sections bytea not null,
  primary key (path, version)
);
create table verbatim.context_symbol (
  symbol_id text collate "C" primary key,
  symbol text collate "C" not null,
  last text collate "C"
);
create table verbatim.context_search_fact (
  id integer primary key check (id = 1),
  revision bigint not null
);
create table verbatim.context_search_file (
  path text collate "C" primary key,
  version text collate "C" not null
);
create table verbatim.context_search (
  path text collate "C" not null references verbatim.context_search_file (path) on delete cascade,
  ordinal bigint not null,
  part bigint not null,
  words tsvector not null,
  primary key (path, ordinal, part)
);
create index context_search_words on verbatim.context_search using gin (words);
create table verbatim.jobs_job (
  number bigint generated always as identity primary key,
  job_id text collate "C" not null unique,
  run_id text collate "C" not null,
  message_id text collate "C" not null unique,
  plan_hash text collate "C" not null check (plan_hash ~ '^[0-9a-f]{64}$'),
  step_count integer not null check (step_count between 1 and 1000),
  breach_ordinal integer check (breach_ordinal between 1 and step_count),
  breach text collate "C",
  intent text collate "C" not null,
  message text collate "C" not null,
  check ((breach is null) = (breach_ordinal is null))
);

create trigger jobs_job_append_only before update or delete on verbatim.jobs_job
  for each row execute function verbatim.refuse_change();
create trigger jobs_job_no_truncate before truncate on verbatim.jobs_job
  for each statement execute function verbatim.refuse_change();
alter table verbatim.jobs_job enable always trigger jobs_job_append_only;
alter table verbatim.jobs_job enable always trigger jobs_job_no_truncate;
create function verbatim.jobs_job_guard() returns trigger language plpgsql as $$
begin
  if exists (select 1 from verbatim.jobs_job where number = new.number) then
    raise exception 'jobs_job is append-only: a row with this number exists'
      using errcode = 'restrict_violation';
  end if;
  if exists (select 1 from verbatim.jobs_job where job_id = new.job_id) then
    raise exception 'jobs_job is append-only: a row with this job_id exists'
      using errcode = 'restrict_violation';
  end if;
  if exists (select 1 from verbatim.jobs_job where message_id = new.message_id) then
    raise exception 'jobs_job is append-only: a row with this message_id exists'
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger jobs_job_guard before insert on verbatim.jobs_job for each row execute function verbatim.jobs_job_guard();
alter table verbatim.jobs_job enable always trigger jobs_job_guard;

create table verbatim.jobs_step (
  job_id text collate "C" not null references verbatim.jobs_job (job_id),
  ordinal integer not null,
  step_id text collate "C" not null unique,
  op text collate "C" not null check (op in ('READ_SYMBOL', 'READ_SECTION', 'WRITE', 'EXECUTE')),
  step text collate "C" not null,
  resolved text collate "C" not null,
  status text collate "C" not null check (status in ('PENDING', 'LEASED', 'COMMITTED', 'FAILED')),
  lease_owner text collate "C" check (lease_owner <> ''),
  lease_expires_ms bigint,
  fencing_token bigint not null check (fencing_token >= 0),
  touched_ms bigint,
  primary key (job_id, ordinal)
);
create index jobs_step_status on verbatim.jobs_step (job_id, status, ordinal);
create index jobs_step_barrier on verbatim.jobs_step (job_id, ordinal)
  where op in ('WRITE', 'EXECUTE') and status <> 'COMMITTED';

create table verbatim.jobs_receipt (
  step_id text collate "C" primary key references verbatim.jobs_step (step_id),
  job_id text collate "C" not null,
  ordinal integer not null,
  status text collate "C" not null check (status in ('SUCCESS', 'FAILURE')),
  receipt_hash text collate "C" not null check (receipt_hash ~ '^[0-9a-f]{64}$'),
  receipt text collate "C" not null
    check (receipt::json ->> 'status' is not distinct from status
      and receipt::json ->> 'step_id' is not distinct from step_id),
  unique (job_id, ordinal),
  foreign key (job_id, ordinal) references verbatim.jobs_step (job_id, ordinal)
);

create trigger jobs_receipt_append_only before update or delete on verbatim.jobs_receipt
  for each row execute function verbatim.refuse_change();
create trigger jobs_receipt_no_truncate before truncate on verbatim.jobs_receipt
  for each statement execute function verbatim.refuse_change();
alter table verbatim.jobs_receipt enable always trigger jobs_receipt_append_only;
alter table verbatim.jobs_receipt enable always trigger jobs_receipt_no_truncate;
create function verbatim.jobs_receipt_guard() returns trigger language plpgsql as $$
begin
  if exists (select 1 from verbatim.jobs_receipt where step_id = new.step_id) then
    raise exception 'jobs_receipt is append-only: a row with this step_id exists'
      using errcode = 'restrict_violation';
  end if;
  if exists (select 1 from verbatim.jobs_receipt where job_id = new.job_id and ordinal = new.ordinal) then
    raise exception 'jobs_receipt is append-only: a row with this job_id, ordinal exists'
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger jobs_receipt_guard before insert on verbatim.jobs_receipt for each row execute function verbatim.jobs_receipt_guard();
alter table verbatim.jobs_receipt enable always trigger jobs_receipt_guard;

create function verbatim.jobs_receipt_of_leased() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from verbatim.jobs_step where step_id = new.step_id
    and job_id = new.job_id and ordinal = new.ordinal and status = 'LEASED') then
    raise exception 'jobs_receipt: the step is not leased' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger jobs_receipt_of_leased before insert on verbatim.jobs_receipt
  for each row execute function verbatim.jobs_receipt_of_leased();
alter table verbatim.jobs_receipt enable always trigger jobs_receipt_of_leased;

create table verbatim.jobs_open (
  number bigint primary key references verbatim.jobs_job (number),
  job_id text collate "C" not null unique references verbatim.jobs_job (job_id)
);
create function verbatim.jobs_finished(job text) returns boolean language sql as $$
  select exists (select 1 from verbatim.jobs_step where job_id = job collate "C" and status = 'FAILED')
    or exists (select 1 from verbatim.jobs_step where job_id = job collate "C" and status = 'COMMITTED'
      and ordinal = (select step_count from verbatim.jobs_job where job_id = job collate "C"))
$$;
create function verbatim.jobs_open_guard() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if verbatim.jobs_finished(old.job_id) then return old; end if;
    raise exception 'jobs_open: the job is not finished' using errcode = 'restrict_violation';
  end if;
  if tg_op = 'UPDATE'
    or exists (select 1 from verbatim.jobs_open where number = new.number or job_id = new.job_id)
    or not exists (select 1 from verbatim.jobs_job where number = new.number and job_id = new.job_id)
    or verbatim.jobs_finished(new.job_id) then
    raise exception 'jobs_open: not a job that was just made' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger jobs_open_guard before insert or update or delete on verbatim.jobs_open
  for each row execute function verbatim.jobs_open_guard();
alter table verbatim.jobs_open enable always trigger jobs_open_guard;
create trigger jobs_open_no_truncate before truncate on verbatim.jobs_open
  for each statement execute function verbatim.refuse_change();
alter table verbatim.jobs_open enable always trigger jobs_open_no_truncate;

create function verbatim.jobs_job_opens() returns trigger language plpgsql as $$
begin
  insert into verbatim.jobs_open (number, job_id) values (new.number, new.job_id);
  return null;
end $$;
create trigger jobs_job_opens after insert on verbatim.jobs_job for each row execute function verbatim.jobs_job_opens();
alter table verbatim.jobs_job enable always trigger jobs_job_opens;

create function verbatim.jobs_step_planned() returns trigger language plpgsql as $$
begin
  if (new.status = 'PENDING' and new.fencing_token = 0
    and new.lease_owner is null and new.lease_expires_ms is null and new.touched_ms is null
    and new.ordinal = (select coalesce(max(ordinal), 0) + 1 from verbatim.jobs_step where job_id = new.job_id)
    and new.ordinal <= (select step_count from verbatim.jobs_job where job_id = new.job_id)
    and not exists (select 1 from verbatim.jobs_step where step_id = new.step_id)) is not true then
    raise exception 'jobs_step: not the next planned step of its job' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger jobs_step_planned before insert on verbatim.jobs_step
  for each row execute function verbatim.jobs_step_planned();
alter table verbatim.jobs_step enable always trigger jobs_step_planned;

create function verbatim.jobs_step_transition() returns trigger language plpgsql as $$
declare
  leased boolean := new.lease_owner is not null and new.lease_expires_ms > new.touched_ms;
  held boolean := old.status = 'LEASED' and new.lease_owner is not distinct from old.lease_owner
    and new.fencing_token is not distinct from old.fencing_token and new.touched_ms < old.lease_expires_ms;
  allowed boolean := false;
begin
  if new.job_id is distinct from old.job_id or new.ordinal is distinct from old.ordinal or new.step_id is distinct from old.step_id or new.op is distinct from old.op or new.step is distinct from old.step or new.resolved is distinct from old.resolved then
    raise exception 'jobs_step: what was planned is frozen' using errcode = 'restrict_violation';
  end if;
  if new.status = 'LEASED' then
    allowed := leased and (held or (new.fencing_token = old.fencing_token + 1
      and (old.status = 'PENDING' or (old.status = 'LEASED' and old.lease_expires_ms <= new.touched_ms))));
  elsif new.status in ('COMMITTED', 'FAILED') then
    allowed := held and new.lease_expires_ms is not distinct from old.lease_expires_ms
      and not exists (select 1 from verbatim.jobs_step where job_id = old.job_id and status = 'PENDING' and ordinal < old.ordinal)
      and not exists (select 1 from verbatim.jobs_step where job_id = old.job_id and status = 'LEASED' and ordinal < old.ordinal)
      and not exists (select 1 from verbatim.jobs_step where job_id = old.job_id and status = 'FAILED' and ordinal < old.ordinal)
      and exists (select 1 from verbatim.jobs_receipt where step_id = old.step_id
        and status = case new.status when 'COMMITTED' then 'SUCCESS' else 'FAILURE' end)
      and (new.status = 'FAILED'
        or coalesce(old.ordinal < (select breach_ordinal from verbatim.jobs_job where job_id = old.job_id), true));
  end if;
  if allowed is not true then
    raise exception 'jobs_step: no way from % to % now', old.status, new.status using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger jobs_step_transition before update on verbatim.jobs_step
  for each row execute function verbatim.jobs_step_transition();
alter table verbatim.jobs_step enable always trigger jobs_step_transition;
create trigger jobs_step_no_delete before delete on verbatim.jobs_step
  for each row execute function verbatim.refuse_change();
alter table verbatim.jobs_step enable always trigger jobs_step_no_delete;
create trigger jobs_step_no_truncate before truncate on verbatim.jobs_step
  for each statement execute function verbatim.refuse_change();
alter table verbatim.jobs_step enable always trigger jobs_step_no_truncate;

create function verbatim.jobs_step_closes() returns trigger language plpgsql as $$
begin
  if new.status = 'FAILED' or (new.status = 'COMMITTED'
    and new.ordinal = (select step_count from verbatim.jobs_job where job_id = new.job_id)) then
    delete from verbatim.jobs_open where job_id = new.job_id;
  end if;
  return null;
end $$;
create trigger jobs_step_closes after update on verbatim.jobs_step
  for each row execute function verbatim.jobs_step_closes();
alter table verbatim.jobs_step enable always trigger jobs_step_closes;
create table verbatim.world (
  number integer primary key,
  world_id text collate "C" not null unique,
  state text not null,
  lock_holder text,
  lock_until bigint not null default 0
);
create table verbatim.world_person (
  world integer not null references verbatim.world (number),
  number integer not null,
  person_id text collate "C" not null,
  display_name text not null,
  primary key (world, number),
  unique (world, person_id)
);
create table verbatim.world_entry (
  world integer not null,
  wseq bigint not null,
  entry_id text collate "C" not null,
  bundle_id text collate "C" not null,
  position bigint not null,
  request_id text collate "C" not null,
  created_ms bigint not null,
  created_at text not null,
  author_id text collate "C" not null,
  author_class text not null,
  channel text not null,
  scope text not null,
  audience text not null,
  text text not null check (text <> ''),
  primary key (world, wseq),
  unique (world, entry_id)
);
create index world_entry_bundle on verbatim.world_entry (world, bundle_id);
create table verbatim.world_entry_visible (
  world integer not null,
  person integer not null,
  wseq bigint not null,
  primary key (world, person, wseq)
);
create table verbatim.world_terms (
  world integer not null,
  key text collate "C" not null,
  block bigint not null,
  lows bytea not null,
  primary key (world, key, block)
);
create table verbatim.world_calendar (
  world integer not null references verbatim.world (number),
  number integer not null,
  item_id text collate "C" not null,
  state text not null,
  time_ms bigint,
  body text not null,
  primary key (world, number),
  unique (world, item_id)
);
create table verbatim.world_message (
  world integer not null references verbatim.world (number),
  number integer not null,
  time_ms bigint not null,
  body text not null,
  primary key (world, number)
);
create table verbatim.world_invocation (
  world integer not null,
  request_id text collate "C" not null,
  body_sha256 text collate "C" not null,
  status text not null,
  fence integer not null,
  lease_until bigint not null,
  outcome text,
  headers text,
  primary key (world, request_id)
);
create table verbatim.world_call (
  world integer not null,
  number integer not null,
  call_id text collate "C" not null,
  request_id text collate "C" not null,
  body text not null,
  primary key (world, number),
  unique (world, call_id)
);
create table verbatim.world_token (
  sha256 text collate "C" primary key,
  role text not null,
  world_id text collate "C",
  viewer text collate "C"
);

create trigger world_entry_append_only before update or delete on verbatim.world_entry
  for each row execute function verbatim.refuse_change();
create trigger world_entry_no_truncate before truncate on verbatim.world_entry
  for each statement execute function verbatim.refuse_change();
alter table verbatim.world_entry enable always trigger world_entry_append_only;
alter table verbatim.world_entry enable always trigger world_entry_no_truncate;
create function verbatim.world_entry_guard() returns trigger language plpgsql as $$
begin
  if exists (select 1 from verbatim.world_entry where world = new.world and entry_id = new.entry_id) then
    raise exception 'world_entry is append-only: a row with this world, entry_id exists'
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger world_entry_guard before insert on verbatim.world_entry for each row execute function verbatim.world_entry_guard();
alter table verbatim.world_entry enable always trigger world_entry_guard;

create trigger world_entry_visible_append_only before update or delete on verbatim.world_entry_visible
  for each row execute function verbatim.refuse_change();
create trigger world_entry_visible_no_truncate before truncate on verbatim.world_entry_visible
  for each statement execute function verbatim.refuse_change();
alter table verbatim.world_entry_visible enable always trigger world_entry_visible_append_only;
alter table verbatim.world_entry_visible enable always trigger world_entry_visible_no_truncate;
create function verbatim.world_entry_visible_guard() returns trigger language plpgsql as $$
begin
  if exists (select 1 from verbatim.world_entry_visible where world = new.world and person = new.person and wseq = new.wseq) then
    raise exception 'world_entry_visible is append-only: a row with this world, person, wseq exists'
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger world_entry_visible_guard before insert on verbatim.world_entry_visible for each row execute function verbatim.world_entry_visible_guard();
alter table verbatim.world_entry_visible enable always trigger world_entry_visible_guard;

create trigger world_message_append_only before update or delete on verbatim.world_message
  for each row execute function verbatim.refuse_change();
create trigger world_message_no_truncate before truncate on verbatim.world_message
  for each statement execute function verbatim.refuse_change();
alter table verbatim.world_message enable always trigger world_message_append_only;
alter table verbatim.world_message enable always trigger world_message_no_truncate;
create function verbatim.world_message_guard() returns trigger language plpgsql as $$
begin
  if exists (select 1 from verbatim.world_message where world = new.world and number = new.number) then
    raise exception 'world_message is append-only: a row with this world, number exists'
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger world_message_guard before insert on verbatim.world_message for each row execute function verbatim.world_message_guard();
alter table verbatim.world_message enable always trigger world_message_guard;

create trigger world_person_no_truncate before truncate on verbatim.world_person
  for each statement execute function verbatim.refuse_change();
alter table verbatim.world_person enable always trigger world_person_no_truncate;

create trigger world_calendar_no_truncate before truncate on verbatim.world_calendar
  for each statement execute function verbatim.refuse_change();
alter table verbatim.world_calendar enable always trigger world_calendar_no_truncate;

create trigger world_invocation_no_truncate before truncate on verbatim.world_invocation
  for each statement execute function verbatim.refuse_change();
alter table verbatim.world_invocation enable always trigger world_invocation_no_truncate;

create function verbatim.world_entry_next() returns trigger language plpgsql as $$
begin
  if new.wseq is distinct from (select coalesce(max(e.wseq) + 1, 1) from verbatim.world_entry e where e.world = new.world)
    or new.created_ms < (select e.created_ms from verbatim.world_entry e where e.world = new.world and e.wseq = new.wseq - 1) then
    raise exception 'world_entry: not the next entry of its world, or before the last one in time' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger world_entry_next before insert on verbatim.world_entry for each row execute function verbatim.world_entry_next();
alter table verbatim.world_entry enable always trigger world_entry_next;

create function verbatim.world_person_no_delete() returns trigger language plpgsql as $$
begin
  if true then
    raise exception 'world_person: people are never deleted' using errcode = 'restrict_violation';
  end if;
  return old;
end $$;
create trigger world_person_no_delete before delete on verbatim.world_person for each row execute function verbatim.world_person_no_delete();
alter table verbatim.world_person enable always trigger world_person_no_delete;

create function verbatim.world_person_only_name() returns trigger language plpgsql as $$
begin
  if (new.world, new.number, new.person_id) is distinct from (old.world, old.number, old.person_id) then
    raise exception 'world_person: only the display name can change' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger world_person_only_name before update on verbatim.world_person for each row execute function verbatim.world_person_only_name();
alter table verbatim.world_person enable always trigger world_person_only_name;

create function verbatim.world_calendar_no_delete() returns trigger language plpgsql as $$
begin
  if true then
    raise exception 'world_calendar: items are never deleted' using errcode = 'restrict_violation';
  end if;
  return old;
end $$;
create trigger world_calendar_no_delete before delete on verbatim.world_calendar for each row execute function verbatim.world_calendar_no_delete();
alter table verbatim.world_calendar enable always trigger world_calendar_no_delete;

create function verbatim.world_calendar_only_state() returns trigger language plpgsql as $$
begin
  if (new.world, new.number, new.item_id, new.time_ms, new.body) is distinct from (old.world, old.number, old.item_id, old.time_ms, old.body) then
    raise exception 'world_calendar: only the state can change' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger world_calendar_only_state before update on verbatim.world_calendar for each row execute function verbatim.world_calendar_only_state();
alter table verbatim.world_calendar enable always trigger world_calendar_only_state;

create function verbatim.world_invocation_no_delete() returns trigger language plpgsql as $$
begin
  if true then
    raise exception 'world_invocation: rows are never deleted' using errcode = 'restrict_violation';
  end if;
  return old;
end $$;
create trigger world_invocation_no_delete before delete on verbatim.world_invocation for each row execute function verbatim.world_invocation_no_delete();
alter table verbatim.world_invocation enable always trigger world_invocation_no_delete;

create function verbatim.world_invocation_done() returns trigger language plpgsql as $$
begin
  if old.status = 'DONE' then
    raise exception 'world_invocation: what is done stays as it is' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger world_invocation_done before update on verbatim.world_invocation for each row execute function verbatim.world_invocation_done();
alter table verbatim.world_invocation enable always trigger world_invocation_done;
create table verbatim.world_recent_terms (
  world integer not null,
  wseq bigint not null,
  keys text not null,
  primary key (world, wseq)
);
create table verbatim.ledger_piece (
  name text collate "C" primary key,
  text text collate "C" not null
);

create trigger ledger_piece_append_only before update or delete on verbatim.ledger_piece
  for each row execute function verbatim.refuse_change();
create trigger ledger_piece_no_truncate before truncate on verbatim.ledger_piece
  for each statement execute function verbatim.refuse_change();
alter table verbatim.ledger_piece enable always trigger ledger_piece_append_only;
alter table verbatim.ledger_piece enable always trigger ledger_piece_no_truncate;
begin;
insert into verbatim.ledger_entry (stream, position, previous, kind, time, actor, body_hash, hash, body) values ('world/w_harbour', '0', '0000000000000000000000000000000000000000000000000000000000000000', 'WORLD_CREATED', '2026-11-15T19:37:32.159Z', 'library', '9f68b2dae269ca0c916f64f2a5a798baa975d4b5391bc8e44d211554a1a5c869', '7832d9c56f6ffb9a88b7588a84cac380ca3613ee71d72fe90f32a53605d671aa', '{"clock_ms":1767252600000,"people":[{"display_name":"Ana","person_id":"ANA"},{"display_name":"Ben","person_id":"BEN"}],"settings":{"autonomy_interval_s":null,"cast":"room","context":{"output_reserve":2048,"pack_percent":40,"threshold_percent":80,"window_tokens":32768},"operator_id":"GEORGE","operator_name":"George","pocket":{"available":true,"clock_hidden":false},"time_policy":{"kind":"explicit"},"timezone":"UTC","title":"Harbour","tools":{"beat_bytes":24576,"max_calls":4,"max_results":20,"pack_bytes":8192,"wall_ms":30000},"visibility_default":"presence","writer":{"api_key_env":null,"base_url":null,"kind":"scripted","model":null,"rules":"Write.","script":["{\"when\":{\"beat\":1},\"output\":{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_id\":\"ANA\",\"author_class\":\"PERSON\"},\"channel\":\"PEOPLE\",\"text\":\"Nobody looks under the blue boat.\"},{\"author\":{\"author_id\":\"WORLD\",\"author_class\":\"WORLD\"},\"channel\":\"VOICE\",\"text\":\"Ana''s hands shake.\",\"visibility\":{\"scope\":\"PRIVATE\",\"visible_to\":[\"ANA\"]}}]}}}","{\"when\":{\"beat\":2},\"output\":{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_id\":\"BEN\",\"author_class\":\"PERSON\"},\"channel\":\"PEOPLE\",\"text\":\"The lamp is blue too.\"},{\"author\":{\"author_id\":\"WORLD\",\"author_class\":\"WORLD\"},\"channel\":\"VOICE\",\"text\":\"A second key hangs behind the blue door.\",\"visibility\":{\"scope\":\"PRIVATE\",\"visible_to\":[\"WORLD\"]}}]}}}","{\"when\":{\"input_contains\":\"again\"},\"output\":{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_id\":\"ANA\",\"author_class\":\"PERSON\"},\"channel\":\"PEOPLE\",\"text\":\"The blue boat, again.\"}]}}}"],"timeout_ms":120000},"writer_lint":"report"},"world_id":"w_harbour","world_key":"010000004e555c636a71787f868d949ba2a9b0b7bec5ccd3dae1e8eff6fd040b"}');
insert into verbatim.ledger_entry (stream, position, previous, kind, time, actor, body_hash, hash, body) values ('world/w_harbour', '1', '7832d9c56f6ffb9a88b7588a84cac380ca3613ee71d72fe90f32a53605d671aa', 'WORLD_PRESENCE_SET', '2026-11-15T19:37:32.169Z', 'library', '3a0f07c9beed7ef6b1906cd3f9db28407ae365d5ba08e77c5c5967c35fc67413', '0f217d1cd651f8173e218c033ebdc5dd891c285de5fc927920281ed58c8f99e1', '{"present":["ANA","GEORGE"]}');
insert into verbatim.ledger_entry (stream, position, previous, kind, time, actor, body_hash, hash, body) values ('world/w_harbour', '2', '0f217d1cd651f8173e218c033ebdc5dd891c285de5fc927920281ed58c8f99e1', 'WORLD_BEAT', '2026-11-15T19:37:32.183Z', 'library', '5b4999850d6882a760d4f367134ff5a0e55add7b4a4892f76948e7ea87dd070a', 'fedbf4397e216f8764f8399b7ef6018d9f1937a2938799534adcb3d86a4e514f', '{"anchors":[],"beat_no":1,"body_sha256":"92db6f6091739d55c04cbc8b6219f040a86834f9f4865ea79c2f0265a062e1c6","clock_after_ms":1767252600000,"clock_before_ms":1767252600000,"due":[],"outcome_sha256":"d88ea6dead0298da96b933efa3e90d7bc2fbd3b0c8f5d0ed58cc6b36ba8f640d","packs":[],"passes":[{"actor":"WORLD","code":null,"output_sha256":"b2844e38904533131187c662b55551f51fc175380dd00930e584791f7d5473a1","result":"WROTE","where":null}],"paused":false,"present":["ANA","GEORGE"],"rehydration":[],"request_id":"old-1","result":"WROTE","scene_no":1,"script_used":[0],"write_bundle":{"bundle_id":"b_mnwjpp54japmz23m","entries":[{"author":{"author_class":"OPERATOR","author_id":"GEORGE"},"bundle_id":"b_mnwjpp54japmz23m","channel":"USER","created_at_world":"2026-01-01T07:30:00+00:00","entry_id":"e_3tekkk6rq5m4j7xh","request_id":"old-1","text":"The spare key is under the blue boat.","visibility":{"scope":"PRIVATE","visible_to":["ANA","GEORGE"]}},{"author":{"author_class":"PERSON","author_id":"ANA"},"bundle_id":"b_mnwjpp54japmz23m","channel":"PEOPLE","created_at_world":"2026-01-01T07:30:00+00:00","entry_id":"e_gxhvbtcpilmzko4b","request_id":"old-1","text":"Nobody looks under the blue boat.","visibility":{"scope":"PRIVATE","visible_to":["ANA","GEORGE"]}},{"author":{"author_class":"WORLD","author_id":"WORLD"},"bundle_id":"b_mnwjpp54japmz23m","channel":"VOICE","created_at_world":"2026-01-01T07:30:00+00:00","entry_id":"e_epnmpzmblsdw2nh5","request_id":"old-1","text":"Ana''s hands shake.","visibility":{"scope":"PRIVATE","visible_to":["ANA"]}}],"proposed_by":{"actor":"WORLD","engine":"ENGINE_9_LLM_WRITER"},"rejection":{"reason":null,"rejected":false},"request_id":"old-1","wrote":true},"zone":"UTC"}');
insert into verbatim.ledger_entry (stream, position, previous, kind, time, actor, body_hash, hash, body) values ('world/w_harbour', '3', 'fedbf4397e216f8764f8399b7ef6018d9f1937a2938799534adcb3d86a4e514f', 'WORLD_SCENE_SET', '2026-11-15T19:37:32.192Z', 'library', '71680509057488be03b7571be8826c19888102ee7a7d45a433a21cb0ba9e3733', 'd3e58f35ba1e6420dc2ba0121ecb854f8e3d243b5e4e6fe87872981ffe3fe09c', '{"present":["BEN","GEORGE"],"scene_no":2,"write_bundle":{"bundle_id":"b_qucjijl7etv2hwv7","entries":[{"author":{"author_class":"WORLD","author_id":"WORLD"},"bundle_id":"b_qucjijl7etv2hwv7","channel":"VOICE","created_at_world":"2026-01-01T07:30:00+00:00","entry_id":"e_7a6er5gpg3kwznal","request_id":"control","text":"The cellar is cold.","visibility":{"scope":"PRIVATE","visible_to":["BEN","GEORGE"]}}],"proposed_by":{"actor":"library","engine":"ENGINE_1_INVOCATION"},"rejection":{"reason":null,"rejected":false},"request_id":"control","wrote":true}}');
insert into verbatim.ledger_entry (stream, position, previous, kind, time, actor, body_hash, hash, body) values ('world/w_harbour', '4', 'd3e58f35ba1e6420dc2ba0121ecb854f8e3d243b5e4e6fe87872981ffe3fe09c', 'WORLD_BEAT', '2026-11-15T19:37:32.202Z', 'library', 'ead476bc04c2539bb37fe952063b2cf28d3100cdf60285f9364544b6f38290e6', '3de5ab23246184528dffac3e2e2d2c0685ca38814cae31a34e6587de6e5620b7', '{"anchors":[{"created_at_world":"2026-01-01T08:15:00+00:00","provenance":{"used_entry_ids":["e_7a6er5gpg3kwznal"]},"request_id":"old-2","scene_anchor_id":"sa:2:cb6aa8337edff195","text":"The cellar is cold."}],"beat_no":2,"body_sha256":"e59a59c21dde6489d49c9886722b4983a20bf18ff3dbbc22279c41c3aa344e1d","clock_after_ms":1767255300000,"clock_before_ms":1767252600000,"due":[],"outcome_sha256":"343e8f4cde1a54aedc995d76eeb5940bb9205e29097ecd3fb477a5fabc733ff6","packs":[{"kind":"anchor","replay":[],"text":[4],"view":"room:BEN,GEORGE"}],"passes":[{"actor":"WORLD","code":null,"output_sha256":"e11748aa13d14188dff7d17ca576ef5e397a031c04a5110e98504e6ef296173c","result":"WROTE","where":null}],"paused":false,"present":["BEN","GEORGE"],"rehydration":[],"request_id":"old-2","result":"WROTE","scene_no":2,"script_used":[1],"write_bundle":{"bundle_id":"b_o3eglqwva4y4adwb","entries":[{"author":{"author_class":"OPERATOR","author_id":"GEORGE"},"bundle_id":"b_o3eglqwva4y4adwb","channel":"USER","created_at_world":"2026-01-01T08:15:00+00:00","entry_id":"e_kicnnrl6uqoxoraw","request_id":"old-2","text":"Where is the spare key?","visibility":{"scope":"PRIVATE","visible_to":["BEN","GEORGE"]}},{"author":{"author_class":"PERSON","author_id":"BEN"},"bundle_id":"b_o3eglqwva4y4adwb","channel":"PEOPLE","created_at_world":"2026-01-01T08:15:00+00:00","entry_id":"e_id5f3c6p6z5qucxb","request_id":"old-2","text":"The lamp is blue too.","visibility":{"scope":"PRIVATE","visible_to":["BEN","GEORGE"]}},{"author":{"author_class":"WORLD","author_id":"WORLD"},"bundle_id":"b_o3eglqwva4y4adwb","channel":"VOICE","created_at_world":"2026-01-01T08:15:00+00:00","entry_id":"e_gi2sc722x7px7x7i","request_id":"old-2","text":"A second key hangs behind the blue door.","visibility":{"scope":"PRIVATE","visible_to":["WORLD"]}}],"proposed_by":{"actor":"WORLD","engine":"ENGINE_9_LLM_WRITER"},"rejection":{"reason":null,"rejected":false},"request_id":"old-2","wrote":true},"zone":"UTC"}');
insert into verbatim.ledger_entry (stream, position, previous, kind, time, actor, body_hash, hash, body) values ('world/w_harbour', '5', '3de5ab23246184528dffac3e2e2d2c0685ca38814cae31a34e6587de6e5620b7', 'WORLD_CALENDAR_ADDED', '2026-11-15T19:37:32.212Z', 'library', 'ff5b773858ef2374df87f44567d5a10a4f8a473939c61b7e0842a9749cd08667', '6d5f22400207a2024d3dd6610677660b0d9263c951020535f951a52b74940d27', '{"item":{"location":null,"notes":null,"time":"2026-01-01T09:00:00+00:00","title":"Ferry","visible_to":["GEORGE"]},"item_id":"k_1"}');
insert into verbatim.ledger_entry (stream, position, previous, kind, time, actor, body_hash, hash, body) values ('world/w_harbour', '6', '6d5f22400207a2024d3dd6610677660b0d9263c951020535f951a52b74940d27', 'WORLD_MESSAGE_ADDED', '2026-11-15T19:37:32.215Z', 'library', 'c382eedb8713724468fcbb3d96f88891f261edbf0e528b779b6c14255017378e', 'fd5911b1bd74df69916ed5e931390b35276bd766e75d8de412809033b33babb1', '{"from":"ANA","text":"Not a word.","time":"2026-01-01T08:15:00+00:00","visible_to":["ANA","GEORGE"]}');
insert into verbatim.ledger_entry (stream, position, previous, kind, time, actor, body_hash, hash, body) values ('world/w_harbour', '7', 'fd5911b1bd74df69916ed5e931390b35276bd766e75d8de412809033b33babb1', 'WORLD_PRESENCE_SET', '2026-11-15T19:37:32.218Z', 'library', '017b6877de407b473ac63e43e1d0d932482fb1e0255d6e8209ae79eade00a6ea', 'be726f7ebbfb7cd7244304a809a2580effa0ca9261cd39ddf26a8d3d6e242873', '{"present":["ANA","BEN","GEORGE"]}');
insert into verbatim.ledger_order (idx, hash) values ('0', '7832d9c56f6ffb9a88b7588a84cac380ca3613ee71d72fe90f32a53605d671aa');
insert into verbatim.ledger_order (idx, hash) values ('1', '0f217d1cd651f8173e218c033ebdc5dd891c285de5fc927920281ed58c8f99e1');
insert into verbatim.ledger_order (idx, hash) values ('2', 'fedbf4397e216f8764f8399b7ef6018d9f1937a2938799534adcb3d86a4e514f');
insert into verbatim.ledger_order (idx, hash) values ('3', 'd3e58f35ba1e6420dc2ba0121ecb854f8e3d243b5e4e6fe87872981ffe3fe09c');
insert into verbatim.ledger_order (idx, hash) values ('4', '3de5ab23246184528dffac3e2e2d2c0685ca38814cae31a34e6587de6e5620b7');
insert into verbatim.ledger_order (idx, hash) values ('5', '6d5f22400207a2024d3dd6610677660b0d9263c951020535f951a52b74940d27');
insert into verbatim.ledger_order (idx, hash) values ('6', 'fd5911b1bd74df69916ed5e931390b35276bd766e75d8de412809033b33babb1');
insert into verbatim.ledger_order (idx, hash) values ('7', 'be726f7ebbfb7cd7244304a809a2580effa0ca9261cd39ddf26a8d3d6e242873');
insert into verbatim.migration (version, name, time) values (1, 'ledger', '2026-11-15T19:37:32.075Z');
insert into verbatim.migration (version, name, time) values (2, 'context', '2026-11-15T19:37:32.086Z');
insert into verbatim.migration (version, name, time) values (3, 'jobs', '2026-11-15T19:37:32.102Z');
insert into verbatim.migration (version, name, time) values (6, 'world', '2026-11-15T19:37:32.126Z');
insert into verbatim.migration (version, name, time) values (7, 'world-recent-terms', '2026-11-15T19:37:32.129Z');
insert into verbatim.migration (version, name, time) values (8, 'ledger-pieces', '2026-11-15T19:37:32.131Z');
insert into verbatim.store_fact (name, value) values ('ledger_id', '00000000-0000-4000-8000-043500020001');
insert into verbatim.world (number, world_id, state, lock_holder, lock_until) values (1, 'w_harbour', '{"clock_ms":1767255300000,"next_beat":3,"next_bundle":4,"next_item":2,"next_message":2,"next_person":5,"next_wseq":8,"packs":{"room:BEN,GEORGE":{"kind":"anchor","replay":[],"text":[4]}},"parent":null,"paused":false,"present":["ANA","BEN","GEORGE"],"scene_from":4,"scene_no":2,"script_used":[0,1],"settings":{"autonomy_interval_s":null,"cast":"room","context":{"output_reserve":2048,"pack_percent":40,"threshold_percent":80,"window_tokens":32768},"operator_id":"GEORGE","operator_name":"George","pocket":{"available":true,"clock_hidden":false},"time_policy":{"kind":"explicit"},"timezone":"UTC","title":"Harbour","tools":{"beat_bytes":24576,"max_calls":4,"max_results":20,"pack_bytes":8192,"wall_ms":30000},"visibility_default":"presence","writer":{"api_key_env":null,"base_url":null,"kind":"scripted","model":null,"rules":"Write.","script":["{\"when\":{\"beat\":1},\"output\":{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_id\":\"ANA\",\"author_class\":\"PERSON\"},\"channel\":\"PEOPLE\",\"text\":\"Nobody looks under the blue boat.\"},{\"author\":{\"author_id\":\"WORLD\",\"author_class\":\"WORLD\"},\"channel\":\"VOICE\",\"text\":\"Ana''s hands shake.\",\"visibility\":{\"scope\":\"PRIVATE\",\"visible_to\":[\"ANA\"]}}]}}}","{\"when\":{\"beat\":2},\"output\":{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_id\":\"BEN\",\"author_class\":\"PERSON\"},\"channel\":\"PEOPLE\",\"text\":\"The lamp is blue too.\"},{\"author\":{\"author_id\":\"WORLD\",\"author_class\":\"WORLD\"},\"channel\":\"VOICE\",\"text\":\"A second key hangs behind the blue door.\",\"visibility\":{\"scope\":\"PRIVATE\",\"visible_to\":[\"WORLD\"]}}]}}}","{\"when\":{\"input_contains\":\"again\"},\"output\":{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_id\":\"ANA\",\"author_class\":\"PERSON\"},\"channel\":\"PEOPLE\",\"text\":\"The blue boat, again.\"}]}}}"],"timeout_ms":120000},"writer_lint":"report"},"world_id":"w_harbour","world_key":"010000004e555c636a71787f868d949ba2a9b0b7bec5ccd3dae1e8eff6fd040b","zone":"UTC"}', null, '0');
insert into verbatim.world_calendar (world, number, item_id, state, time_ms, body) values (1, 1, 'k_1', 'SCHEDULED', '1767258000000', '{"location":null,"notes":null,"time":"2026-01-01T09:00:00+00:00","title":"Ferry","visible_to":["GEORGE"]}');
insert into verbatim.world_call (world, number, call_id, request_id, body) values (1, 1, '00000000-0000-4000-8000-043500020003', 'old-1', '{"call_id":"00000000-0000-4000-8000-043500020003","request_id":"old-1","pass":"ROOM","purpose":"WRITER","actor":"WORLD","view":{"kind":"room","present":["ANA","GEORGE"]},"provider":"scripted","model":null,"rules_version":"owner:76050b6862606edf","messages":[{"role":"system","content":"Write."},{"role":"user","content":"{\"reply_format\":\"verbatim.writer.v1\",\"you_write\":{\"as\":\"WORLD\",\"may_write\":[{\"channel\":\"VOICE\",\"author_id\":\"WORLD\",\"author_class\":\"WORLD\",\"name\":null},{\"channel\":\"PEOPLE\",\"author_id\":\"ANA\",\"author_class\":\"PERSON\",\"name\":\"Ana\"}]},\"scene\":\"\",\"continuity\":\"\",\"people\":[{\"name\":\"Ana\",\"lines\":\"\"}],\"present\":[{\"id\":\"ANA\",\"name\":\"Ana\"},{\"id\":\"GEORGE\",\"name\":\"George\"}],\"time\":\"2026-01-01T07:30:00+00:00\",\"recent\":[],\"opportunities\":[],\"evidence\":[],\"operator\":{\"name\":\"George\",\"text\":\"The spare key is under the blue boat.\"},\"tools\":{\"available\":true,\"names\":[\"LEDGER_SEARCH\",\"LEDGER_GET\",\"CAPSULE_GET\",\"SCENE_PACK_BUILD\"],\"calls_left\":4}}"}],"parts":[{"part":"rules","bytes":6,"tokens":2,"sha256":"76050b6862606edfa19c0bc54339d800c6f7016d89c55c539ff58d21a462d2a1","entry_ids":[]},{"part":"reply_format","bytes":20,"tokens":7,"sha256":"b70791ca6d9bd0617550dcd2395c9944b7a6921448388631a810dd7b0af83dcf","entry_ids":[]},{"part":"you_write","bytes":179,"tokens":60,"sha256":"9b00691ca94530e25e9fec7aafb53df425a6bb8585ab2bd628bebe7f82a9df22","entry_ids":[]},{"part":"scene","bytes":2,"tokens":1,"sha256":"12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126","entry_ids":[]},{"part":"continuity","bytes":2,"tokens":1,"sha256":"12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126","entry_ids":[]},{"part":"people","bytes":27,"tokens":9,"sha256":"416074b82e6d7ab2d616d3d27d34e5b28932f3cbddecf1a01e7f0ef97b89bae3","entry_ids":[]},{"part":"present","bytes":59,"tokens":20,"sha256":"c3c317b42dd629925b4dc56ce73811ae3f8073b9ca32b5c8c2920d9d9358405b","entry_ids":[]},{"part":"time","bytes":27,"tokens":9,"sha256":"828cf2bebbed02c358cdaccff04499b31614cc197643125d77ba9479fd41ed25","entry_ids":[]},{"part":"recent","bytes":2,"tokens":1,"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","entry_ids":[]},{"part":"opportunities","bytes":2,"tokens":1,"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","entry_ids":[]},{"part":"evidence","bytes":2,"tokens":1,"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","entry_ids":[]},{"part":"operator","bytes":64,"tokens":22,"sha256":"8f6c7e84b929fb6973e79d1dbf53361a2880f4c9f0eb9480a955ce6cb3b7636c","entry_ids":[]},{"part":"tools","bytes":105,"tokens":35,"sha256":"64715b03200e45bfb018bf12fed31d76145aa228561f87d0e0417003dda1cc2b","entry_ids":[]}],"raw":"{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_class\":\"PERSON\",\"author_id\":\"ANA\"},\"channel\":\"PEOPLE\",\"text\":\"Nobody looks under the blue boat.\"},{\"author\":{\"author_class\":\"WORLD\",\"author_id\":\"WORLD\"},\"channel\":\"VOICE\",\"text\":\"Ana''s hands shake.\",\"visibility\":{\"scope\":\"PRIVATE\",\"visible_to\":[\"ANA\"]}}]}}","verdict":"ACCEPTED","verdict_where":null,"lint":[],"estimated_tokens":213,"reported_input_tokens":null,"reported_output_tokens":null,"duration_ms":0}');
insert into verbatim.world_call (world, number, call_id, request_id, body) values (1, 2, '00000000-0000-4000-8000-043500020005', 'old-2', '{"call_id":"00000000-0000-4000-8000-043500020005","request_id":"old-2","pass":"ROOM","purpose":"WRITER","actor":"WORLD","view":{"kind":"room","present":["BEN","GEORGE"]},"provider":"scripted","model":null,"rules_version":"owner:76050b6862606edf","messages":[{"role":"system","content":"Write."},{"role":"user","content":"{\"reply_format\":\"verbatim.writer.v1\",\"you_write\":{\"as\":\"WORLD\",\"may_write\":[{\"channel\":\"VOICE\",\"author_id\":\"WORLD\",\"author_class\":\"WORLD\",\"name\":null},{\"channel\":\"PEOPLE\",\"author_id\":\"BEN\",\"author_class\":\"PERSON\",\"name\":\"Ben\"}]},\"scene\":\"The cellar is cold.\",\"continuity\":\"\",\"people\":[{\"name\":\"Ben\",\"lines\":\"\"}],\"present\":[{\"id\":\"BEN\",\"name\":\"Ben\"},{\"id\":\"GEORGE\",\"name\":\"George\"}],\"time\":\"2026-01-01T08:15:00+00:00\",\"recent\":[],\"opportunities\":[],\"evidence\":[],\"operator\":{\"name\":\"George\",\"text\":\"Where is the spare key?\"},\"tools\":{\"available\":true,\"names\":[\"LEDGER_SEARCH\",\"LEDGER_GET\",\"CAPSULE_GET\",\"SCENE_PACK_BUILD\"],\"calls_left\":4}}"}],"parts":[{"part":"rules","bytes":6,"tokens":2,"sha256":"76050b6862606edfa19c0bc54339d800c6f7016d89c55c539ff58d21a462d2a1","entry_ids":[]},{"part":"reply_format","bytes":20,"tokens":7,"sha256":"b70791ca6d9bd0617550dcd2395c9944b7a6921448388631a810dd7b0af83dcf","entry_ids":[]},{"part":"you_write","bytes":179,"tokens":60,"sha256":"23c59b5afb755e402e192f0b222e7d392cd401c653ce7144f70dd673ac3a3cc1","entry_ids":[]},{"part":"scene","bytes":21,"tokens":7,"sha256":"0dc7fce679aedeab70f08ff85eb02efcd566cea91577de8c6f1479a93c6dfb86","entry_ids":["e_7a6er5gpg3kwznal"]},{"part":"continuity","bytes":2,"tokens":1,"sha256":"12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126","entry_ids":[]},{"part":"people","bytes":27,"tokens":9,"sha256":"0feb585f0d17566fa616c5a2233a279efb3930e4ece845672c0007c4221ba319","entry_ids":[]},{"part":"present","bytes":59,"tokens":20,"sha256":"f1af8d04b23be786854e4ec88796288336d0183c0ac57a4b8207821c33a7f4c0","entry_ids":[]},{"part":"time","bytes":27,"tokens":9,"sha256":"34e9df44fcb3f93c53af300d8f025d7a6a67e435d59c05b589b854d3d4e53d3a","entry_ids":[]},{"part":"recent","bytes":2,"tokens":1,"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","entry_ids":[]},{"part":"opportunities","bytes":2,"tokens":1,"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","entry_ids":[]},{"part":"evidence","bytes":2,"tokens":1,"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945","entry_ids":[]},{"part":"operator","bytes":50,"tokens":17,"sha256":"c79bf1ddb089e21a2c9f1e9e37c53c3de35f87af9036befda3040267fdbd6e32","entry_ids":[]},{"part":"tools","bytes":105,"tokens":35,"sha256":"64715b03200e45bfb018bf12fed31d76145aa228561f87d0e0417003dda1cc2b","entry_ids":[]}],"raw":"{\"proposed_write_bundle\":{\"entries\":[{\"author\":{\"author_class\":\"PERSON\",\"author_id\":\"BEN\"},\"channel\":\"PEOPLE\",\"text\":\"The lamp is blue too.\"},{\"author\":{\"author_class\":\"WORLD\",\"author_id\":\"WORLD\"},\"channel\":\"VOICE\",\"text\":\"A second key hangs behind the blue door.\",\"visibility\":{\"scope\":\"PRIVATE\",\"visible_to\":[\"WORLD\"]}}]}}","verdict":"ACCEPTED","verdict_where":null,"lint":[],"estimated_tokens":215,"reported_input_tokens":null,"reported_output_tokens":null,"duration_ms":0}');
insert into verbatim.world_entry (world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text) values (1, '1', 'e_3tekkk6rq5m4j7xh', 'b_mnwjpp54japmz23m', '2', 'old-1', '1767252600000', '2026-01-01T07:30:00+00:00', 'GEORGE', 'OPERATOR', 'USER', 'PRIVATE', '["ANA","GEORGE"]', 'The spare key is under the blue boat.');
insert into verbatim.world_entry (world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text) values (1, '2', 'e_gxhvbtcpilmzko4b', 'b_mnwjpp54japmz23m', '2', 'old-1', '1767252600000', '2026-01-01T07:30:00+00:00', 'ANA', 'PERSON', 'PEOPLE', 'PRIVATE', '["ANA","GEORGE"]', 'Nobody looks under the blue boat.');
insert into verbatim.world_entry (world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text) values (1, '3', 'e_epnmpzmblsdw2nh5', 'b_mnwjpp54japmz23m', '2', 'old-1', '1767252600000', '2026-01-01T07:30:00+00:00', 'WORLD', 'WORLD', 'VOICE', 'PRIVATE', '["ANA"]', 'Ana''s hands shake.');
insert into verbatim.world_entry (world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text) values (1, '4', 'e_7a6er5gpg3kwznal', 'b_qucjijl7etv2hwv7', '3', 'control', '1767252600000', '2026-01-01T07:30:00+00:00', 'WORLD', 'WORLD', 'VOICE', 'PRIVATE', '["BEN","GEORGE"]', 'The cellar is cold.');
insert into verbatim.world_entry (world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text) values (1, '5', 'e_kicnnrl6uqoxoraw', 'b_o3eglqwva4y4adwb', '4', 'old-2', '1767255300000', '2026-01-01T08:15:00+00:00', 'GEORGE', 'OPERATOR', 'USER', 'PRIVATE', '["BEN","GEORGE"]', 'Where is the spare key?');
insert into verbatim.world_entry (world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text) values (1, '6', 'e_id5f3c6p6z5qucxb', 'b_o3eglqwva4y4adwb', '4', 'old-2', '1767255300000', '2026-01-01T08:15:00+00:00', 'BEN', 'PERSON', 'PEOPLE', 'PRIVATE', '["BEN","GEORGE"]', 'The lamp is blue too.');
insert into verbatim.world_entry (world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text) values (1, '7', 'e_gi2sc722x7px7x7i', 'b_o3eglqwva4y4adwb', '4', 'old-2', '1767255300000', '2026-01-01T08:15:00+00:00', 'WORLD', 'WORLD', 'VOICE', 'PRIVATE', '["WORLD"]', 'A second key hangs behind the blue door.');
insert into verbatim.world_entry_visible (world, person, wseq) values (1, 1, '7');
insert into verbatim.world_entry_visible (world, person, wseq) values (1, 2, '1');
insert into verbatim.world_entry_visible (world, person, wseq) values (1, 2, '2');
insert into verbatim.world_entry_visible (world, person, wseq) values (1, 2, '4');
insert into verbatim.world_entry_visible (world, person, wseq) values (1, 2, '5');
insert into verbatim.world_entry_visible (world, person, wseq) values (1, 2, '6');
insert into verbatim.world_entry_visible (world, person, wseq) values (1, 3, '1');
insert into verbatim.world_entry_visible (world, person, wseq) values (1, 3, '2');
insert into verbatim.world_entry_visible (world, person, wseq) values (1, 3, '3');
insert into verbatim.world_entry_visible (world, person, wseq) values (1, 4, '4');
insert into verbatim.world_entry_visible (world, person, wseq) values (1, 4, '5');
insert into verbatim.world_entry_visible (world, person, wseq) values (1, 4, '6');
insert into verbatim.world_invocation (world, request_id, body_sha256, status, fence, lease_until, outcome, headers) values (1, 'old-1', '92db6f6091739d55c04cbc8b6219f040a86834f9f4865ea79c2f0265a062e1c6', 'DONE', 1, '1794771512173', '{"request_id":"old-1","stream":{"cursor_before":null,"cursor_after":"c1.e_gxhvbtcpilmzko4b.2MtkuKCNy5WbdnJL","entries":[{"entry_id":"e_3tekkk6rq5m4j7xh","created_at_world":"2026-01-01T07:30:00+00:00","channel":"USER","author_label":null,"text":"The spare key is under the blue boat."},{"entry_id":"e_gxhvbtcpilmzko4b","created_at_world":"2026-01-01T07:30:00+00:00","channel":"PEOPLE","author_label":"Ana","text":"Nobody looks under the blue boat."}]},"pocket":{"is_available":true,"clock":{"world_time":"2026-01-01T07:30:00+00:00","timezone":"UTC"},"calendar":{"items":[]},"messages":{"items":[]}},"debug":{"wrote":true,"bundle_id":"b_mnwjpp54japmz23m"}}', '{"Verbatim-Beat-Result":"WROTE"}');
insert into verbatim.world_invocation (world, request_id, body_sha256, status, fence, lease_until, outcome, headers) values (1, 'old-2', 'e59a59c21dde6489d49c9886722b4983a20bf18ff3dbbc22279c41c3aa344e1d', 'DONE', 1, '1794771512196', '{"request_id":"old-2","stream":{"cursor_before":null,"cursor_after":"c1.e_id5f3c6p6z5qucxb.OU45OEtrFe_b9_d4","entries":[{"entry_id":"e_kicnnrl6uqoxoraw","created_at_world":"2026-01-01T08:15:00+00:00","channel":"USER","author_label":null,"text":"Where is the spare key?"},{"entry_id":"e_id5f3c6p6z5qucxb","created_at_world":"2026-01-01T08:15:00+00:00","channel":"PEOPLE","author_label":"Ben","text":"The lamp is blue too."}]},"pocket":{"is_available":true,"clock":{"world_time":"2026-01-01T08:15:00+00:00","timezone":"UTC"},"calendar":{"items":[]},"messages":{"items":[]}},"debug":{"wrote":true,"bundle_id":"b_o3eglqwva4y4adwb"}}', '{"Verbatim-Beat-Result":"WROTE"}');
insert into verbatim.world_message (world, number, time_ms, body) values (1, 1, '1767255300000', '{"from":"ANA","text":"Not a word.","time":"2026-01-01T08:15:00+00:00","visible_to":["ANA","GEORGE"]}');
insert into verbatim.world_person (world, number, person_id, display_name) values (1, 3, 'ANA', 'Ana');
insert into verbatim.world_person (world, number, person_id, display_name) values (1, 4, 'BEN', 'Ben');
insert into verbatim.world_recent_terms (world, wseq, keys) values (1, '1', 't:the t:spare t:key t:is t:under t:blue t:boat v:3 v:2 a:2 
t:nobody t:looks t:under t:the t:blue t:boat v:3 v:2 a:3 
t:ana t:s t:hands t:shake v:3 a:1 
');
insert into verbatim.world_recent_terms (world, wseq, keys) values (1, '4', 't:the t:cellar t:is t:cold v:4 v:2 a:1 
');
insert into verbatim.world_recent_terms (world, wseq, keys) values (1, '5', 't:where t:is t:the t:spare t:key v:4 v:2 a:2 
t:the t:lamp t:is t:blue t:too v:4 v:2 a:4 
t:a t:second t:key t:hangs t:behind t:the t:blue t:door v:1 a:1 
');
commit;

CREATE INDEX agent_runs_newest on agent_runs (repo_id, created_at, run_id);

CREATE INDEX jobs_step_barrier on jobs_step (job_id, ordinal)
  where op in ('WRITE', 'EXECUTE') and status <> 'COMMITTED';

CREATE INDEX jobs_step_status on jobs_step (job_id, status, ordinal);

CREATE INDEX world_entry_background on world_entry (world, wseq) where (request_id = 'import' or substr(request_id, 1, 4) = 'sys:')
  and (author_id = 'WORLD' or replace(audience, '"WORLD"', '') <> audience);

CREATE INDEX world_lineage_ancestor on world_lineage (ancestor);

CREATE INDEX world_once_world on world_once (world);

CREATE INDEX world_token_world on world_token (world_id);

CREATE UNIQUE INDEX world_version_story on world_version (story_id, of_request_id, version_no);

CREATE TABLE agent_runs (
  run_id text not null primary key,
  run_dir text not null,
  repo_id text,
  root text not null,
  common_dir text,
  goal text not null,
  state text not null,
  reason text,
  created_at text not null,
  updated_at text not null,
  files integer not null,
  added_lines integer not null,
  deleted_lines integer not null
, agent text not null default '', ended_at text, usd_micro integer) strict, without rowid;

CREATE TABLE agent_runs_fact (
  id integer not null primary key check (id = 1),
  rules integer not null
) strict;

CREATE TABLE context_fact (
  id integer primary key check (id = 1),
  index_hash text not null,
  files integer not null,
  sections integer not null,
  sources_hash text not null,
  rules integer not null,
  built_at text not null,
  revision integer not null
) strict;

CREATE TABLE context_file (
  path text not null,
  version text not null,
  sections blob not null,
  primary key (path, version)
) strict;

CREATE TABLE context_image (
  name text not null,
  part integer not null,
  bytes blob not null,
  primary key (name, part)
) strict;

CREATE TABLE context_search_fact (
  id integer primary key check (id = 1),
  revision integer not null
) strict;

CREATE TABLE context_search_file (
  path text not null primary key,
  version text not null,
  segment integer not null,
  number integer not null
) strict, without rowid;

CREATE TABLE context_search_segment (
  id integer primary key,
  paths text not null,
  files integer not null,
  small integer not null check (small in (0, 1)),
  sections blob not null,
  gone blob not null
) strict;

CREATE TABLE context_search_word (
  segment integer not null,
  word text not null,
  postings blob not null,
  primary key (segment, word)
) strict, without rowid;

CREATE TABLE context_symbol (
  symbol_id text not null primary key,
  symbol text not null,
  last text
) strict, without rowid;

CREATE TABLE jobs_job (
  number integer primary key,
  job_id text not null unique,
  run_id text not null,
  message_id text not null unique,
  plan_hash text not null check (length(plan_hash) = 64),
  step_count integer not null check (step_count between 1 and 1000),
  breach_ordinal integer check (breach_ordinal between 1 and step_count),
  breach text,
  intent text not null,
  message text not null,
  check ((breach is null) = (breach_ordinal is null))
) strict;

CREATE TABLE jobs_open (
  number integer primary key references jobs_job (number),
  job_id text not null unique references jobs_job (job_id)
) strict;

CREATE TABLE jobs_receipt (
  step_id text not null primary key references jobs_step (step_id),
  job_id text not null,
  ordinal integer not null,
  status text not null check (status in ('SUCCESS', 'FAILURE')),
  receipt_hash text not null check (length(receipt_hash) = 64),
  receipt text not null,
  unique (job_id, ordinal)
) strict, without rowid;

CREATE TABLE jobs_step (
  job_id text not null references jobs_job (job_id),
  ordinal integer not null,
  step_id text not null unique,
  op text not null check (op in ('READ_SYMBOL', 'READ_SECTION', 'WRITE', 'EXECUTE')),
  step text not null,
  resolved text not null,
  status text not null check (status in ('PENDING', 'LEASED', 'COMMITTED', 'FAILED')),
  lease_owner text check (lease_owner <> ''),
  lease_expires_ms integer,
  fencing_token integer not null check (fencing_token >= 0),
  touched_ms integer,
  primary key (job_id, ordinal)
) strict, without rowid;

CREATE TABLE ledger_entry (
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

CREATE TABLE ledger_piece (
  name text not null primary key,
  text text not null
) strict;

CREATE TABLE migration (
  version integer primary key check (version >= 1),
  name text not null,
  time text not null
) strict;

CREATE TABLE store_fact (
  name text not null primary key,
  value text not null
) strict, without rowid;

CREATE TABLE world (
  number integer primary key,
  world_id text not null unique,
  state text not null,
  lock_holder text,
  lock_until integer not null default 0
) strict;

CREATE TABLE world_calendar (
  world integer not null references world (number),
  number integer not null,
  item_id text not null,
  state text not null,
  time_ms integer,
  body text not null,
  primary key (world, number),
  unique (world, item_id)
) strict, without rowid;

CREATE TABLE world_call (
  world integer not null,
  number integer not null,
  call_id text not null,
  request_id text not null,
  body text not null,
  primary key (world, number),
  unique (world, call_id)
) strict, without rowid;

CREATE TABLE world_entry (
  world integer not null,
  wseq integer not null,
  entry_id text not null,
  bundle_id text not null,
  position integer not null,
  request_id text not null,
  created_ms integer not null,
  created_at text not null,
  author_id text not null,
  author_class text not null,
  channel text not null,
  scope text not null,
  audience text not null,
  text text not null check (text <> ''),
  primary key (world, wseq),
  unique (world, entry_id)
) strict, without rowid;

CREATE TABLE world_entry_visible (
  world integer not null,
  person integer not null,
  wseq integer not null,
  primary key (world, person, wseq)
) strict, without rowid;

CREATE TABLE "world_invocation" (
  world integer not null,
  request_id text not null,
  body_sha256 text not null,
  status text not null,
  fence integer not null,
  lease_until integer not null,
  outcome text,
  headers text,
  unique (world, request_id)
) strict;

CREATE TABLE world_lineage (
  world integer not null references world (number),
  ancestor integer not null references world (number),
  upto_wseq integer not null check (upto_wseq >= 0),
  upto_message integer not null check (upto_message >= 0),
  primary key (world, ancestor)
) strict, without rowid;

CREATE TABLE world_mark (
  world integer not null,
  kind text not null,
  id text not null,
  number integer not null,
  body text not null,
  primary key (world, kind, id)
) strict, without rowid;

CREATE TABLE world_message (
  world integer not null references world (number),
  number integer not null,
  time_ms integer not null,
  body text not null,
  primary key (world, number)
) strict, without rowid;

CREATE TABLE world_once (
  key text not null primary key,
  world integer not null,
  body_sha256 text not null,
  outcome text not null,
  headers text not null
) strict, without rowid;

CREATE TABLE world_person (
  world integer not null references world (number),
  number integer not null,
  person_id text not null,
  display_name text not null,
  primary key (world, number),
  unique (world, person_id)
) strict, without rowid;

CREATE TABLE world_queue (
  world integer not null references world (number),
  ticket integer not null,
  speaker text not null,
  request_id text not null,
  alive_until integer not null,
  primary key (world, ticket)
) strict, without rowid;

CREATE TABLE world_recent_terms (
  world integer not null,
  wseq integer not null,
  keys text not null,
  primary key (world, wseq)
) strict, without rowid;

CREATE TABLE world_served (
  world integer not null references world (number),
  speaker text not null,
  ticket integer not null,
  primary key (world, speaker)
) strict, without rowid;

CREATE TABLE world_state_at (
  world integer not null references world (number),
  position integer not null,
  body text not null,
  primary key (world, position)
) strict, without rowid;

CREATE TABLE world_terms (
  world integer not null,
  key text not null,
  block integer not null,
  lows blob not null,
  primary key (world, key, block)
) strict, without rowid;

CREATE TABLE world_token (
  sha256 text not null primary key,
  role text not null,
  world_id text,
  viewer text
, token_id text, label text, made_ms integer, used_on text, expires_ms integer, revoked_ms integer) strict, without rowid;

CREATE TABLE world_version (
  world integer not null primary key references world (number),
  story_id text not null,
  of_request_id text not null,
  version_no integer not null check (version_no > 1),
  request_id text not null
) strict, without rowid;

CREATE TRIGGER jobs_job_no_delete before delete on jobs_job begin select raise(abort, 'jobs_job is append-only: no delete'); end;

CREATE TRIGGER jobs_job_no_second_job_id before insert on jobs_job when exists (select 1 from jobs_job where job_id = new.job_id) begin select raise(abort, 'jobs_job is append-only: a row with this job_id exists'); end;

CREATE TRIGGER jobs_job_no_second_message_id before insert on jobs_job when exists (select 1 from jobs_job where message_id = new.message_id) begin select raise(abort, 'jobs_job is append-only: a row with this message_id exists'); end;

CREATE TRIGGER jobs_job_no_second_number before insert on jobs_job when exists (select 1 from jobs_job where number = new.number) begin select raise(abort, 'jobs_job is append-only: a row with this number exists'); end;

CREATE TRIGGER jobs_job_no_update before update on jobs_job begin select raise(abort, 'jobs_job is append-only: no update'); end;

CREATE TRIGGER jobs_job_opens after insert on jobs_job
begin insert into jobs_open (number, job_id) values (new.number, new.job_id); end;

CREATE TRIGGER jobs_open_delete before delete on jobs_open when not (exists (select 1 from jobs_step where job_id = old.job_id and status = 'FAILED')
  or exists (select 1 from jobs_step where job_id = old.job_id and status = 'COMMITTED'
    and ordinal = (select step_count from jobs_job where job_id = old.job_id))) begin select raise(abort, 'jobs_open: the job is not finished'); end;

CREATE TRIGGER jobs_open_insert before insert on jobs_open when exists (select 1 from jobs_open where number = new.number or job_id = new.job_id)
    or not exists (select 1 from jobs_job where number = new.number and job_id = new.job_id) or (exists (select 1 from jobs_step where job_id = new.job_id and status = 'FAILED')
  or exists (select 1 from jobs_step where job_id = new.job_id and status = 'COMMITTED'
    and ordinal = (select step_count from jobs_job where job_id = new.job_id))) begin select raise(abort, 'jobs_open: not a job that was just made'); end;

CREATE TRIGGER jobs_open_no_update before update on jobs_open begin select raise(abort, 'jobs_open: no update'); end;

CREATE TRIGGER jobs_receipt_no_delete before delete on jobs_receipt begin select raise(abort, 'jobs_receipt is append-only: no delete'); end;

CREATE TRIGGER jobs_receipt_no_second_job_id_ordinal before insert on jobs_receipt when exists (select 1 from jobs_receipt where job_id = new.job_id and ordinal = new.ordinal) begin select raise(abort, 'jobs_receipt is append-only: a row with this job_id, ordinal exists'); end;

CREATE TRIGGER jobs_receipt_no_second_step_id before insert on jobs_receipt when exists (select 1 from jobs_receipt where step_id = new.step_id) begin select raise(abort, 'jobs_receipt is append-only: a row with this step_id exists'); end;

CREATE TRIGGER jobs_receipt_no_update before update on jobs_receipt begin select raise(abort, 'jobs_receipt is append-only: no update'); end;

CREATE TRIGGER jobs_receipt_of_leased before insert on jobs_receipt when not coalesce(new.status in ('SUCCESS', 'FAILURE')
    and json_extract(new.receipt, '$.status') is new.status and json_extract(new.receipt, '$.step_id') is new.step_id
    and exists (select 1 from jobs_step where step_id = new.step_id
      and job_id = new.job_id and ordinal = new.ordinal and status = 'LEASED'), 0) begin select raise(abort, 'jobs_receipt: not the receipt of a leased step'); end;

CREATE TRIGGER jobs_step_closes after update on jobs_step
when new.status is 'FAILED' or (new.status is 'COMMITTED'
  and new.ordinal is (select step_count from jobs_job where job_id = new.job_id))
begin delete from jobs_open where job_id = new.job_id; end;

CREATE TRIGGER jobs_step_frozen before update on jobs_step when new.job_id is not old.job_id or new.ordinal is not old.ordinal or new.step_id is not old.step_id or new.op is not old.op or new.step is not old.step or new.resolved is not old.resolved begin select raise(abort, 'jobs_step: what was planned is frozen'); end;

CREATE TRIGGER jobs_step_lease before update on jobs_step when new.status is 'LEASED' and not coalesce((new.fencing_token is old.fencing_token + 1 and new.lease_owner is not null and new.lease_expires_ms > new.touched_ms
  and (old.status is 'PENDING' or (old.status is 'LEASED' and old.lease_expires_ms <= new.touched_ms))) or (old.status is 'LEASED' and new.lease_owner is old.lease_owner
  and new.fencing_token is old.fencing_token and new.touched_ms < old.lease_expires_ms and new.lease_owner is not null and new.lease_expires_ms > new.touched_ms), 0) begin select raise(abort, 'jobs_step: neither a claim nor a renewal'); end;

CREATE TRIGGER jobs_step_no_delete before delete on jobs_step begin select raise(abort, 'jobs_step: no delete'); end;

CREATE TRIGGER jobs_step_no_way_back before update on jobs_step when new.status is 'PENDING' begin select raise(abort, 'jobs_step: no way back to PENDING'); end;

CREATE TRIGGER jobs_step_planned before insert on jobs_step when not coalesce(new.status is 'PENDING' and new.fencing_token is 0
    and new.lease_owner is null and new.lease_expires_ms is null and new.touched_ms is null
    and new.ordinal is (select coalesce(max(ordinal), 0) + 1 from jobs_step where job_id = new.job_id)
    and new.ordinal <= (select step_count from jobs_job where job_id = new.job_id)
    and not exists (select 1 from jobs_step where step_id = new.step_id), 0) begin select raise(abort, 'jobs_step: not the next planned step of its job'); end;

CREATE TRIGGER jobs_step_settle before update on jobs_step when new.status in ('COMMITTED', 'FAILED') and not coalesce((old.status is 'LEASED' and new.lease_owner is old.lease_owner
  and new.fencing_token is old.fencing_token and new.touched_ms < old.lease_expires_ms and new.lease_expires_ms is old.lease_expires_ms
  and not exists (select 1 from jobs_step
  where job_id = old.job_id and status = 'PENDING' and ordinal < old.ordinal) and not exists (select 1 from jobs_step
  where job_id = old.job_id and status = 'LEASED' and ordinal < old.ordinal) and not exists (select 1 from jobs_step
  where job_id = old.job_id and status = 'FAILED' and ordinal < old.ordinal)
  and exists (select 1 from jobs_receipt where step_id = old.step_id
    and status is case new.status when 'COMMITTED' then 'SUCCESS' else 'FAILURE' end)
  and (new.status is 'FAILED'
    or coalesce(old.ordinal < (select breach_ordinal from jobs_job where job_id = old.job_id), 1))), 0) begin select raise(abort, 'jobs_step: this step cannot end so now'); end;

CREATE TRIGGER ledger_entry_next before insert on ledger_entry when
  new.idx is not (select coalesce(max(idx) + 1, 0) from ledger_entry)
  or new.position is not (select coalesce(max(position) + 1, 0) from ledger_entry where stream = new.stream)
  or new.previous is not coalesce(
    (select hash from ledger_entry where stream = new.stream and position = new.position - 1), '0000000000000000000000000000000000000000000000000000000000000000')
  or exists (select 1 from ledger_entry where hash = new.hash) begin select raise(abort, 'ledger_entry: not the next entry of its stream and of the ledger, or there already'); end;

CREATE TRIGGER ledger_entry_no_delete before delete on ledger_entry begin select raise(abort, 'ledger_entry is append-only: no delete'); end;

CREATE TRIGGER ledger_entry_no_update before update on ledger_entry begin select raise(abort, 'ledger_entry is append-only: no update'); end;

CREATE TRIGGER ledger_piece_no_delete before delete on ledger_piece begin select raise(abort, 'ledger_piece is append-only: no delete'); end;

CREATE TRIGGER ledger_piece_no_second_name before insert on ledger_piece when exists (select 1 from ledger_piece where name = new.name) begin select raise(abort, 'ledger_piece is append-only: a row with this name exists'); end;

CREATE TRIGGER ledger_piece_no_update before update on ledger_piece begin select raise(abort, 'ledger_piece is append-only: no update'); end;

CREATE TRIGGER migration_no_delete before delete on migration begin select raise(abort, 'migration is append-only: no delete'); end;

CREATE TRIGGER migration_no_second_version before insert on migration when exists (select 1 from migration where version = new.version) begin select raise(abort, 'migration is append-only: a row with this version exists'); end;

CREATE TRIGGER migration_no_update before update on migration begin select raise(abort, 'migration is append-only: no update'); end;

CREATE TRIGGER store_fact_no_delete before delete on store_fact begin select raise(abort, 'store_fact is append-only: no delete'); end;

CREATE TRIGGER store_fact_no_second_name before insert on store_fact when exists (select 1 from store_fact where name = new.name) begin select raise(abort, 'store_fact is append-only: a row with this name exists'); end;

CREATE TRIGGER store_fact_no_update before update on store_fact begin select raise(abort, 'store_fact is append-only: no update'); end;

CREATE TRIGGER world_calendar_no_delete before delete on world_calendar begin select raise(abort, 'world_calendar: items are never deleted'); end;

CREATE TRIGGER world_calendar_only_state before update on world_calendar when new.world is not old.world or new.number is not old.number
  or new.item_id is not old.item_id or new.time_ms is not old.time_ms or new.body is not old.body begin select raise(abort, 'world_calendar: only the state can change'); end;

CREATE TRIGGER world_entry_next before insert on world_entry when
  new.wseq is not coalesce(
    (select max(wseq) + 1 from world_entry where world = new.world),
    (select max(upto_wseq) + 1 from world_lineage where world = new.world), 1)
  or new.created_ms < coalesce(
    (select created_ms from world_entry where world = new.world and wseq = new.wseq - 1),
    (select e.created_ms from world_lineage l join world_entry e on e.world = l.ancestor and e.wseq = new.wseq - 1
      where l.world = new.world and l.upto_wseq = new.wseq - 1 limit 1)) begin select raise(abort, 'world_entry: not the next entry of its world, or before the last one in time'); end;

CREATE TRIGGER world_entry_no_delete before delete on world_entry begin select raise(abort, 'world_entry is append-only: no delete'); end;

CREATE TRIGGER world_entry_no_second_world_entry_id before insert on world_entry when exists (select 1 from world_entry where world = new.world and entry_id = new.entry_id) begin select raise(abort, 'world_entry is append-only: a row with this world, entry_id exists'); end;

CREATE TRIGGER world_entry_no_update before update on world_entry begin select raise(abort, 'world_entry is append-only: no update'); end;

CREATE TRIGGER world_entry_visible_no_delete before delete on world_entry_visible begin select raise(abort, 'world_entry_visible is append-only: no delete'); end;

CREATE TRIGGER world_entry_visible_no_second_world_person_wseq before insert on world_entry_visible when exists (select 1 from world_entry_visible where world = new.world and person = new.person and wseq = new.wseq) begin select raise(abort, 'world_entry_visible is append-only: a row with this world, person, wseq exists'); end;

CREATE TRIGGER world_entry_visible_no_update before update on world_entry_visible begin select raise(abort, 'world_entry_visible is append-only: no update'); end;

CREATE TRIGGER world_invocation_done before update on world_invocation when old.status = 'DONE' begin select raise(abort, 'world_invocation: what is done stays as it is'); end;

CREATE TRIGGER world_invocation_no_delete before delete on world_invocation begin select raise(abort, 'world_invocation: rows are never deleted'); end;

CREATE TRIGGER world_lineage_no_delete before delete on world_lineage begin select raise(abort, 'world_lineage is append-only: no delete'); end;

CREATE TRIGGER world_lineage_no_second_world_ancestor before insert on world_lineage when exists (select 1 from world_lineage where world = new.world and ancestor = new.ancestor) begin select raise(abort, 'world_lineage is append-only: a row with this world, ancestor exists'); end;

CREATE TRIGGER world_lineage_no_update before update on world_lineage begin select raise(abort, 'world_lineage is append-only: no update'); end;

CREATE TRIGGER world_message_no_delete before delete on world_message begin select raise(abort, 'world_message is append-only: no delete'); end;

CREATE TRIGGER world_message_no_second_world_number before insert on world_message when exists (select 1 from world_message where world = new.world and number = new.number) begin select raise(abort, 'world_message is append-only: a row with this world, number exists'); end;

CREATE TRIGGER world_message_no_update before update on world_message begin select raise(abort, 'world_message is append-only: no update'); end;

CREATE TRIGGER world_once_no_delete before delete on world_once begin select raise(abort, 'world_once is append-only: no delete'); end;

CREATE TRIGGER world_once_no_second_key before insert on world_once when exists (select 1 from world_once where key = new.key) begin select raise(abort, 'world_once is append-only: a row with this key exists'); end;

CREATE TRIGGER world_once_no_update before update on world_once begin select raise(abort, 'world_once is append-only: no update'); end;

CREATE TRIGGER world_person_no_delete before delete on world_person begin select raise(abort, 'world_person: people are never deleted'); end;

CREATE TRIGGER world_person_only_name before update on world_person when new.world is not old.world or new.number is not old.number or new.person_id is not old.person_id begin select raise(abort, 'world_person: only the display name can change'); end;

CREATE TRIGGER world_version_no_delete before delete on world_version begin select raise(abort, 'world_version is append-only: no delete'); end;

CREATE TRIGGER world_version_no_second_story_id_of_request_id_version_no before insert on world_version when exists (select 1 from world_version where story_id = new.story_id and of_request_id = new.of_request_id and version_no = new.version_no) begin select raise(abort, 'world_version is append-only: a row with this story_id, of_request_id, version_no exists'); end;

CREATE TRIGGER world_version_no_second_world before insert on world_version when exists (select 1 from world_version where world = new.world) begin select raise(abort, 'world_version is append-only: a row with this world exists'); end;

CREATE TRIGGER world_version_no_update before update on world_version begin select raise(abort, 'world_version is append-only: no update'); end;

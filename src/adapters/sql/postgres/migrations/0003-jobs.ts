import { appendOnlyTriggers } from "../append-only.ts";
import type { PostgresMigration } from "../migration.ts";

const FROZEN = ["job_id", "ordinal", "step_id", "op", "step", "resolved"];

/**
 * The jobs room: the same tables and the same rules as in SQLite. What is not known to be true is refused, because a
 * comparison with NULL is neither true nor false.
 */
export const jobsMigration: PostgresMigration = {
  version: 3,
  name: "jobs",
  sql: (s) => `
create table ${s}.jobs_job (
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
${appendOnlyTriggers({ schema: s, table: "jobs_job", keys: [["number"], ["job_id"], ["message_id"]] })}

create table ${s}.jobs_step (
  job_id text collate "C" not null references ${s}.jobs_job (job_id),
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
create index jobs_step_status on ${s}.jobs_step (job_id, status, ordinal);
create index jobs_step_barrier on ${s}.jobs_step (job_id, ordinal)
  where op in ('WRITE', 'EXECUTE') and status <> 'COMMITTED';

create table ${s}.jobs_receipt (
  step_id text collate "C" primary key references ${s}.jobs_step (step_id),
  job_id text collate "C" not null,
  ordinal integer not null,
  status text collate "C" not null check (status in ('SUCCESS', 'FAILURE')),
  receipt_hash text collate "C" not null check (receipt_hash ~ '^[0-9a-f]{64}$'),
  receipt text collate "C" not null
    check (receipt::json ->> 'status' is not distinct from status
      and receipt::json ->> 'step_id' is not distinct from step_id),
  unique (job_id, ordinal),
  foreign key (job_id, ordinal) references ${s}.jobs_step (job_id, ordinal)
);
${appendOnlyTriggers({ schema: s, table: "jobs_receipt", keys: [["step_id"], ["job_id", "ordinal"]] })}

create function ${s}.jobs_receipt_of_leased() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from ${s}.jobs_step where step_id = new.step_id
    and job_id = new.job_id and ordinal = new.ordinal and status = 'LEASED') then
    raise exception 'jobs_receipt: the step is not leased' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger jobs_receipt_of_leased before insert on ${s}.jobs_receipt
  for each row execute function ${s}.jobs_receipt_of_leased();
alter table ${s}.jobs_receipt enable always trigger jobs_receipt_of_leased;

create table ${s}.jobs_open (
  number bigint primary key references ${s}.jobs_job (number),
  job_id text collate "C" not null unique references ${s}.jobs_job (job_id)
);
create function ${s}.jobs_finished(job text) returns boolean language sql as $$
  select exists (select 1 from ${s}.jobs_step where job_id = job collate "C" and status = 'FAILED')
    or exists (select 1 from ${s}.jobs_step where job_id = job collate "C" and status = 'COMMITTED'
      and ordinal = (select step_count from ${s}.jobs_job where job_id = job collate "C"))
$$;
create function ${s}.jobs_open_guard() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if ${s}.jobs_finished(old.job_id) then return old; end if;
    raise exception 'jobs_open: the job is not finished' using errcode = 'restrict_violation';
  end if;
  if tg_op = 'UPDATE'
    or exists (select 1 from ${s}.jobs_open where number = new.number or job_id = new.job_id)
    or not exists (select 1 from ${s}.jobs_job where number = new.number and job_id = new.job_id)
    or ${s}.jobs_finished(new.job_id) then
    raise exception 'jobs_open: not a job that was just made' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger jobs_open_guard before insert or update or delete on ${s}.jobs_open
  for each row execute function ${s}.jobs_open_guard();
alter table ${s}.jobs_open enable always trigger jobs_open_guard;
create trigger jobs_open_no_truncate before truncate on ${s}.jobs_open
  for each statement execute function ${s}.refuse_change();
alter table ${s}.jobs_open enable always trigger jobs_open_no_truncate;

create function ${s}.jobs_job_opens() returns trigger language plpgsql as $$
begin
  insert into ${s}.jobs_open (number, job_id) values (new.number, new.job_id);
  return null;
end $$;
create trigger jobs_job_opens after insert on ${s}.jobs_job for each row execute function ${s}.jobs_job_opens();
alter table ${s}.jobs_job enable always trigger jobs_job_opens;

create function ${s}.jobs_step_planned() returns trigger language plpgsql as $$
begin
  if (new.status = 'PENDING' and new.fencing_token = 0
    and new.lease_owner is null and new.lease_expires_ms is null and new.touched_ms is null
    and new.ordinal = (select coalesce(max(ordinal), 0) + 1 from ${s}.jobs_step where job_id = new.job_id)
    and new.ordinal <= (select step_count from ${s}.jobs_job where job_id = new.job_id)
    and not exists (select 1 from ${s}.jobs_step where step_id = new.step_id)) is not true then
    raise exception 'jobs_step: not the next planned step of its job' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger jobs_step_planned before insert on ${s}.jobs_step
  for each row execute function ${s}.jobs_step_planned();
alter table ${s}.jobs_step enable always trigger jobs_step_planned;

create function ${s}.jobs_step_transition() returns trigger language plpgsql as $$
declare
  leased boolean := new.lease_owner is not null and new.lease_expires_ms > new.touched_ms;
  held boolean := old.status = 'LEASED' and new.lease_owner is not distinct from old.lease_owner
    and new.fencing_token is not distinct from old.fencing_token and new.touched_ms < old.lease_expires_ms;
  allowed boolean := false;
begin
  if ${FROZEN.map((column) => `new.${column} is distinct from old.${column}`).join(" or ")} then
    raise exception 'jobs_step: what was planned is frozen' using errcode = 'restrict_violation';
  end if;
  if new.status = 'LEASED' then
    allowed := leased and (held or (new.fencing_token = old.fencing_token + 1
      and (old.status = 'PENDING' or (old.status = 'LEASED' and old.lease_expires_ms <= new.touched_ms))));
  elsif new.status in ('COMMITTED', 'FAILED') then
    allowed := held and new.lease_expires_ms is not distinct from old.lease_expires_ms
      and not exists (select 1 from ${s}.jobs_step where job_id = old.job_id and status = 'PENDING' and ordinal < old.ordinal)
      and not exists (select 1 from ${s}.jobs_step where job_id = old.job_id and status = 'LEASED' and ordinal < old.ordinal)
      and not exists (select 1 from ${s}.jobs_step where job_id = old.job_id and status = 'FAILED' and ordinal < old.ordinal)
      and exists (select 1 from ${s}.jobs_receipt where step_id = old.step_id
        and status = case new.status when 'COMMITTED' then 'SUCCESS' else 'FAILURE' end)
      and (new.status = 'FAILED'
        or coalesce(old.ordinal < (select breach_ordinal from ${s}.jobs_job where job_id = old.job_id), true));
  end if;
  if allowed is not true then
    raise exception 'jobs_step: no way from % to % now', old.status, new.status using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger jobs_step_transition before update on ${s}.jobs_step
  for each row execute function ${s}.jobs_step_transition();
alter table ${s}.jobs_step enable always trigger jobs_step_transition;
create trigger jobs_step_no_delete before delete on ${s}.jobs_step
  for each row execute function ${s}.refuse_change();
alter table ${s}.jobs_step enable always trigger jobs_step_no_delete;
create trigger jobs_step_no_truncate before truncate on ${s}.jobs_step
  for each statement execute function ${s}.refuse_change();
alter table ${s}.jobs_step enable always trigger jobs_step_no_truncate;

create function ${s}.jobs_step_closes() returns trigger language plpgsql as $$
begin
  if new.status = 'FAILED' or (new.status = 'COMMITTED'
    and new.ordinal = (select step_count from ${s}.jobs_job where job_id = new.job_id)) then
    delete from ${s}.jobs_open where job_id = new.job_id;
  end if;
  return null;
end $$;
create trigger jobs_step_closes after update on ${s}.jobs_step
  for each row execute function ${s}.jobs_step_closes();
alter table ${s}.jobs_step enable always trigger jobs_step_closes;
`,
};

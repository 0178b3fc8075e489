import { appendOnlyTriggers, refusing } from "../append-only.ts";
import type { SqliteMigration } from "../migration.ts";

// What is not known to be true is refused: a comparison with NULL is neither true nor false.
const unless = (condition: string) => `not coalesce(${condition}, 0)`;

const LEASED = "new.lease_owner is not null and new.lease_expires_ms > new.touched_ms";

const CLAIM = `(new.fencing_token is old.fencing_token + 1 and ${LEASED}
  and (old.status is 'PENDING' or (old.status is 'LEASED' and old.lease_expires_ms <= new.touched_ms)))`;

const HELD = `old.status is 'LEASED' and new.lease_owner is old.lease_owner
  and new.fencing_token is old.fencing_token and new.touched_ms < old.lease_expires_ms`;

const RENEWAL = `(${HELD} and ${LEASED})`;

/** No step of the job before this one has the status; one seek in the index, however many there are. */
const noneBefore = (status: string) => `not exists (select 1 from jobs_step
  where job_id = old.job_id and status = '${status}' and ordinal < old.ordinal)`;

const SETTLEMENT = `(${HELD} and new.lease_expires_ms is old.lease_expires_ms
  and ${["PENDING", "LEASED", "FAILED"].map(noneBefore).join(" and ")}
  and exists (select 1 from jobs_receipt where step_id = old.step_id
    and status is case new.status when 'COMMITTED' then 'SUCCESS' else 'FAILURE' end)
  and (new.status is 'FAILED'
    or coalesce(old.ordinal < (select breach_ordinal from jobs_job where job_id = old.job_id), 1)))`;

const FROZEN = ["job_id", "ordinal", "step_id", "op", "step", "resolved"];

const FINISHED = (job: string) => `(exists (select 1 from jobs_step where job_id = ${job} and status = 'FAILED')
  or exists (select 1 from jobs_step where job_id = ${job} and status = 'COMMITTED'
    and ordinal = (select step_count from jobs_job where job_id = ${job})))`;

/**
 * The jobs room. Jobs (message and plan) and receipts never change. A step changes only along the lease rules, which
 * the triggers know; `touched_ms` is the time at which a change was made. `jobs_open` names the jobs that are not
 * finished, so that looking for work costs the same however many are.
 */
export const jobsMigration: SqliteMigration = {
  version: 3,
  name: "jobs",
  sql: `
create table jobs_job (
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
${appendOnlyTriggers({ table: "jobs_job", keys: [["number"], ["job_id"], ["message_id"]] })}

create table jobs_step (
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
create index jobs_step_status on jobs_step (job_id, status, ordinal);
create index jobs_step_barrier on jobs_step (job_id, ordinal)
  where op in ('WRITE', 'EXECUTE') and status <> 'COMMITTED';

create table jobs_receipt (
  step_id text not null primary key references jobs_step (step_id),
  job_id text not null,
  ordinal integer not null,
  status text not null check (status in ('SUCCESS', 'FAILURE')),
  receipt_hash text not null check (length(receipt_hash) = 64),
  receipt text not null,
  unique (job_id, ordinal)
) strict, without rowid;
${appendOnlyTriggers({ table: "jobs_receipt", keys: [["step_id"], ["job_id", "ordinal"]] })}
${refusing(
  "jobs_receipt_of_leased",
  `before insert on jobs_receipt when ${unless(`new.status in ('SUCCESS', 'FAILURE')
    and json_extract(new.receipt, '$.status') is new.status and json_extract(new.receipt, '$.step_id') is new.step_id
    and exists (select 1 from jobs_step where step_id = new.step_id
      and job_id = new.job_id and ordinal = new.ordinal and status = 'LEASED')`)}`,
  "jobs_receipt: not the receipt of a leased step",
)}

create table jobs_open (
  number integer primary key references jobs_job (number),
  job_id text not null unique references jobs_job (job_id)
) strict;
create trigger jobs_job_opens after insert on jobs_job
begin insert into jobs_open (number, job_id) values (new.number, new.job_id); end;
${refusing("jobs_open_no_update", "before update on jobs_open", "jobs_open: no update")}
${refusing(
  "jobs_open_insert",
  `before insert on jobs_open when exists (select 1 from jobs_open where number = new.number or job_id = new.job_id)
    or not exists (select 1 from jobs_job where number = new.number and job_id = new.job_id) or ${FINISHED("new.job_id")}`,
  "jobs_open: not a job that was just made",
)}
${refusing(
  "jobs_open_delete",
  `before delete on jobs_open when not ${FINISHED("old.job_id")}`,
  "jobs_open: the job is not finished",
)}

${refusing("jobs_step_no_delete", "before delete on jobs_step", "jobs_step: no delete")}
${refusing(
  "jobs_step_planned",
  `before insert on jobs_step when ${unless(`new.status is 'PENDING' and new.fencing_token is 0
    and new.lease_owner is null and new.lease_expires_ms is null and new.touched_ms is null
    and new.ordinal is (select coalesce(max(ordinal), 0) + 1 from jobs_step where job_id = new.job_id)
    and new.ordinal <= (select step_count from jobs_job where job_id = new.job_id)
    and not exists (select 1 from jobs_step where step_id = new.step_id)`)}`,
  "jobs_step: not the next planned step of its job",
)}
${refusing(
  "jobs_step_frozen",
  `before update on jobs_step when ${FROZEN.map((column) => `new.${column} is not old.${column}`).join(" or ")}`,
  "jobs_step: what was planned is frozen",
)}
${refusing(
  "jobs_step_no_way_back",
  "before update on jobs_step when new.status is 'PENDING'",
  "jobs_step: no way back to PENDING",
)}
${refusing(
  "jobs_step_lease",
  `before update on jobs_step when new.status is 'LEASED' and ${unless(`${CLAIM} or ${RENEWAL}`)}`,
  "jobs_step: neither a claim nor a renewal",
)}
${refusing(
  "jobs_step_settle",
  `before update on jobs_step when new.status in ('COMMITTED', 'FAILED') and ${unless(SETTLEMENT)}`,
  "jobs_step: this step cannot end so now",
)}
create trigger jobs_step_closes after update on jobs_step
when new.status is 'FAILED' or (new.status is 'COMMITTED'
  and new.ordinal is (select step_count from jobs_job where job_id = new.job_id))
begin delete from jobs_open where job_id = new.job_id; end;
`,
};

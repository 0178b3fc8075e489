import { formatCanonical, type JsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { appendRefusal, boundValue } from "../../../core/ledger/index.ts";
import type { Clock, ContentStore, LedgerWriter } from "../../../core/ports.ts";
import { JOB_RECORDS } from "../contracts/records.ts";
import { type Planned, type PlanPorts, planMessage } from "../plan/plan.ts";
import type { PlanProblem } from "../plan/plan-problem.ts";
import type { JobFacts, JobRow, JobsReader, JobsStore, NewDispatch } from "../ports.ts";
import { requireTeam } from "../steps/effect-step.ts";
import { streamOf } from "../steps/job-state.ts";
import { toJobId, toMessageId } from "./ids.ts";
import { toMessage } from "./message.ts";

export interface PostPorts extends PlanPorts {
  readonly store: JobsStore;
  readonly content: ContentStore;
  readonly clock: Clock;
  /** Who posts: the surface. */
  readonly actor: string;
}

/** Where a team's job is sent and the tree its effects begin from; null where jobs run in this checkout. */
export type TeamPosting = Omit<NewDispatch, "job_id">;

/** Finds out where a job goes, once it is known whether it has effects. */
type FindPosting = (hasEffects: boolean) => Promise<TeamPosting>;

interface Posted {
  readonly job: Pick<JobFacts, "job_id" | "run_id" | "message_id" | "plan_hash" | "breach" | "step_count">;
  /** The same message was posted in the same run before; nothing was written. */
  readonly existing: boolean;
}

// Durable writes of payloads wait for the disk; a few at a time keep it busy.
const STORED_AT_ONCE = 8;

/**
 * Accepts a message: validates it, plans it, stores payloads, and then records message, plan, job and steps in one
 * transaction. A refusal is recorded first and then thrown. The same message in the same run is the same job, also
 * when it is posted twice at the same time.
 */
export async function postMessage(
  ports: PostPorts,
  value: JsonValue,
  run_id: string,
  findPosting: FindPosting | null = null,
): Promise<Posted> {
  const message_id = toMessageId(ports.crypto, run_id, value);
  const job_id = toJobId(ports.crypto, message_id);
  const known = await ports.store.read(({ jobs }) => findSame(jobs, { job_id, run_id, value }));
  if (known !== null) return { job: known, existing: true };
  const planned = await recordRefusal(ports, { job_id, run_id, value }, async () =>
    planMessage(ports, toMessage(value), run_id),
  );
  const isEffect = (op: string) => op === "WRITE" || op === "EXECUTE";
  const posting = (await findPosting?.(planned.steps.some(({ step }) => isEffect(step.op)))) ?? null;
  await storePayloads(ports.content, planned);
  return ports.store.transact(async ({ ledger, jobs, team }) => {
    // Whoever posts the same message now waits here and then finds the job.
    await jobs.hold(streamOf(job_id));
    const twin = await findSame(jobs, { job_id, run_id, value });
    if (twin !== null) return { job: twin, existing: true };
    await requireFreshSteps(jobs, planned);
    await appendPlan(ledger, planned, ports.actor, posting);
    const { message, plan_hash, budget, steps } = planned;
    const job = { job_id, run_id, message_id, plan_hash, message, breach: budget.breach };
    await jobs.insertJob(job, steps);
    if (posting !== null) await requireTeam(team).send({ job_id, ...posting });
    return { job: { ...job, step_count: steps.length }, existing: false };
  });
}

interface Candidate {
  readonly job_id: string;
  readonly run_id: string;
  readonly value: JsonValue;
}

/** The job this message already is; another message under its id is ID_COLLISION. */
async function findSame(jobs: JobsReader, { job_id, run_id, value }: Candidate): Promise<JobRow | null> {
  const job = await jobs.job(job_id);
  if (job === null) return null;
  if (job.run_id === run_id && formatCanonical(job.message) === formatCanonical(value)) return job;
  throw new VerbatimError("ID_COLLISION", {
    message: `the job ${job_id} already exists with a different message`,
    details: { job_id, run_id: job.run_id },
  });
}

async function requireFreshSteps(jobs: JobsReader, { job_id, steps }: Planned): Promise<void> {
  const taken = await jobs.findStepIds(steps.map(({ step }) => step.step_id));
  if (taken.length === 0) return;
  throw new VerbatimError("ID_COLLISION", {
    message: `steps of ${job_id} already exist in another job`,
    details: { job_id, step_ids: taken },
  });
}

/** Runs `fn`; when it refuses the message, the refusal is appended before it is thrown on. */
async function recordRefusal<T>(ports: PostPorts, { job_id, run_id, value }: Candidate, fn: () => Promise<T>) {
  try {
    return await fn();
  } catch (thrown) {
    if (!isVerbatimError(thrown) || (thrown.code !== "MESSAGE_INVALID" && thrown.code !== "MESSAGE_UNRESOLVED")) {
      throw thrown;
    }
    const { crypto, clock, actor, store } = ports;
    const problems = (thrown.details?.["problems"] ?? []) as readonly PlanProblem[];
    const refusal = JOB_RECORDS.make("MESSAGE_REFUSED", actor, {
      message: boundValue(crypto, value),
      problems: boundValue(crypto, problems.map(toRecord)),
      run_id,
    });
    // Every message has a stream of its own, so only the whole ledger tells how many there were.
    await store.transact(({ ledger }) =>
      appendRefusal(ledger, clock, { stream: streamOf(job_id), ...refusal }, "ledger"),
    );
    throw thrown;
  }
}

/** A problem without its prose. */
function toRecord({ code, pointer, details }: PlanProblem): JsonObject {
  return { code, pointer, ...(details === undefined ? {} : { details }) };
}

async function appendPlan(
  ledger: LedgerWriter,
  planned: Planned,
  actor: string,
  posting: TeamPosting | null,
): Promise<void> {
  const { job_id, run_id, message_id, plan_hash, steps } = planned;
  const accepted = { job_id, message: planned.message, message_id, run_id };
  const plan = {
    job_id,
    plan_hash,
    resolved: steps.map(({ resolved }) => resolved),
    run_id,
    steps: steps.map(({ step }) => step),
    ...toBase(posting),
  };
  await ledger.append(streamOf(job_id), "next", [
    JOB_RECORDS.make("MESSAGE_ACCEPTED", actor, accepted),
    JOB_RECORDS.make("PLAN", actor, plan),
  ]);
}

function toBase(posting: TeamPosting | null) {
  if (posting === null) return {};
  const { repository_id: repository, base_commit: commit, base_tree: tree } = posting;
  return repository === null || commit === null || tree === null ? {} : { base: { repository, commit, tree } };
}

/** Puts what the steps need into the content store, before anything says that it is there. */
async function storePayloads(content: ContentStore, { payloads }: Planned): Promise<void> {
  const waiting = payloads.values();
  const storeRest = async () => {
    for (const { load } of waiting) await content.put(await load());
  };
  await Promise.all(Array.from({ length: STORED_AT_ONCE }, storeRest));
}

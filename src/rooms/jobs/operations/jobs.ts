import { z } from "zod";
import { formatCanonical, type JsonValue, parseJson, utf8Length } from "../../../core/canonical/index.ts";
import { budgets, count, hashHex, uuid } from "../../../core/contracts/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, READER, REVIEWER } from "../../../core/operation.ts";
import type { LocalFiles } from "../../../core/ports.ts";
import { mapBudgets, type Totals } from "../../../core/text/index.ts";
import { receiptSchema } from "../contracts/receipt-shape.ts";
import { planSchema, stepSchema } from "../contracts/step-shape.ts";
import { MAX_MESSAGE_BYTES, messageTooLarge, toMessage } from "../message/message.ts";
import { type PostPorts, postMessage, type TeamPosting } from "../message/post.ts";
import { planMessage } from "../plan/plan.ts";
import { cancelJob } from "../steps/cancel.ts";
import { type RunPorts, requireSuccess, runJob, runWorkers } from "../steps/job-run.ts";
import { requireJob } from "../steps/job-state.ts";
import { jobHead, jobId, jobLine, jobStatus, readStatus, toBreach, toJobHead, toJobLine } from "../steps/job-view.ts";
import { hasOpenIntent, requestCancel, retryJob, waitForJob } from "../steps/team-job.ts";

/** Everything the operations on jobs need. */
export interface JobPorts extends PostPorts, RunPorts {
  readonly files: LocalFiles;
  /** Whether the caller's files are here. */
  readonly local: boolean;
  /** Calls back when someone wants the work to end, until the result is called. */
  listen(onInterrupt: () => void): () => void;
  /** Where jobs are run by the workers of a team; null where they run here. */
  readonly team: JobTeam | null;
}

export interface JobTeam {
  /** Where a job goes: its repository and the commit its effects begin from. REPOSITORY_UNKNOWN, REPOSITORY_MISMATCH. */
  place(
    hasEffects: boolean,
    asked: { repository?: string | undefined; at?: string | undefined; needs: string },
  ): Promise<TeamPosting>;
  /** Lets a worker merge the branch of a job that succeeded, and waits for it as long as the signal is not given. */
  land(jobId: string, onto: string, stop: AbortSignal): Promise<JobLanding>;
}

/** What became of a merge. */
interface JobLanding {
  readonly land_id: string;
  readonly state: "queued" | "landed" | "refused";
  readonly commit: string | null;
  readonly code: string | null;
  readonly message: string | null;
}

const MAX_WORKERS = 16;

const source = {
  file: z.string().optional().describe("File with the message; - reads standard input."),
  message: z.unknown().optional().describe("The message itself, instead of a file."),
  run_id: uuid.optional().describe("Run the job belongs to, a UUID (default: a new one)."),
};

/** What a team's job needs to know besides. */
const target = {
  repository: z
    .string()
    .regex(/^[a-z][a-z0-9-]{1,38}$/)
    .optional()
    .describe("Repository of the team whose files the job changes (default: the only one)."),
  at: z
    .string()
    .regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/)
    .optional()
    .describe("Commit that its changes begin from (default: the tip of the default branch)."),
  needs: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,30}$/)
    .default("default")
    .describe("Label that a worker must offer."),
};

function findPosting(
  ports: JobPorts,
  asked: { repository?: string | undefined; at?: string | undefined; needs: string },
) {
  const { team } = ports;
  return team === null ? null : (hasEffects: boolean) => team.place(hasEffects, asked);
}

const workers = z.int().min(1).max(MAX_WORKERS).default(1).describe("How many steps may run at the same time.");

const page = {
  after: count.default(0).describe("Only steps after this one, by its number in the job."),
  limit: z.int().min(1).max(1000).optional().describe("Maximum number of steps."),
};

function takePage<T extends { readonly ordinal: number }>(
  rows: readonly T[],
  { after, limit }: z.output<z.ZodObject<typeof page>>,
): T[] {
  return rows.filter(({ ordinal }) => ordinal > after).slice(0, limit);
}

/** The message of an input as its text said it, and the run it is for. */
async function readInput(ports: JobPorts, input: z.output<z.ZodObject<typeof source>>) {
  const run_id = input.run_id ?? ports.ids.uuid();
  return { run_id, value: await readMessage(ports, input) };
}

async function readMessage(ports: JobPorts, { file, message }: { file?: string | undefined; message?: unknown }) {
  if ((file === undefined) === (message === undefined)) {
    throw new VerbatimError("INPUT_INVALID", { message: "give either a file or a message" });
  }
  if (file === undefined) return parseText(JSON.stringify(message) ?? "");
  if (!ports.local) throw new VerbatimError("INPUT_INVALID", { message: "only local callers can have files read" });
  return parseJson(await readBounded(ports.files, file), { file });
}

function parseText(text: string): JsonValue {
  const bytes = utf8Length(text);
  if (bytes > MAX_MESSAGE_BYTES) throw messageTooLarge(bytes);
  return parseJson(text);
}

async function readBounded(files: LocalFiles, file: string): Promise<Uint8Array> {
  try {
    return await files.read(file, MAX_MESSAGE_BYTES);
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "FILE_TOO_LARGE") throw messageTooLarge(null, file);
    throw thrown;
  }
}

const jobPlan = defineOperation({
  name: "jobs.plan",
  summary: "Shows what a message would do, without writing anything: steps, resolved content, charges, breach.",
  effect: "read",
  who: READER,
  input: z.strictObject(source),
  output: jobHead.extend({
    steps: z.array(z.strictObject({ step: stepSchema, resolved: planSchema.shape.resolved.element, used: budgets })),
    budgets,
  }),
  async run(ports: JobPorts, input) {
    const { value, run_id } = await readInput(ports, input);
    const planned = await planMessage(ports, toMessage(value), run_id);
    const { cumulative, breach } = planned.budget;
    return {
      ...toJobHead({ ...planned, breach }),
      steps: planned.steps.map(({ step, resolved }, i) => ({
        step,
        resolved,
        // Nothing after the breach is charged.
        used: toNumbers(cumulative[i] ?? cumulative.at(-1)!),
      })),
      budgets: planned.message.budgets,
      breach: toBreach(breach),
    };
  },
});

function toNumbers(totals: Totals) {
  return mapBudgets((name) => Number(totals[name]));
}

const jobPost = defineOperation({
  name: "jobs.post",
  summary: "Checks a message, plans it and stores it as a job; the same message in the same run is the same job.",
  effect: "append",
  who: REVIEWER,
  input: z.strictObject({ ...source, ...target }),
  output: jobHead.extend({ steps: count, existing: z.boolean() }),
  async run(ports: JobPorts, input) {
    const { value, run_id } = await readInput(ports, input);
    const { job, existing } = await postMessage(ports, value, run_id, findPosting(ports, input));
    return { ...toJobHead(job), steps: job.step_count, existing };
  },
});

/** Runs a job until it ends or someone interrupts; steps that were begun are ended first. */
async function runToEnd(ports: JobPorts, id: string, count: number) {
  const stop = new AbortController();
  const unlisten = ports.listen(() => stop.abort());
  try {
    if (ports.team === null) await runJob(ports, id, { workers: count, stop: stop.signal });
    else await waitForTeam(ports, id, stop.signal);
  } finally {
    unlisten();
  }
  const status = await ports.store.read((tx) => readStatus(tx, id));
  if (status.state !== "SUCCEEDED") {
    throw new VerbatimError("INTERRUPTED", {
      message: `the job is not finished; completed steps stay completed`,
      fix: { cli: `Continue it: verbatim job run ${id}`, others: "Run the job again: it goes on where it stopped." },
      details: { job_id: id },
    });
  }
  return status;
}

async function waitForTeam(ports: JobPorts, id: string, stop: AbortSignal): Promise<void> {
  const onSteps = (done: number, total: number) => ports.progress.report({ label: "steps", done, total });
  if (await waitForJob({ ...ports, onSteps }, id, stop)) await ports.store.read(({ jobs }) => requireSuccess(jobs, id));
}

const jobRun = defineOperation({
  name: "jobs.run",
  summary: "Runs a job until it is done or has failed.",
  effect: "mutate",
  who: REVIEWER,
  input: z.strictObject({ job_id: jobId, workers }),
  output: jobStatus,
  run: (ports: JobPorts, input) => runToEnd(ports, input.job_id, input.workers),
});

const jobSubmit = defineOperation({
  name: "jobs.submit",
  summary: "Posts a message and runs its job.",
  effect: "mutate",
  who: REVIEWER,
  input: z.strictObject({ ...source, ...target, workers }),
  output: jobStatus,
  async run(ports: JobPorts, input) {
    const { value, run_id } = await readInput(ports, input);
    const { job } = await postMessage(ports, value, run_id, findPosting(ports, input));
    return runToEnd(ports, job.job_id, input.workers);
  },
});

const jobWorker = defineOperation({
  name: "jobs.worker",
  summary: "Runs steps of any open job, oldest job first, until interrupted.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    workers,
    once: z.boolean().default(false).describe("Stop when there is nothing to claim."),
  }),
  output: z.strictObject({ steps: count }),
  async run(ports: JobPorts, input) {
    if (ports.team !== null) throw new VerbatimError("USE_WORKER");
    const stop = new AbortController();
    const unlisten = ports.listen(() => stop.abort());
    try {
      return { steps: await runWorkers(ports, { ...input, stop: stop.signal }) };
    } finally {
      unlisten();
    }
  },
});

/** Fails the next step here, or has the worker that holds it stopped. False when the job is over already. */
async function endJob(ports: JobPorts, id: string): Promise<boolean> {
  const { store, team, pauses } = ports;
  if (team === null || !(await hasOpenIntent(store, id))) {
    try {
      return (await cancelJob(ports, id, ports.actor)).ordinal !== null;
    } catch (thrown) {
      if (team === null || !isVerbatimError(thrown) || thrown.code !== "JOB_BUSY") throw thrown;
    }
  }
  const asked = await requestCancel(store, id, ports.actor);
  if (asked) await waitForJob({ store, pauses, onSteps: () => undefined }, id, AbortSignal.timeout(CANCEL_MS));
  return asked;
}

// The lease of an owner that is gone, and the queue's next look.
const CANCEL_MS = 20_000;

const jobRetry = defineOperation({
  name: "jobs.retry",
  summary: "Sends a team's job again that used up its retries or that its queue lost.",
  effect: "append",
  who: REVIEWER,
  input: z.strictObject({ job_id: jobId }),
  output: z.strictObject({ job_id: jobId, sent: z.boolean() }),
  async run(ports: JobPorts, { job_id }) {
    if (ports.team === null) throw new VerbatimError("DATABASE_NOT_SET", { where: "VERBATIM_DATABASE_URL" });
    return { job_id, sent: await retryJob(ports.store, job_id) };
  },
});

const jobCancel = defineOperation({
  name: "jobs.cancel",
  summary: "Cancels a job by failing its next step, so that nothing after it runs.",
  effect: "append",
  who: REVIEWER,
  input: z.strictObject({ job_id: jobId }),
  output: jobStatus.extend({ cancelled: z.boolean() }),
  async run(ports: JobPorts, { job_id }) {
    const cancelled = await endJob(ports, job_id);
    const status = await ports.store.read((tx) => readStatus(tx, job_id));
    return { ...status, cancelled };
  },
});

const jobStatusShow = defineOperation({
  name: "jobs.status",
  summary: "Shows a job and the state of each of its steps.",
  effect: "read",
  who: READER,
  input: z.strictObject({ job_id: jobId, ...page }),
  output: jobStatus,
  run: ({ store }: JobPorts, { job_id, ...asked }) =>
    store.read(async (tx) => {
      const { steps, ...status } = await readStatus(tx, job_id);
      return { ...status, steps: takePage(steps, asked) };
    }),
});

const jobList = defineOperation({
  name: "jobs.list",
  summary: "Lists jobs in order of creation.",
  effect: "read",
  who: READER,
  input: z.strictObject({
    after: count.default(0).describe("Only jobs created after the one with this number."),
    limit: z.int().min(1).max(1000).default(100).describe("Maximum number of jobs."),
    open: z.boolean().default(false).describe("Only jobs that are not finished."),
  }),
  output: z.strictObject({ jobs: z.array(jobLine), more: z.boolean() }),
  run: ({ store }: JobPorts, { after, limit, open }) =>
    store.read(async ({ jobs }) => {
      const page = open ? await jobs.openJobsAfter(after, limit + 1) : await jobs.jobsAfter(after, limit + 1);
      const lines = [];
      for (const facts of page.slice(0, limit)) lines.push(await toJobLine(jobs, facts));
      return { jobs: lines, more: page.length > limit };
    }),
});

const jobReceipts = defineOperation({
  name: "jobs.receipts",
  summary: "Shows the receipts of a job in the order of its steps.",
  effect: "read",
  who: READER,
  input: z.strictObject({ job_id: jobId, ...page }),
  output: z.strictObject({
    job_id: jobId,
    receipts: z.array(z.strictObject({ ordinal: count, receipt_hash: z.string(), receipt: receiptSchema })),
  }),
  run: ({ store }: JobPorts, { job_id, ...asked }) =>
    store.read(async ({ jobs }) => {
      await requireJob(jobs, job_id);
      const rows = takePage(await jobs.receipts(job_id), asked);
      return { job_id, receipts: rows.map(({ step_id: _, ...row }) => row) };
    }),
  async *lines({ store }: JobPorts, { job_id, ...asked }) {
    const rows = await store.read(async ({ jobs }) => {
      await requireJob(jobs, job_id);
      return takePage(await jobs.receipts(job_id), asked);
    });
    for (const { receipt } of rows) yield formatCanonical(receipt);
  },
});

const jobReceipt = defineOperation({
  name: "jobs.receipt",
  summary: "Shows one receipt by its hash.",
  effect: "read",
  who: READER,
  input: z.strictObject({ receipt_hash: hashHex.describe("Hash of the receipt: 64 hex digits.") }),
  output: z.strictObject({ job_id: jobId, ordinal: count, receipt_hash: hashHex, receipt: receiptSchema }),
  run: ({ store }: JobPorts, { receipt_hash }) =>
    store.read(async ({ jobs }) => {
      const found = await jobs.receipt(receipt_hash);
      if (found === null) throw new VerbatimError("RECEIPT_UNKNOWN", { details: { receipt_hash } });
      const { job_id, ordinal, receipt } = found;
      return { job_id, ordinal, receipt_hash, receipt };
    }),
});

/** The operations on jobs. */
export const JOB_OPERATIONS = [
  jobPlan,
  jobPost,
  jobRun,
  jobSubmit,
  jobWorker,
  jobCancel,
  jobRetry,
  jobStatusShow,
  jobList,
  jobReceipts,
  jobReceipt,
] as const;

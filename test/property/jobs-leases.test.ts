import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { LeaseTable } from "../../src/rooms/jobs/conformance-leases.ts";
import type { StepRow } from "../../src/rooms/jobs/ports.ts";
import { claimStep, finishStep, renewLease } from "../../src/rooms/jobs/steps/queue.ts";
import {
  toExecuteOutcome,
  toFailureOutcome,
  toReadOutcome,
  toWriteOutcome,
} from "../../src/rooms/jobs/steps/receipt.ts";
import { makeMessage, read } from "../support/job-corpus.ts";
import { execute, makePatch, TestExecutePort, TestPatchPort, write } from "../support/job-rooms.ts";
import {
  createPostgresJobs,
  createSqliteJobs,
  type JobHarness,
  type JobPortsOfTest,
  post,
  RUN,
  readJob,
} from "../support/job-store.ts";
import { needs } from "../support/needs.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";

// The lease rules in memory are the model; a database that follows them answers every question alike.

const TTL = 100;
type Op = "READ" | "WRITE" | "EXECUTE";

const event = fc.record({
  do: fc.constantFrom("claim", "claim", "claim", "renew", "commit", "commit", "commit", "fail"),
  wait: fc.constantFrom(0, 1, 30, 99, 100, 101),
  worker: fc.constantFrom("mira", "tomas", "ines"),
  ordinal: fc.integer({ min: 1, max: 4 }),
  token: fc.integer({ min: 0, max: 3 }),
  /** Most events are about the step that was claimed last, by who claimed it: others are refused at once. */
  last: fc.boolean(),
});

const plan = fc.record({
  ops: fc.array(fc.constantFrom<Op>("READ", "READ", "WRITE", "EXECUTE"), { minLength: 1, maxLength: 4 }),
  expands: fc.integer({ min: 0, max: 4 }),
  events: fc.array(event, { maxLength: 25 }),
});

interface Plan {
  readonly ops: readonly Op[];
  readonly expands: number;
  readonly events: readonly (typeof event extends fc.Arbitrary<infer T> ? T : never)[];
}

const FAILURE = { code: "CONTENT_STORE_CORRUPT", details: {} };
let intents = 0;

async function compare(harness: JobHarness, ports: JobPortsOfTest, { ops, expands, events }: Plan): Promise<void> {
  const budgets = { ...makeMessage([]).budgets, max_expands_per_step: expands };
  const message = makeMessage(ops.map(toOp), { budgets, intent: `watch ${intents++}` });
  const id = await post(ports, message);
  const job = (await ports.store.read(({ jobs }) => jobs.job(id)))!;
  const model = new LeaseTable(ops, TTL, job.breach_ordinal);
  const rows = await ports.store.read(({ jobs }) => jobs.steps(id));
  let last = { ordinal: 1, worker: "mira", token: 1 };
  for (const one of events) {
    harness.clock.advance(one.wait);
    const now = harness.clock.now();
    const { ordinal, worker, token } = one.last ? last : one;
    const row = rows[ordinal - 1];
    if (one.do === "claim") {
      const answer = await claimStep(ports, { job_id: id }, { name: worker, lease_ms: TTL });
      const expected = model.claim(worker, now);
      expect(typeof answer === "string" ? answer : toAnswer(answer)).toEqual(expected);
      if (typeof expected === "object") last = { ...expected, worker };
    } else if (row !== undefined) {
      const held = { job_id: id, ordinal, worker, token };
      if (one.do === "renew") {
        const expected = model.renew(ordinal, held, now);
        expect(await renewLease(ports, held, TTL)).toEqual(typeof expected === "string" ? expected : null);
      } else {
        const status = one.do === "commit" && job.breach_ordinal !== ordinal ? "COMMITTED" : "FAILED";
        const outcome = status === "COMMITTED" ? succeed(row) : toFailureOutcome(RUN, row.step, FAILURE);
        const answer = await finishStep(ports, held, outcome);
        expect("done" in answer ? answer.done : answer.refused).toBe(model.finish(ordinal, status, held, now));
      }
    }
    expect((await readJob(ports, id)).statuses).toEqual(model.statuses);
  }
}

function toOp(op: Op) {
  if (op === "WRITE") return write("@CANON/TIDES", makePatch({ "LAW/CANON/TIDES.md": "new\n" }));
  return op === "READ" ? read("@TOOLS/BELL") : execute("@TOOLS/COUNT");
}

function succeed(row: StepRow) {
  if (row.step.op === "WRITE") return toWriteOutcome(RUN, row);
  if (row.step.op !== "EXECUTE") return toReadOutcome(RUN, row);
  return toExecuteOutcome(RUN, row, { catalytic_run_id: `${row.step.step_id}-1`, proof_hash: "0".repeat(64) });
}

function toAnswer({ step, fencing_token, lease_expires_ms }: StepRow) {
  return { ordinal: step.ordinal, token: fencing_token, expires: lease_expires_ms };
}

const postgres = await usePostgres();
let database: TestDatabase | undefined;

const stores = [
  { name: "SQLite", reason: null, runs: 100, create: () => createSqliteJobs() },
  { name: "PostgreSQL", reason: postgres.reason, runs: 30, create: () => createPostgresJobs(database!) },
];

describe.each(stores)("leases in $name", ({ reason, runs, create }) => {
  let harness: JobHarness;

  beforeAll(async () => {
    if (postgres.reason === null) database ??= await postgres.createDatabase();
  });

  afterAll(async () => {
    await database?.drop();
    database = undefined;
  });

  beforeEach(async () => {
    if (reason === null) harness = await create();
  });

  afterEach(async () => {
    if (reason === null) await harness.destroy();
  });

  it("follow the rules whoever asks for what and when", needs(reason), async () => {
    const opened = await harness.open();
    opened.corpus.add("@TOOLS/COUNT", "TOOLS/COUNT.json", '{"jobspec":"count"}');
    const ports = {
      ...opened,
      patch: new TestPatchPort(harness.folder),
      execute: new TestExecutePort(harness.folder),
    };
    await fc.assert(
      fc.asyncProperty(plan, (one) => compare(harness, ports, one)),
      { numRuns: runs, seed: 4 },
    );
  });
});

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { JobsStore, StepRow } from "../../src/rooms/jobs/ports.ts";
import { claimStep, type Finish, finishStep, toHeld } from "../../src/rooms/jobs/steps/queue.ts";
import { toReadOutcome } from "../../src/rooms/jobs/steps/receipt.ts";
import { makeMessage, read } from "../support/job-corpus.ts";
import { createPostgresJobs, type JobPortsOfTest, post, RUN, readJob } from "../support/job-store.ts";
import { needs } from "../support/needs.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";
import { describeJobs } from "./jobs-suite.ts";

const postgres = await usePostgres();

describe("jobs in PostgreSQL", needs(postgres.reason), () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await postgres.createDatabase();
  });

  afterAll(async () => {
    await database.drop();
  });

  describeJobs(() => createPostgresJobs(database));

  it("a step that someone holds in an open transaction is skipped, not waited for", async () => {
    const harness = await createPostgresJobs(database);
    onTestFinished(() => harness.destroy());
    const [one, two] = [await harness.open(), await harness.open()];
    const id = await post(one, makeMessage([read("@TOOLS/BELL"), read("@CANON/LAMPS")]));
    const worker = { name: "tomas", lease_ms: 1000 };
    const ordinals = await one.store.transact(async ({ jobs }) => {
      const { candidates } = await jobs.viewForClaim(id);
      const claim = await claimStep(two, { job_id: id }, worker);
      return [candidates[0]?.ordinal, typeof claim === "object" ? claim.step.ordinal : claim];
    });
    expect(ordinals).toEqual([1, 2]);
  });

  const MIRA = { name: "mira", lease_ms: 1000 };
  const TOMAS = { name: "tomas", lease_ms: 1000 };

  /** Ports whose next write stops for `meanwhile`: after its first look at the step, or before it commits. */
  function stopping(ports: JobPortsOfTest, where: "looked" | "written", meanwhile: () => Promise<void>) {
    const transact: JobsStore["transact"] = (fn) =>
      ports.store.transact(async (tx) => {
        const look = tx.jobs.viewForChange.bind(tx.jobs);
        if (where === "looked") {
          tx.jobs.viewForChange = async (place) => {
            const view = await look(place);
            await meanwhile();
            return view;
          };
        }
        const result = await fn(tx);
        if (where === "written") await meanwhile();
        return result;
      });
    return { ...ports, store: { ...ports.store, transact } as JobsStore };
  }

  it("a step that is finished while the one before it is being finished waits for it, and both are committed", async () => {
    const harness = await createPostgresJobs(database);
    onTestFinished(() => harness.destroy());
    const [one, two] = [await harness.open(), await harness.open()];
    const id = await post(one, makeMessage([read("@TOOLS/BELL"), read("@CANON/LAMPS")]));
    const first = (await claimStep(one, { job_id: id }, MIRA)) as StepRow;
    const second = (await claimStep(two, { job_id: id }, TOMAS)) as StepRow;
    let later: Promise<Finish | null> = Promise.resolve(null);
    const slow = stopping(one, "written", async () => {
      let isDone = false;
      later = finishStep(two, toHeld(second, TOMAS), toReadOutcome(RUN, second)).finally(() => {
        isDone = true;
      });
      // Until the second waits for a lock, or answered without waiting.
      const waiting = "select 1 from pg_locks where locktype = 'advisory' and not granted";
      while (!isDone && (await harness.raw(waiting)).length === 0);
    });
    expect(await finishStep(slow, toHeld(first, MIRA), toReadOutcome(RUN, first))).toEqual({ done: "COMMITTED" });
    expect(await later).toEqual({ done: "COMMITTED" });
    expect((await readJob(one, id)).statuses).toEqual(["COMMITTED", "COMMITTED"]);
  });

  it("a step that is being finished is nobody else's, though its lease runs out in that moment", async () => {
    const harness = await createPostgresJobs(database);
    onTestFinished(() => harness.destroy());
    const [one, two] = [await harness.open(), await harness.open()];
    const id = await post(one, makeMessage([read("@TOOLS/BELL")]));
    const row = (await claimStep(one, { job_id: id }, MIRA)) as StepRow;
    let taken: unknown = null;
    const slow = stopping(one, "looked", async () => {
      harness.clock.advance(1000);
      taken = await claimStep(two, { job_id: id }, TOMAS);
    });
    expect(await finishStep(slow, toHeld(row, MIRA), toReadOutcome(RUN, row))).toEqual({ done: "COMMITTED" });
    expect(taken).toBe("NO_STEP");
    const { statuses, receipts } = await readJob(one, id);
    expect([statuses, receipts.length]).toEqual([["COMMITTED"], 1]);
  });
});

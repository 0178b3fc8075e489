import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { PostgresStore } from "../../src/adapters/postgres/store.ts";
import { JOBS_CHANNEL } from "../../src/rooms/jobs/ports.ts";
import { claimStep } from "../../src/rooms/jobs/queue.ts";
import { makeMessage, read } from "../support/job-corpus.ts";
import { createPostgresJobs, post } from "../support/job-store.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";
import { describeJobs } from "./jobs-suite.ts";

const postgres = await usePostgres();

describe.skipIf(postgres.reason !== null)("jobs in PostgreSQL", () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await postgres.createDatabase();
  });

  afterAll(async () => {
    await database.drop();
  });

  describeJobs(() => createPostgresJobs(database));

  it("a job that is posted on one connection wakes workers that listen on another", async () => {
    const harness = await createPostgresJobs(database);
    onTestFinished(() => harness.destroy());
    const [poster, listener] = [await harness.open(), await harness.open()];
    const store = listener.store as unknown as PostgresStore<Record<never, never>>;
    await store.subscribe(JOBS_CHANNEL, () => listener.pauses.wake());
    const woken = listener.pauses.pause(600_000);
    await post(poster, makeMessage([read("@TOOLS/BELL")]));
    await expect(woken).resolves.toBeUndefined();
  });

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
});

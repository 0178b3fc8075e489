import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildChild, type ChildProgram } from "../support/child.ts";
import { killWorkers } from "../support/job-kill.ts";
import { createPostgresJobs, createSqliteJobs, type JobHarness } from "../support/job-store.ts";
import { needs } from "../support/needs.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";

const postgres = await usePostgres();
let database: TestDatabase | undefined;

const stores = [
  { name: "SQLite", reason: null, jobs: 25, create: () => createSqliteJobs() },
  { name: "PostgreSQL", reason: postgres.reason, jobs: 10, create: () => createPostgresJobs(database!) },
];

describe.each(stores)("killing workers over $name", ({ reason, jobs, create }) => {
  let program: ChildProgram;
  let harness: JobHarness;

  beforeAll(async () => {
    if (reason !== null) return;
    if (postgres.reason === null) database ??= await postgres.createDatabase();
    program = await buildChild("test/fault/children/job-worker.ts");
    harness = await create();
  });

  afterAll(async () => {
    if (reason !== null) return;
    program.remove();
    await harness.destroy();
    await database?.drop();
    database = undefined;
  });

  it(`leaves ${jobs} jobs with exactly the receipts that one undisturbed worker would have left`, {
    ...needs(reason),
    timeout: 300_000,
  }, async () => {
    const report = await killWorkers(harness, program, jobs, 11);
    expect(report.errors).toEqual([]);
    expect(report.kills).toBeGreaterThanOrEqual(5);
    expect(report.ends).toEqual(report.expected);
    expect(report.files).toEqual(report.expectedFiles);
  });
});

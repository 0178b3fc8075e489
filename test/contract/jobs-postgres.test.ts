import { afterAll, beforeAll, describe } from "vitest";
import { createPostgresJobs } from "../support/job-store.ts";
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
});

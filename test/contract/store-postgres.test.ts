import { afterAll, beforeAll, describe } from "vitest";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";
import { createPostgresHarness } from "../support/stores.ts";
import { describeStore } from "./store-suite.ts";

const postgres = await usePostgres();

describe.skipIf(postgres.reason !== null)("a store in PostgreSQL", () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await postgres.createDatabase();
  });

  afterAll(async () => {
    await database.drop();
  });

  describeStore(() => createPostgresHarness(database));
});

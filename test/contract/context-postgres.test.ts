import { afterAll, beforeAll, describe } from "vitest";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";
import { describeContext } from "./context-suite.ts";

const postgres = await usePostgres();

describe.skipIf(postgres.reason !== null)("the context room on PostgreSQL", () => {
  let database: TestDatabase;
  let schemas = 0;
  beforeAll(async () => {
    database = await postgres.createDatabase();
  });
  afterAll(() => database.drop());

  describeContext(() => {
    const options = encodeURIComponent(`-c search_path=context_${schemas++}`);
    return { VERBATIM_DATABASE_URL: `${database.url}&options=${options}` };
  });
});

import { afterAll, beforeAll, describe } from "vitest";
import { needs } from "../support/needs.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";
import { describeContext } from "./context-suite.ts";

const postgres = await usePostgres();

describe("the context room on PostgreSQL", needs(postgres.reason), () => {
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

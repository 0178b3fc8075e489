import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { migratePostgres } from "../../src/adapters/sql/postgres/store.ts";
import { fixedPorts } from "../support/fixed-ports.ts";
import { needs } from "../support/needs.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";
import { describeContext } from "./context-suite.ts";

const postgres = await usePostgres();

describe("the context room on PostgreSQL", needs(postgres.reason), () => {
  let database: TestDatabase;
  let schemas = 0;
  const unused: string[] = [];
  beforeAll(async () => {
    database = await postgres.createDatabase({ empty: true });
  });
  afterAll(() => database.drop());
  // A test opens a workspace or two, each with a store of its own.
  beforeEach(async () => {
    while (unused.length < 2) {
      const options = encodeURIComponent(`-c search_path=context_${schemas++}`);
      const url = `${database.url}&options=${options}`;
      await migratePostgres({ ...fixedPorts(), url });
      unused.push(url);
    }
  });

  describeContext(() => ({ VERBATIM_DATABASE_URL: unused.shift() }));
});

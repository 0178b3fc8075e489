import { afterAll, beforeAll, describe } from "vitest";
import { needs } from "../support/needs.ts";
import { type TestDatabase, usePostgres } from "../support/postgres.ts";
import { createPostgresHarness } from "../support/stores.ts";
import { describeContentStore } from "./content-store-suite.ts";

const postgres = await usePostgres();

describe("a content store in PostgreSQL", needs(postgres.reason), () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await postgres.createDatabase();
  });

  afterAll(async () => {
    await database.drop();
  });

  describeContentStore(async () => {
    const harness = await createPostgresHarness(database);
    const store = await harness.open();
    return {
      content: store.content,
      store,
      clock: harness.clock,
      async damage(hash, bytes) {
        const hex = Buffer.from(bytes).toString("hex");
        await harness.raw(`update content set bytes = decode('${hex}', 'hex') where hash = '${hash}'`);
      },
      async lose(hash) {
        await harness.raw(`delete from content where hash = '${hash}'`);
      },
      destroy: () => harness.destroy(),
    };
  });
});

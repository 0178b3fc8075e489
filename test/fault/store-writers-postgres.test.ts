import { describe } from "vitest";
import { openPostgresStore } from "../../src/adapters/sql/postgres/store.ts";
import { fixedPorts } from "../support/fixed-ports.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { describeWriters } from "./store-writers-suite.ts";

const postgres = await usePostgres();

describe("a store in PostgreSQL shared by processes", needs(postgres.reason), () => {
  describeWriters(async () => {
    const database = await postgres.createDatabase({ durable: true });
    const { url } = database;
    return {
      place: ["postgres", url],
      async readAll() {
        const store = await openPostgresStore({ ...fixedPorts(), url });
        const all = await store.read((tx) => tx.ledger.readAll(0, 100_000));
        await store.close();
        return all;
      },
      destroy: () => database.drop(),
    };
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import { openSqliteStore } from "../../src/adapters/sql/sqlite/store.ts";
import { fixedPorts } from "../support/fixed-ports.ts";
import { describeWriters } from "./store-writers-suite.ts";

describe("a store in SQLite shared by processes", () => {
  describeWriters(async () => {
    const folder = mkdtempSync(join(tmpdir(), "verbatim-shared-"));
    const path = join(folder, "store.db");
    return {
      place: ["sqlite", path],
      async readAll() {
        const store = await openSqliteStore({ ...fixedPorts(), path });
        const all = await store.read((tx) => tx.ledger.readAll(0, 100_000));
        await store.close();
        return all;
      },
      destroy: async () => rmSync(folder, { recursive: true, force: true }),
    };
  });
});

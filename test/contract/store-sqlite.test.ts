import { describe } from "vitest";
import { createSqliteHarness } from "../support/stores.ts";
import { describeStore } from "./store-suite.ts";

describe("a store in SQLite", () => {
  describeStore(createSqliteHarness);
});

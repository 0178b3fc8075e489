import { describe } from "vitest";
import { describeContext } from "./context-suite.ts";

describe("the context room on SQLite", () => {
  describeContext(() => ({}));
});

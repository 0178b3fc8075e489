import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ALL_CODES } from "../../tools/raised-table.ts";
import { makeSmallSuite, type SmallSuite } from "../support/small-suite.ts";

// Guards: a whole run in which some code was raised by no test is a failed run, and a part of one says nothing.

const PINS = "test/pins/codes-not-raised.json";
const others = Object.fromEntries(
  [...ALL_CODES].filter((code) => code !== "USAGE" && code !== "STORE_BUSY").map((code) => [code, "not here"]),
);
const SOURCE = `import { VerbatimError } from "./core/errors/index.ts";
export function refuse() { return new VerbatimError("USAGE"); }
`;
const TEST = `import { refuse } from "../src/refuse.ts";
it("raises", () => expect(refuse().code).toBe("USAGE"));`;

describe("a run of tests", () => {
  let suite: SmallSuite;
  let runs = 0;

  beforeAll(() => {
    suite = makeSmallSuite();
  });
  afterAll(() => suite.remove());

  function run(exceptions: object, more: Readonly<Record<string, string>> = {}, args: readonly string[] = []) {
    const env = { VERBATIM_RAISED_FOLDER: join(suite.folder, `raised-${++runs}`) };
    const files = {
      [PINS]: JSON.stringify({ never: others, sometimes: {}, ...exceptions }),
      "src/refuse.ts": SOURCE,
      "test/a.test.ts": TEST,
      "test/b.test.ts": TEST,
      ...more,
    };
    const { status, last, stdout } = suite.run(files, args, env);
    return { status, last, said: stdout.split("\n").filter((line) => line.startsWith("codes: ")) };
  }

  it("fails as a whole when a code was raised by nobody, and names it", () => {
    expect(run({})).toEqual({
      status: 1,
      last: "2 passed, 1 failed, 0 skipped",
      said: ["codes: STORE_BUSY was raised by no test"],
    });
  });

  it("does not count an error that only a test has made", () => {
    const own = `import { VerbatimError } from "../src/core/errors/index.ts";
      it("makes one", () => expect(new VerbatimError("STORE_BUSY").exit).toBe(4));`;
    expect(run({}, { "test/b.test.ts": own }).said).toEqual(["codes: STORE_BUSY was raised by no test"]);
  });

  it("fails when a code was raised of which it is said that nothing can", () => {
    const { status, said } = run({ never: { ...others, USAGE: "cannot be", STORE_BUSY: "cannot be" } });
    expect([status, said]).toEqual([1, ["codes: USAGE is listed as never raised, and was raised"]]);
  });

  it("passes with a code that some machines do not raise, raised or not", () => {
    const sometimes = { USAGE: "only as root", STORE_BUSY: "only as root" };
    expect(run({ sometimes })).toEqual({ status: 0, last: "2 passed, 0 failed, 0 skipped", said: [] });
  });

  it.each([[["test/a.test.ts"]], [["-t", "raises"]], [["--shard", "1/2"]]])("says nothing about a part: %s", (args) => {
    expect(run({}, {}, args)).toMatchObject({ status: 0, said: [] });
  });
});

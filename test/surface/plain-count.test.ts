import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeSmallSuite, type SmallSuite } from "../support/small-suite.ts";

// Guards: the last line of a run tells the truth. A run that could not start must not read as a run without failures.

describe("the count at the end of a test run", () => {
  let suite: SmallSuite;
  const run = (files: Readonly<Record<string, string>>, ...args: string[]) => suite.run(files, args);

  beforeEach(() => {
    suite = makeSmallSuite();
  });
  afterEach(() => suite.remove());

  it("counts what passed and names what was skipped and why", () => {
    const skipped = 'it("needs a kernel", (context) => context.skip("no overlay here"));';
    const { status, last, stdout } = run({ "test/a.test.ts": `it("holds", () => expect(1).toBe(1));\n${skipped}` });
    expect(last).toBe("1 passed, 0 failed, 1 skipped");
    expect(stdout).toContain("skipped: test/a.test.ts > needs a kernel (no overlay here)");
    expect(status).toBe(0);
  });

  it("counts a failing test, a file that does not load and an error nobody caught", () => {
    const { status, last } = run({
      "test/fails.test.ts": 'it("fails", () => expect(1).toBe(2));',
      "test/lost.test.ts": 'import "./nowhere.ts";\nit("never runs", () => expect(1).toBe(1));',
      "test/late.test.ts":
        'it("leaks", async () => {\n  void Promise.reject(new Error("late"));\n  await new Promise((r) => setImmediate(r));\n  expect(1).toBe(1);\n});',
    });
    expect(last).toBe("1 passed, 3 failed, 0 skipped");
    expect(status).toBe(1);
  });

  it("names the reason of a test or a group that was left out before anything ran, or says that there is none", () => {
    const needs = '{ skip: true, meta: { skipReason: "no server here" } }';
    const body = '() => {\n  it("a", () => expect(1).toBe(1));\n}';
    const silent = `describe.skip("silent", ${body});`;
    const named = `describe("named", ${needs}, ${body});`;
    const inside = `describe("each", () => {\n  it("a", ${needs}, () => expect(1).toBe(1));\n});`;
    const alone = `it.runIf(false)("alone", () => expect(1).toBe(1));\nit("other", ${needs}, () => expect(1).toBe(1));`;
    const { last, stdout } = run({ "test/a.test.ts": [silent, named, inside, alone].join("\n") });
    expect(last).toBe("0 passed, 0 failed, 5 skipped");
    expect(stdout).toContain("skipped: test/a.test.ts > silent > all 1 (no reason given)");
    expect(stdout).toContain("skipped: test/a.test.ts > alone (no reason given)");
    expect(stdout).toContain("skipped: test/a.test.ts > named > all 1 (no server here)");
    expect(stdout).toContain("skipped: test/a.test.ts > each > all 1 (no server here)");
    expect(stdout).toContain("skipped: test/a.test.ts > other (no server here)");
  });

  it("counts a setup that throws once and its tests as skipped", () => {
    const broken = 'beforeAll(() => {\n  throw new Error("no");\n});\nit("waits", () => expect(1).toBe(1));';
    const { status, last } = run({ "test/a.test.ts": `describe("group", () => {\n${broken}\n});` });
    expect(last).toBe("0 passed, 1 failed, 1 skipped");
    expect(status).toBe(1);
  });

  it("counts a global setup that throws, and a filter that matches no file", () => {
    const test = { "test/a.test.ts": 'it("holds", () => expect(1).toBe(1));' };
    expect(run(test, "nothing-of-that-name")).toMatchObject({ last: "0 passed, 1 failed, 0 skipped", status: 1 });
    writeFileSync(
      join(suite.folder, "test/support/global-setup.ts"),
      'export function setup() {\n  throw new Error("no");\n}\n',
    );
    expect(run(test)).toMatchObject({ last: "0 passed, 1 failed, 0 skipped", status: 1 });
  });
});

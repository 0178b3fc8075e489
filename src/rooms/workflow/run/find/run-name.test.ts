import { describe, expect, it } from "vitest";
import { isVerbatimError } from "../../../../core/errors/index.ts";
import { resolveRunName } from "./run-name.ts";

const WORDS = { noun: "agent run", list: "verbatim agent list" };
const run = (run_id: string, created_at: string) => ({ run_id, created_at });

/** In no order, as a disk gives them; the one with a name of its own is the newest but one. */
const RUNS = [
  run("20261114-080000-0a1b2c", "2026-11-14T08:00:00.000Z"),
  run("20261116-101500-ffee00", "2026-11-16T10:15:00.000Z"),
  run("lamp", "2026-11-16T09:00:00.000Z"),
  run("20261114-080000-202611", "2026-11-14T08:00:00.000Z"),
];

function refused(name: string, runs = RUNS): unknown {
  try {
    return resolveRunName(runs, name, WORDS);
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    return { code: thrown.code, message: thrown.message, fix: thrown.fix, details: thrown.details };
  }
}

describe("a name of a run", () => {
  it.each([
    ["lamp", "lamp"],
    ["la", "lamp"],
    ["20261116", "20261116-101500-ffee00"],
    ["0a1b2c", "20261114-080000-0a1b2c"],
    ["@", "20261116-101500-ffee00"],
    ["@1", "20261116-101500-ffee00"],
    ["@2", "lamp"],
    // Two of one moment: the order does not depend on who asks.
    ["@3", "20261114-080000-202611"],
    ["@4", "20261114-080000-0a1b2c"],
  ])("%s means %s", (name, id) => {
    expect(resolveRunName(RUNS, name, WORDS)).toBe(id);
    expect(resolveRunName([...RUNS].reverse(), name, WORDS)).toBe(id);
  });

  it("that begins one run and ends another is refused, and both are named", () => {
    expect(refused("202611")).toMatchObject({
      code: "RUN_AMBIGUOUS",
      message:
        '"202611" could be more than one run: 20261116-101500-ffee00, 20261114-080000-202611, 20261114-080000-0a1b2c',
      fix: "Name one of them in full, or by its last six digits.",
    });
  });

  it.each([
    ["@5", "this repository has only 4 agent runs"],
    ["@0", 'this repository has no agent run "@0"'],
    ["@99999999", 'this repository has no agent run "@99999999"'],
    ["1b2c", 'this repository has no agent run "1b2c"'],
    ["", 'this repository has no agent run ""'],
    ["*", 'this repository has no agent run "*"'],
    ["__proto__", 'this repository has no agent run "__proto__"'],
  ])("%s is not found, and the newest runs are named", (name, message) => {
    expect(refused(name)).toMatchObject({
      code: "RUN_NOT_FOUND",
      message: expect.stringContaining(`${message}; the newest are 20261116-101500-ffee00, lamp, `),
      fix: "List them: verbatim agent list",
    });
  });

  it("where there are no runs, or one, is refused in words that fit", () => {
    expect(refused("@", [])).toMatchObject({ code: "RUN_NOT_FOUND", message: "this repository has no agent run yet" });
    expect(refused("@2", [run("lamp", "2026")])).toMatchObject({
      message: "this repository has only one agent run; the newest is lamp",
    });
  });

  it("that could be very many names only a few of them and keeps all in its details", () => {
    const many = Array.from({ length: 40 }, (_, i) => run(`20261116-${i + 100}`, "2026"));
    const found = refused("2026", many) as { message: string; details: { runs: string[] } };
    expect(found.message).toMatch(/ and 35 more$/);
    expect(found.details.runs).toHaveLength(40);
  });
});

import { describe, expect, it } from "vitest";
import { findTool } from "../../src/adapters/guards/tools.ts";
import { killAndRecover } from "../support/catalytic-kill.ts";

const BUBBLEWRAP = findTool("bwrap") === null ? [] : ["ns-bind bubblewrap"];
const GUARDS = ["ns-overlay", "ns-bind", "landlock", "audit", ...BUBBLEWRAP];
const moments = Array.from({ length: 100 }, (_, i) => {
  const by = i % 3 === 0 ? "next run" : "recover";
  return [GUARDS[i % GUARDS.length]!, (i * 37) % 450, by] as const;
});

/** The same as in test/fault at a hundred moments, spread by a fixed sequence over the whole of a run. */
describe("a tool that is killed a hundred times", () => {
  it.each(moments)("leaves nothing changed under %s after %i ms (%s)", async (guard, moment, by) => {
    expect(["finished", "recovered", "never began"]).toContain(await killAndRecover(guard, moment, by));
  });
});

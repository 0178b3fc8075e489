import { describe, expect, it } from "vitest";
import { killAndRecover } from "../support/catalytic-kill.ts";

/**
 * kill -9 of the tool at any moment: after recovery the domains are byte-identical, the outputs are all there or all as
 * they were, no process is left, and the run is marked failed unless its proof was complete.
 */
const MOMENTS = [
  ["ns-overlay", 40],
  ["ns-overlay", 150],
  ["ns-overlay", 320],
  ["ns-bind", 120],
  ["ns-bind", 300],
  ["landlock", 80],
  ["landlock", 200],
  ["landlock", 330],
  ["audit", 160],
  ["audit", 280],
] as const;

describe("a tool that is killed", () => {
  it.each(MOMENTS)("leaves nothing changed under %s after %i ms", async (guard, moment) => {
    expect(["finished", "recovered", "never began"]).toContain(await killAndRecover(guard, moment));
  });
});

import { describe, expect, it } from "vitest";
import { findTool } from "../../src/adapters/guards/tools.ts";
import { killAndRecover } from "../support/catalytic-kill.ts";

/**
 * kill -9 of the tool at any moment: after recovery the domains are byte-identical, the outputs are all there or all as
 * they were, no process is left, and the run is marked failed unless its proof was complete. The long suite takes a
 * hundred moments.
 */
const MOMENTS = [
  ["ns-overlay", 40, "recover"],
  ["ns-overlay", 150, "next run"],
  ["ns-overlay", 320, "recover"],
  ["ns-bind", 120, "recover"],
  ["ns-bind", 300, "next run"],
  ["ns-bind bubblewrap", 90, "next run"],
  ["ns-bind bubblewrap", 250, "recover"],
  ["landlock", 80, "recover"],
  ["landlock", 200, "next run"],
  ["landlock", 330, "recover"],
  ["audit", 160, "next run"],
  ["audit", 280, "recover"],
] as const;

describe("a tool that is killed", () => {
  it.concurrent.for(MOMENTS)(
    "leaves nothing changed under %s after %i ms (%s)",
    async ([guard, moment, by], { skip }) => {
      if (guard.endsWith("bubblewrap") && findTool("bwrap") === null) skip("bubblewrap is not installed here");
      expect(["finished", "recovered", "never began"]).toContain(await killAndRecover(guard, moment, by));
    },
  );
});

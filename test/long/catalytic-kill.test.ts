import { describe, expect, it } from "vitest";
import { killAndRecover } from "../support/catalytic-kill.ts";

const GUARDS = ["ns-overlay", "ns-bind", "landlock", "audit"];

/** The same as in test/fault at a hundred moments, spread by a fixed sequence over the whole of a run. */
describe("a tool that is killed a hundred times", () => {
  it.each(Array.from({ length: 100 }, (_, i) => [GUARDS[i % 4]!, (i * 37) % 450] as const))(
    "leaves nothing changed under %s after %i ms",
    async (guard, moment) => {
      expect(["finished", "recovered", "never began"]).toContain(await killAndRecover(guard, moment));
    },
  );
});

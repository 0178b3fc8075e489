import { describe, it } from "vitest";
import { RUNS } from "../../tools/freeze/parts.ts";
import { expectFrozen } from "../support/frozen.ts";

// Guards: the bytes of runs that start processes of their own; test/pins/frozen.test.ts has the others.

describe("as it was frozen", () => {
  it.each(Object.entries(RUNS).filter(([, { quick }]) => !quick))("the bytes of a %s", async (_, { make }) => {
    const now = await make();
    expectFrozen(now, (path) => now.has(path));
  });
});

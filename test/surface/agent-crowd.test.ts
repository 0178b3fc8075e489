// Guards: runs that are at work at once do not get into each other's records. Twenty of them are in test/long.
import { expect, it } from "vitest";
import { runCrowd } from "../support/agent-crowd.ts";

it("three runs at once end, each with its own change and its own record, and all of them land", async () => {
  expect(await runCrowd(3)).toBe(3);
});

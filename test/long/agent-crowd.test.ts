import { expect, it } from "vitest";
import { runCrowd } from "../support/agent-crowd.ts";

it("twenty runs at once end, each with its own change and its own record, and all of them land", async () => {
  expect(await runCrowd(20)).toBe(20);
}, 1_200_000);

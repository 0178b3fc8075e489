// Guards: whatever is killed of a run in the background, its work is kept and nothing of it goes on. Two hundred more rounds are in
// test/long.
import { expect, it } from "vitest";
import { killBackground, makeLighthouse } from "../support/background-kill.ts";

it("work is kept where the guard is killed under a supervisor that lives, and where the supervisor is killed", async () => {
  const repo = makeLighthouse();
  // The guard is the oldest of what the supervisor started.
  expect(await killBackground(repo, 0, "the guard or the relay", 300, [])).toBe("the guard or the relay: verified");
  expect(await killBackground(repo, 1, "the supervisor", 300, [])).toBe("the supervisor: verified");
});

// What a verification leaves in RUN.json about itself: a kill is told from an end by it.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { GOOD_PATCH, greetPatch, SampleRepository } from "../../../../../test/support/sample-repository.ts";
import { openWorkflow } from "../../../../../test/support/workflow-room.ts";
import { advanceRun } from "../advance.ts";
import { findOwnRun } from "../find/find-run.ts";
import { withSession } from "../session.ts";

const SAME = greetPatch('export const greet = (name) => "Hello " + name;');
const repository = new SampleRepository();
afterAll(() => repository.remove());

const stateIn = (dir: string) => JSON.parse(readFileSync(join(dir, "RUN.json"), "utf8")) as Record<string, unknown>;

async function prepare(run_id: string, patch: string, more: object): Promise<string> {
  const created = await repository.call("new", { goal: "g", run_id, direct: true, ...more });
  await repository.submit("diff.patch", patch, run_id);
  return String(created["run_dir"]);
}

it.each([
  ["nothing was to be run", "unrun", GOOD_PATCH, { no_verify: true }, "CANDIDATE_UNVERIFIED"],
  ["the patch changes nothing in the copy", "same", SAME, { verify: ["true"] }, "PATCH_REJECTED"],
])("a verification that ended because %s is not in progress any more", async (_, run, patch, more, code) => {
  const dir = await prepare(run, patch, more);
  expect(await repository.call("advance", { run, no_apply: true })).toMatchObject({ code });
  expect(stateIn(dir)).toMatchObject({ in_progress: null, iterations: 0 });
  expect(existsSync(join(dir, "worktree"))).toBe(false);
});

it("a verification that was broken off stays in progress, and the next session gives its iteration back", async () => {
  const dir = await prepare("broken", GOOD_PATCH, { verify: ["true"] });
  const { ports, close } = await openWorkflow(repository, () => ({
    isolations: {
      choose: () => Promise.resolve({ kind: "worktree", open: () => Promise.reject(new RangeError("broken")) }),
    } as never,
  }));
  const advance = () =>
    withSession(ports, findOwnRun(ports, "broken").folder, "test", (session) =>
      advanceRun(session, { maxSteps: 9, apply: false, retryVerify: false }),
    );
  await expect(advance()).rejects.toThrow(RangeError);
  await close();
  expect(stateIn(dir)).toMatchObject({ in_progress: { step: "verify", iteration: 1 }, iterations: 1 });
  expect(await repository.call("advance", { run: "broken", no_apply: true })).toMatchObject({
    code: "CANDIDATE_VERIFIED",
  });
  expect(stateIn(dir)).toMatchObject({ in_progress: null, iterations: 1 });
});

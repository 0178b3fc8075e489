// Guards: a clock that is set back while an agent works breaks no record: what is written can be read, verified and applied.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { makeAgentRepo } from "../support/agent-repo.ts";

it("a run during which the clock goes back is read, verified, applied, undone and pruned like any other", async () => {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  // Every look at it is a minute before the last one.
  let time = Date.now();
  const clock = { now: () => (time -= 60_000) };
  const app = openApp({ surface: "library", start: repo.root, env: repo.env, platform: process.platform, clock });
  onTestFinished(() => app.close());
  const command = ["sh", "-c", "echo on > lamp.txt"];
  const { run_id, outcome } = await app.call("agent.run", { goal: "light it", verify: ["true"], command });
  expect(outcome).toBe("verified");
  expect((await app.call("agent.verify", { run: run_id })).outcome).toBe("verified");
  expect((await app.call("agent.continue", { run: run_id, argv: command })).outcome).toMatch(/verified|no_progress/);
  const { summary, attempts } = await app.call("agent.show", { run: run_id });
  expect([summary.duration_ms, attempts[0]!.duration_ms].every((ms) => ms >= 0)).toBe(true);
  expect((await app.call("agent.apply", { run: run_id })).outcome).toBe("applied");
  expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("on\n");
  expect((await app.call("agent.undo", { run: run_id })).outcome).toBe("undone");
  // With the clock as it is again, another process reads the same record.
  await app.close();
  expect((await repo.verbatim("agent", "show", run_id)).exit).toBe(0);
  const record = JSON.parse((await repo.verbatim("catalytic", "list", "--json")).stdout) as {
    runs: { run_id: string }[];
  };
  for (const one of record.runs) {
    const { stdout } = await repo.verbatim("catalytic", "verify", one.run_id, "--tree", "none", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ accepted: true, errors: [] });
  }
  expect((await repo.verbatim("agent", "prune", "--keep", "0")).exit).toBe(0);
  expect((await repo.verbatim("ledger", "verify", "--quiet")).exit).toBe(0);
});

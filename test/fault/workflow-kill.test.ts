// kill -9 in the middle of advance: status tells the truth, advance goes on, nothing half-written is left.
import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { killUntilPassed } from "../support/kill-run.ts";
import { GOOD_PATCH, SampleRepository } from "../support/sample-repository.ts";

const repositories: SampleRepository[] = [];
const make = () => {
  const repository = new SampleRepository();
  repositories.push(repository);
  return repository;
};
afterAll(async () => {
  for (const repository of repositories) await repository.remove();
});

describe("a killed run", () => {
  it.each([
    ["worktree", ["PATCH_ACCEPTED", "VERIFY_STARTED", "GATE_PASSED", "APPLY_STARTED"], 1],
    ["catalytic", ["VERIFY_STARTED", "GATE_PASSED"], 0],
  ] as const)(
    "goes on after kill -9 at the gate, in verification and while the patch is applied (%s)",
    async (isolation, points, more) => {
      const report = await killUntilPassed(points, more, 11, isolation);
      expect(report).toMatchObject({ status: "pass", changed: ["src/greet.js"], halfWritten: [], validAfter: true });
      expect(report.unfinished).toEqual([]);
      expect(report.kills).toBeGreaterThan(1);
    },
  );

  it("puts a half-applied patch back before anything else", async () => {
    const repository = make();
    const dir = await repository.plan("half");
    await repository.submit("diff.patch", GOOD_PATCH, "half");
    await repository.call("advance", { run: "half" });
    await repository.call("rollback", { run: "half" });
    // What a process that died inside git apply leaves: a journal entry, a snapshot, and a torn file.
    const state = JSON.parse(readFileSync(join(dir, "RUN.json"), "utf8")) as {
      readonly candidates: readonly object[];
      readonly updated_at: string;
    };
    const candidates = state.candidates.map((one: object) => ({ ...one, state: "verified" }));
    const in_progress = { step: "apply", iteration: 1, started_at: state.updated_at };
    const torn = { ...state, status: "running", stop_reason: null, candidates, in_progress };
    repository.runFile("half", "RUN.json", JSON.stringify(torn, null, 2));
    repository.write("src/greet.js", "half of a fi");
    expect(await repository.call("advance", { run: "half" })).toMatchObject({ status: "pass" });
    expect(repository.read("src/greet.js")).toContain("Hello, ");
    expect(readFileSync(join(dir, "events.jsonl"), "utf8")).toContain("APPLY_RECOVERED");
  });

  it("moves a torn line of the log aside and says so", async () => {
    const repository = make();
    const created = await repository.call("new", { goal: "g", run_id: "torn" });
    const dir = String(created["run_dir"]);
    const log = readFileSync(join(dir, "events.jsonl"), "utf8");
    repository.runFile("torn", "events.jsonl", `${log}{"ts":"2026`);
    expect(await repository.call("validate", { target: join(dir, "events.jsonl") })).toMatchObject({ ok: true });
    await repository.call("advance", { run: "torn" });
    expect(readFileSync(join(dir, "events.jsonl"), "utf8")).toContain("EVENTS_TAIL_REPAIRED");
    expect(existsSync(join(dir, "superseded/events.tail-2"))).toBe(true);
    expect(await repository.call("validate", { target: "torn" })).toMatchObject({ ok: true });
  });

  it("takes over the lock of a dead process and waits for a living one", async () => {
    const repository = make();
    const created = await repository.call("new", { goal: "g", run_id: "lock" });
    const lock = join(String(created["run_dir"]), "run.lock");
    const owner = (pid: number) => `${JSON.stringify({ pid, host: hostname(), command: "x", started_at: "t" })}\n`;
    repository.runFile("lock", "run.lock", owner(2 ** 22 + 1));
    expect(await repository.call("advance", { run: "lock" })).toMatchObject({ state: "blocked" });
    expect(existsSync(lock)).toBe(false);
    repository.runFile("lock", "run.lock", owner(process.pid));
    await expect(repository.call("advance", { run: "lock" })).rejects.toMatchObject({ code: "RUN_LOCKED" });
    expect(await repository.call("advance", { run: "lock", steal_lock: true })).toMatchObject({ state: "blocked" });
  });
});

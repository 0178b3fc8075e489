import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { makeAgentRepo, type Summary } from "./agent-repo.ts";
import { BIN } from "./cli.ts";

/**
 * So many runs at once in one repository, each in a process of its own. Every one ends with its own change and record. Says
 * how many of them landed.
 */
export async function runCrowd(many: number): Promise<number> {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const numbers = Array.from({ length: many }, (_, i) => i);
  const start = (i: number) =>
    new Promise<{ exit: number | null; stdout: string }>((resolve, reject) => {
      const script = `echo ${i} > lamp-${i}.txt; sleep 0.2`;
      const how = ["--goal", `lamp ${i}`, "--verify", `test -s lamp-${i}.txt`, "--json", "--", "sh", "-c", script];
      const child = spawn(process.execPath, [BIN, "agent", ...how], { cwd: repo.root, env: repo.env });
      let stdout = "";
      child.stdout.on("data", (part: Buffer) => (stdout += part.toString("utf8")));
      child.stderr.resume();
      child.once("error", reject);
      child.once("close", (exit) => resolve({ exit, stdout }));
    });
  const ended = await Promise.all(numbers.map(start));
  const summaries = ended.map(({ exit, stdout }, i) => {
    expect([i, exit]).toEqual([i, 0]);
    return JSON.parse(stdout) as Summary;
  });
  expect(new Set(summaries.map(({ run_id }) => run_id)).size).toBe(many);
  expect(new Set(summaries.map(({ proof }) => proof.directory)).size).toBe(many);
  expect(repo.git("status", "--porcelain")).toBe("");
  for (const [i, { run_id, outcome, changes, proof }] of summaries.entries()) {
    expect([i, outcome, proof.accepted, changes.files.map(({ path }) => path)]).toEqual([
      i,
      "verified",
      true,
      [`lamp-${i}.txt`],
    ]);
    const stream = await repo.verbatim("ledger", "show", "--stream", `workflow/${run_id}`, "--json");
    const kinds = [...stream.stdout.matchAll(/"kind":"(AGENT_[A-Z_]+)"/g)].map(([, kind]) => kind);
    expect(kinds).toEqual(
      expect.arrayContaining([
        "AGENT_STARTED",
        "AGENT_ATTEMPT_ENDED",
        "AGENT_CAPTURED",
        "AGENT_GATED",
        "AGENT_VERIFIED",
      ]),
    );
    expect(kinds.filter((kind) => kind === "AGENT_STARTED")).toHaveLength(1);
  }
  const { runs, total } = JSON.parse(
    (await repo.verbatim("agent", "list", "--limit", String(many + 1), "--json")).stdout,
  ) as { runs: { run_id: string; goal: string }[]; total: number };
  expect([total, new Set(runs.map(({ goal }) => goal)).size]).toEqual([many, many]);
  expect((await repo.verbatim("ledger", "verify", "--quiet")).exit).toBe(0);
  // None of them is in the way of another.
  for (const { run_id } of summaries) expect((await repo.verbatim("agent", "apply", run_id)).exit).toBe(0);
  for (const i of numbers) expect(readFileSync(join(repo.root, `lamp-${i}.txt`), "utf8")).toBe(`${i}\n`);
  return summaries.length;
}

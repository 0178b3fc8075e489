import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { kill, listBelow, listProcesses } from "./agent-kill.ts";
import { type AgentRepo, makeAgentRepo } from "./agent-repo.ts";
import { BIN } from "./cli.ts";

export const TARGETS = ["the supervisor", "the client", "the guard or the relay", "the agent"] as const;
export type Target = (typeof TARGETS)[number];

/** Changes its file at once and goes on for a while, so that every moment of a kill finds something of it. */
const script = (mark: string) => `: ${mark}; echo on > lamp.txt; getent hosts tracker.example; sleep 1; echo over`;

export function makeLighthouse(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

/**
 * A run in the background and somebody who follows it; one process of them is killed at a moment. Says what was killed and
 * where the run stood in the end. Whatever it was: the tree is as it was, nothing of the agent is alive, nothing is mounted,
 * no verb meets a fault of ours, and work that was done can be verified, applied and undone.
 */
export async function killBackground(
  repo: AgentRepo,
  round: number,
  target: Target,
  moment: number,
  flags: readonly string[],
): Promise<string> {
  const mark = `mark-${process.pid}-${round}`;
  const how = ["--goal", "light it", "--verify", "test -f lamp.txt", "--detach", ...flags, "--json"];
  const begun = await repo.verbatim("agent", ...how, "--", "sh", "-c", script(mark));
  expect([begun.exit, begun.stderr]).toEqual([0, expect.not.stringContaining("error[")]);
  const { run_id, run_dir } = JSON.parse(begun.stdout) as { run_id: string; run_dir: string };
  const client = spawn(process.execPath, [BIN, "agent", "logs", run_id, "-f"], {
    cwd: repo.root,
    env: repo.env,
    stdio: "ignore",
  });
  const gone = new Promise<void>((resolve) => client.once("close", () => resolve()));
  await pause(moment);
  const killed = strike(join(run_dir, "agent/supervisor.json"), target, client, mark, round);
  const waited = await repo.verbatim("agent", "wait", run_id, "--timeout", "120s", "--json");
  expectNoFault(waited);
  expectNoFault(await repo.verbatim("agent", "ps"));
  // A follower ends with its run, whatever ended that.
  await gone;
  const verified = await repo.verbatim("agent", "verify", run_id, "--json");
  expectNoFault(verified);
  expect(repo.git("status", "--porcelain")).toBe("");
  expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("off\n");
  expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(repo.base);
  expect([...listProcesses().values()].filter(({ words }) => words.includes(mark))).toEqual([]);
  expect(existsSync(join(run_dir, "agent/supervisor.json"))).toBe(false);
  const { outcome, reason } = (
    JSON.parse((await repo.verbatim("agent", "list", "--json")).stdout) as {
      runs: { outcome: string; reason: string | null }[];
    }
  ).runs[0]!;
  if (target === "the client") expect(outcome).toBe("verified");
  if (outcome === "verified") {
    expect((await repo.verbatim("agent", "apply", run_id, "--yes")).exit).toBe(0);
    expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("on\n");
    expect((await repo.verbatim("agent", "undo", run_id)).exit).toBe(0);
  }
  expect((await repo.verbatim("ledger", "verify", "--quiet")).exit).toBe(0);
  return `${killed}: ${outcome}${["verified", "unchanged"].includes(outcome) ? "" : ` (${reason})`}`;
}

/** Kills what was asked for, or nothing where it has ended already. */
function strike(record: string, target: Target, client: ChildProcess, mark: string, round: number): string {
  if (target === "the client") {
    client.kill("SIGKILL");
    return target;
  }
  const supervisor = existsSync(record) ? (JSON.parse(readFileSync(record, "utf8")) as { pid: number }).pid : null;
  if (supervisor === null) return "nothing, it was over";
  const processes = listProcesses();
  const below = listBelow(supervisor);
  const own = (pid: number) => processes.get(pid)?.words.includes(mark) ?? false;
  const of = { "the supervisor": [supervisor], "the agent": below.filter(own) }[target as string];
  const pids = of ?? below.filter((pid) => !own(pid));
  const pid = pids[round % Math.max(1, pids.length)];
  if (pid === undefined) return "nothing, it was over";
  kill(pid);
  return target;
}

function expectNoFault({ stderr }: { readonly stderr: string }): void {
  expect(stderr).not.toMatch(/INTERNAL|UnhandledPromise|at .*\.js:/);
}

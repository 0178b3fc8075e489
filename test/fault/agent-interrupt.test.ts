import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type AgentRepo, makeAgentRepo, recordWithTools } from "../support/agent-repo.ts";

/** Signals to a running `verbatim agent`, as a terminal and a service manager send them. */

const BIN = new URL("../../bin/verbatim.js", import.meta.url).pathname;

interface Ended {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts an agent and sends the signals one after the other, each when the agent has said the next word. */
function interrupt(repo: AgentRepo, script: string, signals: readonly NodeJS.Signals[]): Promise<Ended> {
  const args = [BIN, "agent", "--goal", "mend the lamp", "--no-verify", "--", "sh", "-c", script];
  const child = spawn(process.execPath, args, { cwd: repo.root, env: repo.env, stdio: ["ignore", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  const left = [...signals];
  child.stdout.on("data", (chunk: Buffer) => {
    said.stdout += chunk.toString();
    const words = said.stdout.split("\n").filter((line) => line.startsWith("word")).length;
    while (left.length > 0 && signals.length - left.length < words) child.kill(left.shift()!);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    said.stderr += chunk.toString();
  });
  return new Promise((resolve) => child.on("close", (exit) => resolve({ exit, ...said })));
}

// A shell that is about to turn into its last command can lose a signal; a program that waits cannot.
const WAITS = `echo x > new.txt; exec node -e 'console.log("word 1"); setTimeout(() => {}, 60000)'`;

it.each([
  ["one interrupt, forwarded", WAITS, ["SIGINT"], 130],
  ["a termination", WAITS, ["SIGTERM"], 143],
  ["a terminal that is closed", WAITS, ["SIGHUP"], 143],
  [
    "a second interrupt when the first is not heeded",
    "trap 'echo word 2' INT; echo x > new.txt; echo word 1; while :; do sleep 0.1; done",
    ["SIGINT", "SIGINT"],
    130,
  ],
] as const)("%s ends the agent, lands nothing and restores", async (_, script, signals, code) => {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const before = recordWithTools(repo.root);
  const { exit, stderr } = await interrupt(repo, script, signals);
  expect([exit, stderr]).toEqual([code, expect.stringContaining("error[INTERRUPTED]")]);
  expect(recordWithTools(repo.root)).toBe(before);
  const { summary: run } = JSON.parse((await repo.verbatim("agent", "show", "@", "--json")).stdout) as {
    summary: { run_id: string; run_dir: string; outcome: string; proof: { directory: string; condition: string } };
  };
  expect([run.outcome, run.proof.condition]).toEqual(["interrupted", "INTERRUPTED"]);
  expect(stderr).toContain(
    `Let it go on: verbatim agent continue ${run.run_id}, or judge what it had done: verbatim agent verify ${run.run_id}`,
  );
  expect(readFileSync(join(run.run_dir, "agent/candidates/01/diff.patch"), "utf8")).toContain("new.txt");
  const verified = await repo.verbatim("catalytic", "verify", run.proof.directory, "--json");
  expect(JSON.parse(verified.stdout)).toMatchObject({ genuine: true, accepted: false });
  expect((await repo.verbatim("agent", "apply", run.run_id)).exit).toBe(1);
});

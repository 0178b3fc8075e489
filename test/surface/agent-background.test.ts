// Runs that work while nobody waits for them: started, listed, watched, typed to, waited for and ended from other terminals.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { findTool } from "../../src/adapters/guards/tools.ts";
import type { Output } from "../../src/app/operations.ts";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { BIN } from "../support/cli.ts";
import { quote, SCRIPT, Terminal } from "../support/terminal.ts";

const MISSING = SCRIPT === null || findTool("perl") === null || process.platform !== "linux";
const WHY = "needs Linux, script and perl";

function makeSample(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

/** An agent that goes on until the file `go` is there, which nobody makes. */
const STAYS = "echo on > lamp.txt; echo ready; while :; do sleep 0.1; done";

async function detach(
  repo: AgentRepo,
  script: string,
  ...flags: string[]
): Promise<{ run_id: string; run_dir: string }> {
  const how = ["--goal", "light the lamp", "--no-verify", "--detach", ...flags, "--json"];
  const { exit, stdout, stderr } = await repo.verbatim("agent", ...how, "--", "sh", "-c", script);
  expect([exit, stderr.includes("error[")]).toEqual([0, false]);
  const { run_id, run_dir } = JSON.parse(stdout) as { run_id: string; run_dir: string };
  // A test that failed in the middle leaves nobody at work.
  onTestFinished(async () => void (await repo.verbatim("agent", "stop", run_id, "--kill")));
  return { run_id, run_dir };
}

async function listAtWork(repo: AgentRepo, ...flags: string[]): Promise<Output<"agent.ps">["runs"]> {
  const { stdout } = await repo.verbatim("agent", "ps", "--json", ...flags);
  return (JSON.parse(stdout) as Output<"agent.ps">).runs;
}

it("a run in the background is listed with what it does, waited for, and leaves no way in behind", async () => {
  const repo = makeSample();
  const script = "echo on > lamp.txt; echo 'almost \u001b[31mdone'; while [ ! -e go ]; do sleep 0.05; done";
  const { run_id, run_dir } = await detach(repo, script, "--name", "the lamp");
  await vi.waitFor(async () => expect((await listAtWork(repo))[0]?.last_line).toBe("almost done"), 20_000);
  const [shown] = await listAtWork(repo, "--all-repos");
  expect(shown).toMatchObject({ run_id, name: "the lamp", agent: "sh", phase: "working", cost: null, root: repo.root });
  expect(shown?.files).toBe(1);
  const { socket, token } = JSON.parse(readFileSync(join(run_dir, "agent/supervisor.json"), "utf8")) as Record<
    string,
    string
  >;
  expect([existsSync(socket!), token]).toEqual([true, expect.stringMatching(/^[0-9a-f]{64}$/)]);
  const early = await repo.verbatim("agent", "wait", "@", "--timeout", "1ms");
  expect([early.exit, early.stdout]).toEqual([4, expect.stringContaining("the time is over")]);

  const stopped = await repo.verbatim("agent", "stop", "@");
  expect([stopped.exit, stopped.stdout]).toEqual([0, expect.stringContaining("interrupted")]);
  const ended = await repo.verbatim("agent", "wait", "@");
  expect([ended.exit, ended.stdout]).toEqual([1, expect.stringContaining("interrupted")]);
  expect(readFileSync(join(run_dir, "agent/candidates/01/diff.patch"), "utf8")).toContain("+on");
  await vi.waitFor(() => expect(existsSync(join(run_dir, "agent/supervisor.json"))).toBe(false), 20_000);
  expect(existsSync(socket!)).toBe(false);
  expect(await listAtWork(repo)).toEqual([]);
  for (const verb of ["stop", "attach"]) {
    const late = await repo.verbatim("agent", verb, "@");
    expect([late.exit, late.stderr]).toEqual([4, expect.stringContaining("error[RUN_NOT_RUNNING]")]);
  }
});

it("says why an agent did not start, with its code, as in the foreground", async () => {
  const repo = makeSample();
  const flags = ["--goal", "x", "--detach", "--verify", "true", "--allow", "../elsewhere"];
  const { exit, stderr } = await repo.verbatim("agent", ...flags, "--", "true");
  expect([exit, stderr]).toEqual([
    2,
    expect.stringContaining('error[USAGE] --allow "../elsewhere" is not a file or folder inside the repository'),
  ]);
  expect(await listAtWork(repo)).toEqual([]);
});

it("an agent that does not heed the word is ended, and what it did is kept", async () => {
  const repo = makeSample();
  const { run_dir } = await detach(repo, `trap '' INT TERM; ${STAYS}`);
  await vi.waitFor(async () => expect((await listAtWork(repo))[0]?.last_line).toBe("ready"), 20_000);
  const { exit, stdout } = await repo.verbatim("agent", "stop", "@", "--kill");
  expect([exit, stdout]).toEqual([0, expect.stringContaining("interrupted")]);
  expect(readFileSync(join(run_dir, "agent/candidates/01/diff.patch"), "utf8")).toContain("+on");
});

it("stop also ends a verification, and a run in a foreground that is not ours", async () => {
  const repo = makeSample();
  const words = [
    "agent",
    "--goal",
    "x",
    "--verify-sh",
    "echo checking; sleep 300",
    "--",
    "sh",
    "-c",
    "echo on > lamp.txt",
  ];
  const child = spawn(process.execPath, [BIN, ...words], { cwd: repo.root, env: repo.env, stdio: "ignore" });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(() => void child.kill("SIGKILL"));
  await vi.waitFor(async () => expect((await listAtWork(repo))[0]?.phase).toBe("verifying"), 60_000);
  expect((await repo.verbatim("agent", "stop", "@")).exit).toBe(0);
  expect(await ended).not.toBe(0);
  const { stdout } = await repo.verbatim("agent", "list", "--json");
  expect((JSON.parse(stdout) as Output<"agent.list">).runs[0]?.outcome).toBe("interrupted");
});

it("is joined from terminals: one types, one only watches, and leaving ends nothing", async ({ skip }) => {
  if (MISSING) skip(WHY);
  const repo = makeSample();
  const script = `printf 'name? '; read name; echo "hello $name"; read size; stty size; read end`;
  const { run_id } = await detach(repo, script);
  const open = (...flags: string[]) => {
    const words = [process.execPath, BIN, "agent", "attach", run_id, ...flags].map(quote).join(" ");
    return new Terminal(repo, `stty rows 33 cols 101; ${words}`);
  };
  const watcher = open("--read-only");
  await watcher.until("name? ");
  watcher.type("nobody\r");
  const writer = open();
  await writer.until("name? ");
  writer.type("Mira\r");
  await writer.until("hello Mira");
  await watcher.until("hello Mira");
  writer.type("\r");
  await writer.until("33 101");
  writer.type("\u001dd");
  const left = await writer.end();
  expect([left.exit, left.rest]).toEqual([0, expect.stringContaining("which goes on")]);
  expect((await listAtWork(repo)).map((run) => run.run_id)).toEqual([run_id]);
  const again = open();
  await again.until("33 101");
  again.type("\r");
  expect((await again.end()).rest).toContain("unchanged");
  expect((await watcher.end()).exit).toBe(0);
});

it("a run whose process is gone is not at work, whoever has its number now: ps repairs it", async () => {
  const repo = makeSample();
  const { run_id, run_dir } = await detach(repo, STAYS);
  await vi.waitFor(async () => expect((await listAtWork(repo))[0]?.last_line).toBe("ready"), 20_000);
  const file = join(run_dir, "agent/supervisor.json");
  const owner = JSON.parse(readFileSync(file, "utf8")) as { pid: number };
  process.kill(owner.pid, "SIGKILL");
  await vi.waitFor(() => expect(readdirSync("/proc")).not.toContain(String(owner.pid)), 20_000);
  const anew = { ...owner, pid: process.pid };
  for (const said of [owner, anew, { ...anew, boot_id: "another" }]) {
    writeFileSync(file, JSON.stringify(said));
    expect((await repo.verbatim("agent", "stop", "@")).stderr).toContain("error[RUN_NOT_RUNNING]");
  }
  expect(await listAtWork(repo)).toEqual([]);
  const { stdout } = await repo.verbatim("agent", "list", "--json");
  const { runs } = JSON.parse(stdout) as Output<"agent.list">;
  expect(runs).toMatchObject([{ run_id, outcome: "interrupted", files: 1 }]);
  expect(existsSync(file)).toBe(false);
});

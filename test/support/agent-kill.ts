import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { type AgentRepo, makeAgentRepo } from "./agent-repo.ts";
import { BIN } from "./cli.ts";

/** Edits, creates, deletes and turns a file into a link, a little at a time, so that a kill meets it in the middle. */
const CHANGE = [
  "echo on > lamp.txt",
  "sleep 0.05",
  "mkdir -p quay && for i in 1 2 3; do echo $i > quay/$i.txt; done",
  "rm old.txt",
  "ln -s lamp.txt now",
  "sleep 0.05",
  "echo busy > cache.txt",
].join("; ");

export const KILLED = ["the tool", "what it started"] as const;
export type Killed = (typeof KILLED)[number];

export function makeHarbour(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.write("old.txt", "old\n");
  repo.write(".gitignore", "cache.txt\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

/** Starts a verb in a process of its own and kills something of it after so many milliseconds. */
async function killAfter(repo: AgentRepo, args: readonly string[], moment: number, killed: Killed): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, [BIN, "agent", ...args], {
    cwd: repo.root,
    env: repo.env,
    stdio: "ignore",
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  await Promise.race([pause(moment), ended]);
  if (killed === "the tool") child.kill("SIGKILL");
  else {
    for (const pid of listBelow(child.pid!)) kill(pid);
  }
  // A tool whose guard or agent died goes on to its own end.
  await ended;
}

/** Every process that a process started, directly or not, the youngest first. */
export function listBelow(parent: number): number[] {
  const processes = listProcesses();
  const isBelow = (pid: number): boolean => {
    const up = processes.get(pid)?.parent;
    return up !== undefined && (up === parent || isBelow(up));
  };
  return [...processes.keys()].filter(isBelow).reverse();
}

interface Process {
  readonly parent: number;
  /** Its command line; nothing of one that has ended. */
  readonly words: string;
}

/** Every process of this machine by its number. */
export function listProcesses(): Map<number, Process> {
  const processes = new Map<number, Process>();
  for (const name of readdirSync("/proc").filter((one) => /^[0-9]+$/.test(one))) {
    const found = readProcess(name);
    if (found !== null) processes.set(Number(name), found);
  }
  return processes;
}

function readProcess(pid: string): Process | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const parent = Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
    return { parent, words: readFileSync(`/proc/${pid}/cmdline`, "utf8") };
  } catch (thrown) {
    if (["ENOENT", "ESRCH"].includes(String((thrown as NodeJS.ErrnoException).code))) return null;
    throw thrown;
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
  }
}

const BEFORE = { status: "", lamp: "off\n" };

function readTree(repo: AgentRepo): { readonly status: string; readonly lamp: string } {
  const status = repo.git("status", "--porcelain", "--untracked-files=all");
  return { status, lamp: readFileSync(`${repo.root}/lamp.txt`, "utf8") };
}

const AFTER = {
  status: " M lamp.txt\n D old.txt\n?? now\n?? quay/1.txt\n?? quay/2.txt\n?? quay/3.txt\n",
  lamp: "on\n",
};

type Listed = { readonly run_id: string; readonly outcome: string };

async function newest(repo: AgentRepo): Promise<Listed | undefined> {
  const listed = await repo.verbatim("agent", "list", "--json");
  expect(listed.exit).toBe(0);
  return (JSON.parse(listed.stdout) as { runs: Listed[] }).runs[0];
}

/** What every verb may answer after a kill, whatever it was: a code and no fault of ours. */
function expectNoFault({ stderr }: { readonly stderr: string }): void {
  expect(stderr).not.toMatch(/INTERNAL|UnhandledPromise|at .*\.js:/);
}

/**
 * One round: an agent run that is killed at a moment, then the next verbs, then its landing that is killed at the same
 * moment. Says where the run stood when everybody was done with it.
 */
export async function killRound(repo: AgentRepo, moment: number, killed: Killed): Promise<string> {
  const known = await newest(repo);
  const run = ["--goal", "light it", "--verify", "test -f lamp.txt", "--apply", "never", "--", "sh", "-c", CHANGE];
  await killAfter(repo, run, moment, killed);
  expect(readTree(repo)).toEqual(BEFORE);
  expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(repo.base);

  const found = await newest(repo);
  if (found === undefined || found.run_id === known?.run_id) return "nothing began";
  const { run_id } = found;
  expectNoFault(await repo.verbatim("agent", "ps"));
  const verified = await repo.verbatim("agent", "verify", run_id, "--json");
  expectNoFault(verified);
  expect(readTree(repo)).toEqual(BEFORE);
  const { outcome } = (await newest(repo))!;
  if (outcome !== "verified") return outcome;
  const whole = AFTER.status === (await describeChange(repo, run_id));

  await killAfter(repo, ["apply", run_id], moment, "the tool");
  const again = await repo.verbatim("agent", "apply", run_id, "--yes");
  expectNoFault(again);
  expect((await newest(repo))!.outcome).toBe("applied");
  if (whole) expect(readTree(repo)).toEqual(AFTER);
  expect((await repo.verbatim("agent", "undo", run_id)).exit).toBe(0);
  expect(readTree(repo)).toEqual(BEFORE);
  return whole ? "landed" : "a part landed";
}

/** The change of a run as `git status` would show it once it is applied. */
async function describeChange(repo: AgentRepo, run: string): Promise<string> {
  const shown = await repo.verbatim("agent", "show", run, "--json");
  const { summary } = JSON.parse(shown.stdout) as {
    summary: { changes: { files: { path: string; operation: string }[] } };
  };
  const signs: Record<string, string> = { modify: " M", delete: " D", create: "??" };
  const lines = summary.changes.files.map(({ path, operation }) => `${signs[operation] ?? "??"} ${path}\n`);
  const tracked = lines.filter((line) => !line.startsWith("??"));
  return [...tracked, ...lines.filter((line) => line.startsWith("??"))].join("");
}

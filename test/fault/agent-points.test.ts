// Guards: an agent run that is killed before its agent begins leaves nothing, and one that is killed while the work of its
// agent is taken out of the view is captured again, to the same bytes.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { BIN } from "../support/cli.ts";

const MANY = 200;
const CHANGE = `for i in $(seq ${MANY}); do echo "lamp $i" > lamp$i.txt; done`;

function makeHarbour(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

function start(repo: AgentRepo, env: NodeJS.ProcessEnv = repo.env): { child: ChildProcess; ended: Promise<void> } {
  const words = ["agent", "--goal", "light them", "--verify", "true", "--max-files", "500", "--", "sh", "-c", CHANGE];
  const child = spawn(process.execPath, [BIN, ...words], { cwd: repo.root, env, stdio: "ignore" });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { child, ended };
}

/** Starts an agent, and kills its tool as soon as something is true; says whether it was before its end. */
async function killAt(repo: AgentRepo, isTime: () => boolean): Promise<boolean> {
  const { child, ended } = start(repo);
  while (child.exitCode === null && !isTime()) await pause(1);
  const isEarly = child.exitCode === null;
  child.kill("SIGKILL");
  await ended;
  return isEarly;
}

/** Starts an agent whose tool is killed by the first git that it asks while it captures, so the moment is never missed. */
async function killWhileCapturing(repo: AgentRepo): Promise<NodeJS.Signals | null> {
  const bin = join(repo.base, "bin");
  const runs = join(repo.base, "state/verbatim/runs");
  const path = repo.env["PATH"]!;
  const script = `#!/bin/sh
for at in ${runs}/*/*/agent; do
  grep -q '"state": *"capturing"' $at/run.json && [ ! -e $at/candidates/01/candidate.json ] && kill -9 $PPID
done
PATH='${path}' exec git "$@"
`;
  mkdirSync(bin);
  writeFileSync(join(bin, "git"), script, { mode: 0o755 });
  const { child, ended } = start(repo, { ...repo.env, PATH: `${bin}${delimiter}${path}` });
  await ended;
  return child.signalCode;
}

/** The folders of all runs of the repository. */
function listRuns(repo: AgentRepo): string[] {
  const runs = join(repo.base, "state/verbatim/runs");
  return list(runs).flatMap((slug) => list(join(runs, slug)).map((run) => join(runs, slug, run)));
}

const list = (folder: string) => (existsSync(folder) ? readdirSync(folder).sort() : []);

function stateOf(run: string): string | null {
  const place = join(run, "agent/run.json");
  return existsSync(place) ? (JSON.parse(readFileSync(place, "utf8")) as { state: string }).state : null;
}

it("killed while it prepares, a run leaves no mount, no lock and nothing that was begun", async () => {
  const repo = makeHarbour();
  expect(await killAt(repo, () => existsSync(join(repo.root, ".verbatim")))).toBe(true);
  expect(listRuns(repo).filter((run) => existsSync(join(run, "RUN.json")))).toEqual([]);
  expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(repo.base);
  const { exit, summary, result } = await repo.agent(["--verify", "true"], ["true"]);
  expect([exit, summary.outcome, result.stderr]).toEqual([0, "unchanged", expect.not.stringContaining("error")]);
  const { runs } = JSON.parse((await repo.verbatim("agent", "list", "--json")).stdout) as { runs: unknown[] };
  expect(runs).toHaveLength(1);
});

it("killed while the work of its agent is captured, a run captures it again to the same hash", async () => {
  const repo = makeHarbour();
  const whole = await repo.agent(["--verify", "true", "--max-files", "500"], ["sh", "-c", CHANGE]);
  expect(whole.summary.outcome).toBe("verified");
  const read = (run: string) => {
    return (JSON.parse(readFileSync(join(run, "agent/candidates/01/candidate.json"), "utf8")) as { sha256: string })
      .sha256;
  };
  const known = new Set(listRuns(repo));
  expect(await killWhileCapturing(repo)).toBe("SIGKILL");
  const killed = listRuns(repo).filter((run) => !known.has(run));
  expect(killed.map(stateOf)).toEqual(["capturing"]);
  const again = await repo.verbatim("agent", "verify", "@", "--json");
  expect([again.exit, (JSON.parse(again.stdout) as { outcome: string }).outcome]).toEqual([0, "verified"]);
  expect(read(killed[0]!)).toBe(read(whole.summary.run_dir));
});

// Guards: an agent run that is killed before its agent begins leaves nothing, and one that is killed while the work of its
// agent is taken out of the view is captured again, to the same bytes.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

/** Starts an agent, and kills its tool as soon as something is true; says whether it was before its end. */
async function killAt(repo: AgentRepo, isTime: () => boolean): Promise<boolean> {
  const words = ["agent", "--goal", "light them", "--verify", "true", "--max-files", "500", "--", "sh", "-c", CHANGE];
  const child: ChildProcess = spawn(process.execPath, [BIN, ...words], {
    cwd: repo.root,
    env: repo.env,
    stdio: "ignore",
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  while (child.exitCode === null && !isTime()) await pause(1);
  const isEarly = child.exitCode === null;
  child.kill("SIGKILL");
  await ended;
  return isEarly;
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
  const [isCaptured, isMade] = [(run: string) => stateOf(run) === "capturing", "agent/candidates/01/candidate.json"];
  const find = () => listRuns(repo).find((run) => !known.has(run));
  let killed: string | undefined;
  // The moment is short; one that was missed is one more ordinary run.
  for (let i = 0; i < 5 && killed === undefined; i++) {
    await killAt(repo, () => {
      const run = find();
      return run !== undefined && isCaptured(run);
    });
    const run = find()!;
    if (isCaptured(run) && !existsSync(join(run, isMade))) killed = run;
    known.add(run);
  }
  expect(killed).toBeDefined();
  const again = await repo.verbatim("agent", "verify", "@", "--json");
  expect([again.exit, (JSON.parse(again.stdout) as { outcome: string }).outcome]).toEqual([0, "verified"]);
  expect(read(killed!)).toBe(read(whole.summary.run_dir));
});

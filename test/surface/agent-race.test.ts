// Several agents with one goal: they begin with the same files, are ranked by what they did, and losers are ordinary runs.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, vi } from "vitest";
import type { Output } from "../../src/app/operations.ts";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";

type Race = Output<"agent.race">;

function makeSample(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.write("check.sh", "grep -q on lamp.txt\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

const start = (repo: AgentRepo, ...flags: string[]) =>
  repo.verbatim("agent", "race", "--goal", "light the lamp", "--verify", "sh check.sh", "--json", ...flags);

const entries = (...scripts: string[]) => scripts.flatMap((script) => ["--entry", `sh -c '${script}'`]);

async function readRun(repo: AgentRepo, run: string): Promise<Output<"agent.show">> {
  return JSON.parse((await repo.verbatim("agent", "show", run, "--json")).stdout) as Output<"agent.show">;
}

it("a race ranks what its members did from one base, verifies the same change once, and applies nothing", async () => {
  const repo = makeSample();
  const scripts = [
    "echo on > lamp.txt; echo lit > log.txt",
    "echo on > lamp.txt",
    "echo on > lamp.txt",
    "echo dim > lamp.txt",
  ];
  const { exit, stdout } = await start(repo, ...entries(...scripts));
  const race = JSON.parse(stdout) as Race;
  expect([exit, race.winner]).toEqual([0, null]);
  expect(race.members.map(({ rank, outcome, files, cost }) => [rank, outcome, files, cost])).toEqual([
    [1, "verified", 1, null],
    [2, "verified", 1, null],
    [3, "verified", 2, null],
    [4, "verify_failed", 1, null],
  ]);
  expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("off\n");
  const runs = await Promise.all(race.members.map(({ run_id }) => readRun(repo, run_id)));
  const dirs = runs.map(({ summary }) => summary.run_dir);
  const bases = dirs.map((dir) => JSON.parse(readFileSync(join(dir, "agent/run.json"), "utf8")).base.tree as string);
  expect(new Set(bases)).toEqual(new Set([race.base_tree]));
  const reports = dirs.map((dir) => readFileSync(join(dir, "agent/verifications/01/report.json"), "utf8"));
  expect(new Set(reports.map((text) => JSON.parse(text).catalytic_run as string)).size).toBe(3);

  const record = JSON.parse(readFileSync(join(dirname(dirs[0]!), "races", `${race.race_id}.json`), "utf8"));
  expect(record).toMatchObject({ race_id: race.race_id, base_tree: race.base_tree, rule: "ask", winner: null });
  expect(record.members).toHaveLength(4);
  const ledger = await repo.verbatim("ledger", "show", "--stream", `race/${race.race_id}`, "--json");
  expect(ledger.stdout.match(/"RACE_[A-Z]+"/g)).toEqual(['"RACE_STARTED"', '"RACE_DECIDED"']);

  const ids = race.members.map(({ run_id }) => run_id);
  const compared = await repo.verbatim("agent", "compare", ...ids.slice(0, 3), "--json");
  const { files } = JSON.parse(compared.stdout) as Output<"agent.compare">;
  expect(files.map(({ path, cells }) => [path, cells.map((cell) => cell?.same_in ?? 0)])).toEqual([
    ["lamp.txt", [3, 3, 3]],
    ["log.txt", [0, 0, 1]],
  ]);
  expect(files[0]?.cells[0]?.hunks).toMatchObject([{ n: 1, same_in: 3 }]);
  // A second member is landed as any run is.
  for (const run of [ids[0]!, ids[2]!]) expect((await repo.verbatim("agent", "apply", run, "--yes")).exit).toBe(0);
  expect(readFileSync(join(repo.root, "log.txt"), "utf8")).toBe("lit\n");
});

it("the first that passes ends the others and is applied, and what they did can be thrown away with them", async () => {
  const repo = makeSample();
  const slow = "echo slow > lamp.txt; sleep 300";
  const { exit, stdout } = await start(
    repo,
    ...entries(slow, "echo on > lamp.txt", slow),
    "--pick",
    "first",
    "--discard-losers",
  );
  const race = JSON.parse(stdout) as Race;
  expect(exit).toBe(0);
  expect(race.members.map(({ outcome }) => outcome)).toEqual(["applied", "discarded", "discarded"]);
  expect(race.winner).toBe(race.members[0]?.run_id);
  expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("on\n");
});

it("applies nothing by itself that somebody should look at first, or that nothing verified", async () => {
  const repo = makeSample();
  const noticed = await start(
    repo,
    ...entries("echo on > lamp.txt; echo obey > AGENTS.md", "true"),
    "--pick",
    "smallest",
  );
  const first = JSON.parse(noticed.stdout) as Race;
  expect([first.winner, first.members.map(({ outcome }) => outcome)]).toEqual([null, ["verified", "unchanged"]]);
  expect(noticed.stderr).toContain(`${first.members[0]!.run_id} is not applied by itself: look at AGENTS.md first`);
  const asked = ["agent", "race", "--goal", "light it", "--no-verify", "--pick", "smallest", "--json"];
  const bare = await repo.verbatim(...asked, ...entries("echo on > lamp.txt", "true"));
  const second = JSON.parse(bare.stdout) as Race;
  expect([second.winner, second.members.map(({ outcome }) => outcome)]).toEqual([null, ["unverified", "unchanged"]]);
  expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("off\n");
  expect(repo.git("status", "--porcelain")).toBe("");
});

it("a member that would begin with other files than the rest does not start", async () => {
  const repo = makeSample();
  const folder = join(repo.base, "state/verbatim/runs");
  const go = join(repo.base, "go");
  const waits = `until [ -e ${go} ]; do sleep 0.05; done; echo on > lamp.txt`;
  const racing = start(repo, "--jobs", "1", ...entries(waits, "echo on > lamp.txt"));
  const isWorking = () =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).some((file) =>
      file.endsWith("attempts/01/attempt.json"),
    );
  await vi.waitFor(() => expect(existsSync(folder) && isWorking()).toBe(true), { timeout: 200_000, interval: 20 });
  repo.write("notes.txt", "written by hand meanwhile\n");
  writeFileSync(go, "");
  const { members } = JSON.parse((await racing).stdout) as Race;
  expect(members.map(({ outcome, reason }) => [outcome, reason])).toEqual([
    ["verified", null],
    ["not_started", "the tree has changed since the race began"],
  ]);
});

it.each([
  ["one entry alone", ["--entry", "true"]],
  ["entries and a command", ["--entry", "true", "--entry", "true", "--", "true"]],
  ["shell syntax in an entry", ["--entry", "true && true", "--entry", "true"]],
])("refuses %s before anything exists", async (_, flags) => {
  const repo = makeSample();
  const { exit, stdout } = await start(repo, ...flags);
  expect([exit, stdout]).toEqual([2, expect.stringContaining('"USAGE"')]);
  expect((await repo.verbatim("agent", "list", "--json")).stdout).toContain('"total":0');
});

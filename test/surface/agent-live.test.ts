// What screens are told of runs besides their reports: what those at work do now, and which of them raced.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { serveRepo } from "../support/agent-server.ts";

it("says of runs at work their phase, their last line and the files they touched, and of nothing else", async () => {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const server = await serveRepo(repo);
  expect(await server.call("agent.live", {})).toEqual({ runs: [] });
  await repo.agent(["--no-verify"], ["sh", "-c", "echo on > lamp.txt"]);
  expect(await server.call("agent.live", {})).toEqual({ runs: [] });
  const work = "echo on > lamp.txt; echo oil > oil.txt; printf 'lit \\033[1mtwo\\033[0m lamps\\n'; sleep 600";
  const started = await repo.verbatim(
    "agent",
    "--detach",
    "--json",
    "--goal",
    "x",
    "--no-verify",
    "--",
    "sh",
    "-c",
    work,
  );
  const { run_id } = JSON.parse(started.stdout) as { readonly run_id: string };
  await expect
    .poll(async () => (await server.call("agent.live", {})).runs.map(({ files, last_line }) => [files, last_line]), {
      timeout: 200_000,
    })
    .toEqual([[2, "lit two lamps"]]);
  const [live] = (await server.call("agent.live", {})).runs;
  expect([live!.run_id, live!.phase, live!.cost]).toEqual([run_id, "working", null]);
  await server.call("agent.stop", { run: run_id, now: true });
  await repo.verbatim("agent", "wait", run_id);
  expect(await server.call("agent.live", {})).toEqual({ runs: [] });
});

it("names the race of its members in lists and reports, and passes over what is no record of a race", async () => {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const alone = (await repo.agent(["--no-verify"], ["sh", "-c", "echo on > lamp.txt"])).summary;
  const raced = await repo.verbatim(
    ...["agent", "race", "--json", "--goal", "y", "-n", "2", "--no-verify", "--", "sh", "-c", "echo on > lamp.txt"],
  );
  const { race_id, members } = JSON.parse(raced.stdout) as {
    readonly race_id: string;
    readonly members: readonly { readonly run_id: string }[];
  };
  const races = join(dirname(alone.run_dir), "races");
  mkdirSync(join(races, "folder.json"));
  writeFileSync(join(races, "broken.json"), "{");
  writeFileSync(join(races, "other.json"), JSON.stringify({ members: [{ run_id: alone.run_id }] }));
  const server = await serveRepo(repo);
  const { runs } = await server.call("agent.list", {});
  const ids = members.map(({ run_id }) => run_id).toSorted();
  expect(new Map(runs.map(({ run_id, race }) => [run_id, race]))).toEqual(
    new Map([[alone.run_id, null], ...ids.map((id) => [id, race_id] as const)]),
  );
  const only = await server.call("agent.list", { race: race_id });
  expect([only.total, only.runs.map(({ run_id }) => run_id).toSorted()]).toEqual([2, ids]);
  expect((await server.call("agent.list", { race: "00000000" })).runs).toEqual([]);
  const report = await server.call("agent.show", { run: ids[0]! });
  expect([report.race?.race_id, report.race?.run_ids.toSorted()]).toEqual([race_id, ids]);
  expect((await server.call("agent.show", { run: alone.run_id })).race).toBeNull();
});

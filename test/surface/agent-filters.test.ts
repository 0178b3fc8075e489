import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";

/** A repository of which the user's filter rewrites some files, as git-lfs does: git keeps `pointer`, the tree shows `payload`. */
function makeFiltered(): AgentRepo {
  const repo = makeAgentRepo();
  repo.git("config", "filter.store.clean", "sed s/payload/pointer/");
  repo.git("config", "filter.store.smudge", "sed s/pointer/payload/");
  repo.git("config", "filter.store.required", "true");
  repo.write(".gitattributes", "*.big filter=store\n");
  repo.write("lamp.txt", "off\n");
  repo.write("one.big", "payload 1\n");
  repo.write("gone.big", "payload 0\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  expect(repo.git("show", "HEAD:one.big")).toBe("pointer 1\n");
  expect(repo.git("status", "--porcelain")).toBe("");
  return repo;
}

const read = (repo: AgentRepo, path: string) => readFileSync(join(repo.root, path), "utf8");

it("where a filter of the user rewrites files, others are verified and land, and its own are named and stay", async () => {
  const repo = makeFiltered();
  const script = "echo on > lamp.txt; echo 'payload 2' > one.big; rm gone.big; echo 'payload 3' > new.big";
  const { summary } = await repo.agent(["--verify", "true"], ["sh", "-ec", script]);
  expect([summary.outcome, summary.reason]).toEqual(["verified", null]);
  expect(summary.changes.not_carried.map(({ path, why }) => [path, why])).toEqual([
    ["gone.big", "filtered"],
    ["one.big", "filtered"],
  ]);
  const applied = await repo.verbatim("agent", "apply", summary.run_id);
  expect([applied.exit, applied.stderr]).toEqual([0, ""]);
  const files = ["lamp.txt", "one.big", "gone.big", "new.big"].map((path) => read(repo, path));
  expect(files).toEqual(["on\n", "payload 1\n", "payload 0\n", "payload 3\n"]);
  expect(repo.git("status", "--porcelain").trim().split("\n")).toEqual(["M lamp.txt", "?? new.big"]);
  const shown = await repo.verbatim("agent", "show", summary.run_id);
  expect(shown.stdout.replace(/\s+/g, " ")).toContain("a filter in your git settings rewrites it");
});

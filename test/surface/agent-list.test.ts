import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { DatabaseSync } from "../support/raw-sqlite.ts";

// Guards: the list of runs is what the ledger says. It needs no file of a run, and a lost table is made again.

interface Listed {
  readonly runs: readonly Readonly<Record<string, unknown>>[];
  readonly total: number;
}

describe("the list of agent runs", () => {
  it("comes from the ledger, with every work tree when asked, and says the same when its table is made again", async () => {
    const repo = makeAgentRepo();
    repo.write("lamp.txt", "off\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    const list = async (...args: string[]) => {
      const { stdout } = await repo.verbatim("agent", "list", ...args, "--json");
      return JSON.parse(stdout) as Listed;
    };
    expect((await repo.verbatim("agent", "list")).stdout).toBe("no agent runs yet: verbatim agent --help\n");

    const first = await repo.agent(["--no-verify", "--goal", "light it"], ["sh", "-c", "echo on > lamp.txt"]);
    const second = await repo.agent(["--no-verify", "--goal", "do nothing"], ["true"]);
    expect((await list()).runs).toEqual([
      {
        run_id: second.summary.run_id,
        goal: "do nothing",
        agent: "true",
        outcome: "unchanged",
        reason: null,
        created_at: expect.stringMatching(/^20/),
        duration_ms: expect.any(Number),
        files: 0,
        added_lines: 0,
        deleted_lines: 0,
        cost: null,
        race: null,
        run_dir: second.summary.run_dir,
        root: repo.root,
      },
      expect.objectContaining({
        run_id: first.summary.run_id,
        agent: "sh",
        outcome: "unverified",
        reason: "you asked for --no-verify",
        files: 1,
        added_lines: 1,
        deleted_lines: 1,
      }),
    ]);
    expect(await list("--outcome", "unverified", "--limit", "1")).toMatchObject({
      total: 1,
      runs: [{ run_id: first.summary.run_id }],
    });
    expect(await list("--limit", "1")).toMatchObject({ total: 2, runs: [{ run_id: second.summary.run_id }] });
    expect((await repo.verbatim("agent", "list", "--outcome", "rejected")).stdout).toBe("no run is rejected\n");
    expect((await repo.verbatim("agent", "list", "--outcome", "great")).exit).toBe(2);
    const table = (await repo.verbatim("agent", "list")).stdout.split("\n");
    expect(table[0]).toBe("run     outcome     began (UTC)       files  lines  goal");
    expect(table[2]).toMatch(/^[0-9a-f]{6} {2}unverified {2}20\d\d-\d\d-\d\d \d\d:\d\d {6}1 {2}\+1 -1 {2}light it$/);
    expect((await repo.verbatim("agent", "list", "--full")).stdout).toContain(first.summary.run_id);

    // What a run left on disk is not asked: one is damaged, the other gone.
    const before = await list();
    writeFileSync(join(first.summary.run_dir, "agent/run.json"), "not JSON");
    writeFileSync(join(first.summary.run_dir, "RUN.json"), "not JSON");
    rmSync(second.summary.run_dir, { recursive: true });
    expect(await list()).toEqual(before);

    const database = new DatabaseSync(join(repo.root, ".verbatim/state/store.db"));
    database.exec("delete from agent_runs; delete from agent_runs_fact");
    database.close();
    expect(await list()).toEqual(before);

    const other = join(repo.base, "second-rock");
    repo.git("worktree", "add", "-q", "--detach", other);
    const there = (...args: string[]) => repo.verbatim("-C", other, "agent", ...args);
    expect(JSON.parse((await there("list", "--json")).stdout)).toMatchObject({ runs: [], total: 0 });
    const third = await there("--goal", "look around", "--no-verify", "--json", "--", "true");
    const { run_id } = JSON.parse(third.stdout) as { run_id: string };
    expect(await list()).toEqual(before);
    const all = (await list("--all")).runs.map(({ run_id: id, root }) => [id, root]);
    const ours = [second.summary.run_id, first.summary.run_id].map((id) => [id, repo.root]);
    expect(all).toEqual([[run_id, other], ...ours]);
    const fromThere = JSON.parse((await there("list", "--all", "--json")).stdout) as Listed;
    expect(fromThere.runs.map(({ run_id: id, root }) => [id, root])).toEqual(all);
    expect((await repo.verbatim("agent", "list", "--all")).stdout).toContain("work tree");
  });
});

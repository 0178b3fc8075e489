// Guards: a run belongs to the repository it was made in. No folder of the same name, no copy and no clone gets at it, a
// moved repository keeps it, and another work tree uses it only when somebody says so.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";

const LINES = Array.from({ length: 12 }, (_, i) => `line ${i + 1}`);
const LIGHT = ["sh", "-c", "sed -i 's/^line 2$/line two/' lamp.txt; printf 'a\\000b' > light.bin"];

function makeLamp(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", `${LINES.join("\n")}\n`);
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

const lampOf = (root: string) => readFileSync(join(root, "lamp.txt"), "utf8");

/** Exit code and the first line of what went wrong. */
async function refuse(repo: AgentRepo, root: string, ...words: string[]): Promise<[number | null, string]> {
  const { exit, stderr } = await repo.verbatim("-C", root, "agent", ...words);
  return [exit, stderr];
}

async function list(repo: AgentRepo, root: string): Promise<string[]> {
  const { stdout } = await repo.verbatim("-C", root, "agent", "list", "--json");
  return (JSON.parse(stdout) as { runs: { run_id: string }[] }).runs.map(({ run_id }) => run_id);
}

it("two repositories with one folder name, a copy and a moved one: no run crosses over", async () => {
  const repo = makeLamp();
  const { summary: mine } = await repo.agent(["--no-verify"], LIGHT);
  const twin = join(repo.base, "twin", "gull-rock");
  mkdirSync(join(repo.base, "twin"));
  execFileSync("git", ["clone", "-q", repo.root, twin]);
  const copy = join(repo.base, "copy", "gull-rock");
  cpSync(repo.root, copy, { recursive: true });
  for (const [root, verbs] of [
    [twin, ["apply", "verify", "undo", "discard"]],
    [copy, ["apply"]],
  ] as const) {
    expect(await list(repo, root)).toEqual([]);
    expect(await refuse(repo, root, "apply", mine.run_id)).toEqual([
      2,
      expect.stringContaining("error[RUN_NOT_FOUND]"),
    ]);
    for (const verb of verbs) {
      const [exit, said] = await refuse(repo, root, verb, mine.run_dir);
      expect([verb, exit, said]).toEqual([verb, 2, expect.stringContaining("error[RUN_OTHER_REPO]")]);
      // They are no work trees of one repository, so there is no flag for it either.
      expect(said).not.toContain("--here");
    }
    expect((await refuse(repo, root, "apply", mine.run_dir, "--here"))[1]).toContain("error[RUN_OTHER_REPO]");
    expect(lampOf(root)).not.toContain("line two");
  }
  const moved = join(repo.base, "elsewhere");
  renameSync(repo.root, moved);
  expect(await list(repo, moved)).toEqual([mine.run_id]);
  expect((await repo.verbatim("-C", moved, "agent", "apply", "@")).exit).toBe(0);
  expect([lampOf(moved), await list(repo, twin)]).toEqual([expect.stringContaining("line two"), []]);
  // The copy is still one, although nothing is left where it was copied from.
  expect(await list(repo, copy)).toEqual([]);
});

it("a copy is one for good as soon as anybody looked at it, and so is what was moved", async () => {
  const repo = makeLamp();
  const { summary: mine } = await repo.agent(["--no-verify"], LIGHT);
  const [copy, moved, second] = ["copy", "moved", "second"].map((name) => join(repo.base, name));
  cpSync(repo.root, copy!, { recursive: true });
  expect(await list(repo, copy!)).toEqual([]);
  renameSync(repo.root, moved!);
  expect([await list(repo, copy!), await list(repo, moved!)]).toEqual([[], [mine.run_id]]);
  cpSync(moved!, second!, { recursive: true });
  expect([await list(repo, second!), await list(repo, moved!)]).toEqual([[], [mine.run_id]]);
  expect((await refuse(repo, second!, "apply", mine.run_dir))[1]).toContain("error[RUN_OTHER_REPO]");
});

it("another work tree of the repository uses a run with --here: three-way, with its own undo", async () => {
  const repo = makeLamp();
  const tree = join(repo.base, "second");
  repo.git("worktree", "add", "-q", "-b", "second", tree);
  const { summary: run } = await repo.agent(["--verify", "grep -q two lamp.txt"], LIGHT);
  const own = `${LINES.join("\n")}\n`;
  // The other work tree has moved on, in another place of the same file.
  execFileSync("sed", ["-i", "s/^line 11$/line eleven/", join(tree, "lamp.txt")]);

  const [exit, said] = await refuse(repo, tree, "apply", run.run_id);
  expect([exit, said]).toEqual([2, expect.stringContaining("error[RUN_OTHER_REPO]")]);
  expect(said).toContain("add --here");
  const landed = await repo.verbatim("-C", tree, "agent", "apply", run.run_id, "--here");
  expect([landed.exit, landed.stdout]).toEqual([0, expect.stringContaining("merged")]);
  expect(landed.stdout).toMatch(/✓ policy {4}✓ verify {3}.+ passed on the (merged tree|tree as it is now), /);
  expect(landed.stdout).toContain(`Undo: verbatim -C ${tree} agent undo ${run.run_id} --here`);
  const merged = own.replace("line 2\n", "line two\n").replace("line 11\n", "line eleven\n");
  expect([lampOf(tree), lampOf(repo.root)]).toEqual([merged, own]);
  expect(readFileSync(join(tree, "light.bin"), "latin1")).toBe("a\0b");

  // What is in the other work tree is taken back there, and nowhere else.
  const wrong = await refuse(repo, repo.root, "undo", "@");
  expect(wrong).toEqual([2, expect.stringContaining(`verbatim -C ${tree} agent undo ${run.run_id} --here`)]);
  expect((await repo.verbatim("-C", tree, "agent", "undo", run.run_id, "--here")).exit).toBe(0);
  expect([lampOf(tree), lampOf(repo.root)]).toEqual([merged.replace("line two\n", "line 2\n"), own]);
});

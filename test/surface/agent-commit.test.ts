import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { runHere } from "../support/cli-in-process.ts";

/** A repository whose user has a name, with two files. */
function makeRepo(): AgentRepo {
  const repo = makeAgentRepo();
  repo.git("config", "user.name", "Mira");
  repo.git("config", "user.email", "mira@example.org");
  repo.git("checkout", "-qb", "main");
  repo.write("lamp.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  repo.write("oil.txt", "oil\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

const LIGHT = ["sh", "-c", "sed -i s/8/eight/ lamp.txt; echo wick > wick.txt"];
const read = (repo: AgentRepo, path: string) => readFileSync(join(repo.root, path), "utf8");

const run = async (repo: AgentRepo, flags: readonly string[] = [], command: readonly string[] = LIGHT) => {
  const { summary } = await repo.agent(["--verify", "true", ...flags], command);
  expect([summary.outcome, summary.reason]).toEqual(["verified", null]);
  return summary.run_id;
};

describe("apply --commit", () => {
  it("commits what landed and nothing else, with trailers, and the index is as after git commit", async () => {
    const repo = makeRepo();
    const id = await run(repo);
    repo.write("staged.txt", "mine\n");
    repo.git("add", "staged.txt");
    const { exit, stdout, stderr } = await repo.verbatim("agent", "apply", id, "--commit", "-m", "light the lamp");
    expect([exit, stderr]).toEqual([0, expect.anything()]);
    const head = repo.git("rev-parse", "HEAD").trim();
    expect(stdout).toContain(
      `applied and committed 2 files as ${head.slice(0, 7)} on main. Take it back: git revert ${head.slice(0, 7)}`,
    );
    expect(repo.git("log", "-1", "--format=%an <%ae> %cn%n%B").trimEnd().split("\n")).toEqual([
      "Mira <mira@example.org> Mira",
      "light the lamp",
      "",
      `Verbatim-Run: ${id}`,
      expect.stringMatching(/^Verbatim-Candidate: sha256:[0-9a-f]{64}$/),
      "Assisted-by: sh",
    ]);
    expect(repo.git("show", "--stat", "--format=", "HEAD").trim().split("\n").length).toBe(3);
    expect(repo.git("status", "--porcelain").trim()).toBe("A  staged.txt");
    expect(repo.git("fsck", "--no-dangling")).toBe("");
    const undone = await repo.verbatim("agent", "undo", id);
    expect([undone.exit, undone.stderr]).toEqual([1, expect.stringContaining(`git revert ${head}`)]);
    repo.git("commit", "-qm", "mine");
    repo.git("revert", "--no-edit", head);
    expect(read(repo, "lamp.txt")).toContain("8\n");
  });

  it("leaves your own edits of a landed file out of the commit and in the tree, and verifies what is committed", async () => {
    const repo = makeRepo();
    const id = await run(repo, ["--verify", "grep -q eight lamp.txt"]);
    writeFileSync(join(repo.root, "lamp.txt"), read(repo, "lamp.txt").replace("2", "two"));
    const { exit, stderr } = await repo.verbatim("agent", "apply", id, "--commit");
    expect([exit, stderr]).toEqual([0, expect.anything()]);
    expect(repo.git("show", "HEAD:lamp.txt")).toBe("1\n2\n3\n4\n5\n6\n7\neight\n9\n");
    expect(read(repo, "lamp.txt")).toBe("1\ntwo\n3\n4\n5\n6\n7\neight\n9\n");
    expect(repo.git("status", "--porcelain").trim()).toBe("M lamp.txt");
    expect(repo.git("diff", "--stat")).toContain("lamp.txt | 2 +-");
  });

  it("refuses a commit that passes only with what is not committed, and nothing is applied", async () => {
    const repo = makeRepo();
    repo.write("match.txt", "a match\n");
    const id = await run(repo, ["--verify", "test -f match.txt"]);
    const before = repo.git("rev-parse", "HEAD");
    const { exit, stderr } = await repo.verbatim("agent", "apply", id, "--commit");
    expect([exit, stderr]).toEqual([1, expect.stringContaining("error[LAND_UNVERIFIED]")]);
    expect(stderr).toContain("would not pass without what you have not committed");
    expect([repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain").trim()]).toEqual([before, "?? match.txt"]);
    expect((await repo.verbatim("agent", "apply", id)).exit).toBe(0);
  });

  it.each<[string, string, (repo: AgentRepo) => void, (repo: AgentRepo) => void]>([
    [
      "goes with an edit that is not committed",
      "LAND_CONFLICT",
      (repo) => repo.write("lamp.txt", "1\n2\n3\n4\n5\n6\n7\n8 mine\n9\n"),
      () => undefined,
    ],
    [
      "is in HEAD already",
      "COMMIT_REFUSED",
      () => undefined,
      (repo) => {
        execFileSync(LIGHT[0]!, LIGHT.slice(1), { cwd: repo.root });
        repo.git("add", ".");
        repo.git("commit", "-qm", "by hand");
      },
    ],
  ])("is refused for a change that %s, and nothing is applied", async (_, code, before, after) => {
    const repo = makeRepo();
    before(repo);
    const id = await run(repo);
    after(repo);
    const there = [repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain"), read(repo, "lamp.txt")];
    const { exit, stderr } = await repo.verbatim("agent", "apply", id, "--commit");
    expect([exit === 0, stderr]).toEqual([false, expect.stringContaining(`error[${code}]`)]);
    expect([repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain"), read(repo, "lamp.txt")]).toEqual(there);
  });

  it("is not made on a branch that moves on at the last moment: everything is put back, and it can be asked for again", async () => {
    const bin = mkdtempSync(join(tmpdir(), "verbatim-git-"));
    onTestFinished(() => rmSync(bin, { recursive: true }));
    const path = process.env["PATH"] ?? "";
    vi.stubEnv("PATH", `${bin}${delimiter}${path}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const repo = makeRepo();
    const id = await run(repo);
    // A git in front of the real one: just before the branch is moved, somebody else commits.
    const other = `PATH='${path}' git -C '${repo.root}' commit -q --allow-empty -m meanwhile`;
    const script = `#!/bin/sh\ncase "$*" in *update-ref*) [ -e ${bin}/done ] || { : > ${bin}/done; ${other}; } ;; esac\n`;
    writeFileSync(join(bin, "git"), `${script}PATH='${path}' exec git "$@"\n`, { mode: 0o755 });
    const { exit, stderr } = await repo.verbatim("agent", "apply", id, "--commit");
    expect([exit, stderr]).toEqual([4, expect.stringMatching(/error\[LAND_RACED\] main moved on from [0-9a-f]{7} /)]);
    expect(repo.git("log", "-1", "--format=%s")).toBe("meanwhile\n");
    expect([read(repo, "lamp.txt"), repo.git("status", "--porcelain")]).toEqual(["1\n2\n3\n4\n5\n6\n7\n8\n9\n", ""]);
    expect((await repo.verbatim("agent", "apply", id, "--commit")).exit).toBe(0);
    expect(repo.git("log", "-2", "--format=%s").split("\n")[1]).toBe("meanwhile");
  });

  it("commits to a branch of its own and leaves tree, index and HEAD alone", async () => {
    const repo = makeRepo();
    const id = await run(repo);
    const head = repo.git("rev-parse", "HEAD");
    const { exit, stdout } = await repo.verbatim("agent", "apply", id, "--branch", "agent/lamp");
    expect([exit, stdout]).toEqual([0, expect.stringMatching(/^committed 2 files as [0-9a-f]{7} on agent\/lamp\. /)]);
    expect([repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain")]).toEqual([head, ""]);
    expect(repo.git("show", "agent/lamp:wick.txt")).toBe("wick\n");
    expect(repo.git("rev-parse", "agent/lamp^")).toBe(head);
    const undone = await repo.verbatim("agent", "undo", id);
    expect([undone.exit, undone.stderr]).toEqual([1, expect.stringContaining("git branch -D agent/lamp")]);
  });

  it("is what a run asks for when it was started with it", async () => {
    const repo = makeRepo();
    const flags = ["--verify", "true", "--commit", "--apply", "auto"];
    const { summary } = await repo.agent(flags, LIGHT);
    expect(summary.outcome).toBe("applied");
    expect(repo.git("log", "-1", "--format=%s").trim()).toBe("mend the lamp");
  });
});

describe("a commit is refused before anything happens", () => {
  it("where git does not know who commits: no agent starts", async () => {
    const repo = makeRepo();
    repo.git("config", "--unset", "user.name");
    repo.git("config", "--unset", "user.email");
    repo.git("config", "user.useConfigOnly", "true");
    const flags = ["--goal", "x", "--no-verify", "--commit", "--", ...LIGHT];
    const { exit, stderr } = await repo.verbatim("agent", ...flags);
    expect([exit, stderr]).toEqual([2, expect.stringContaining("error[GIT_IDENTITY_MISSING]")]);
    expect((await repo.verbatim("agent", "list")).stdout).toContain("no agent runs yet");
  });

  it("for flags that contradict each other, a message that names a run, and names of branches", async () => {
    const repo = makeRepo();
    const id = await run(repo);
    const refused = async (code: string, wanted: number, ...flags: string[]) => {
      const { exit, stderr } = await repo.verbatim("agent", "apply", id, ...flags);
      expect([exit, stderr]).toEqual([wanted, expect.stringContaining(`error[${code}]`)]);
    };
    await refused("USAGE", 2, "--commit", "--no-reverify");
    await refused("USAGE", 2, "--message", "x");
    await refused("USAGE", 2, "--commit", "-m", "x\n\nVerbatim-Run: other");
    await refused("USAGE", 2, "--branch", "-x");
    await refused("USAGE", 2, "--branch", "a..b");
    await refused("COMMIT_REFUSED", 1, "--branch", "main");
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  it("in the middle of a merge, and for files that a filter of the user rewrites", async () => {
    const repo = makeRepo();
    repo.git("config", "filter.store.clean", "sed s/wick/pointer/");
    repo.git("config", "filter.store.smudge", "cat");
    repo.write(".gitattributes", "wick.txt filter=store\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "attributes");
    const id = await run(repo);
    const filtered = await repo.verbatim("agent", "apply", id, "--commit");
    expect([filtered.exit, filtered.stderr]).toEqual([1, expect.stringContaining("rewrites wick.txt")]);
    writeFileSync(join(repo.root, ".git/MERGE_HEAD"), repo.git("rev-parse", "HEAD"));
    const merging = await repo.verbatim("agent", "apply", id, "--commit");
    expect([merging.exit, merging.stderr]).toEqual([1, expect.stringContaining("in the middle of a merge")]);
    expect(repo.git("status", "--porcelain")).toBe("");
  });
});

describe("hooks of the repository", () => {
  const hook = (repo: AgentRepo, name: string, lines: string) =>
    repo.write(`.git/hooks/${name}`, `#!/bin/sh\n${lines}\n`, 0o755);

  it("see the tree that is to be committed, in a view, and let it through", async () => {
    const repo = makeRepo();
    const id = await run(repo);
    hook(
      repo,
      "pre-commit",
      'test "$(git diff --cached --name-only | xargs)" = "lamp.txt wick.txt" && echo x > .git/mark',
    );
    hook(repo, "commit-msg", 'grep -q "^Verbatim-Run: " "$1"');
    const { exit, stderr } = await repo.verbatim("agent", "apply", id, "--commit");
    expect([exit, stderr]).toEqual([0, expect.anything()]);
    expect(repo.git("log", "-1", "--format=%s").trim()).toBe("mend the lamp");
    // What a hook writes is gone with its view.
    expect(repo.git("status", "--porcelain", "--ignored")).toBe("!! .verbatim/\n");
    expect(() => read(repo, ".git/mark")).toThrow("ENOENT");
  });

  it("refuse the commit by failing or by changing something, and nothing is applied", async () => {
    const repo = makeRepo();
    const id = await run(repo);
    const before = repo.git("rev-parse", "HEAD");
    const refused = async (name: string, lines: string, says: string) => {
      hook(repo, name, lines);
      const { exit, stderr } = await repo.verbatim("agent", "apply", id, "--commit");
      expect([exit, stderr]).toEqual([1, expect.stringContaining("error[COMMIT_HOOK_REFUSED]")]);
      expect(stderr).toContain(says);
      expect([repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain")]).toEqual([before, ""]);
      rmSync(join(repo.root, ".git/hooks", name));
    };
    await refused("pre-commit", "echo no wax; exit 3", "pre-commit ended with exit code 3");
    await refused("pre-commit", "echo more >> wick.txt; git add wick.txt", "pre-commit changed 1 file");
    await refused("pre-commit", "echo new > other.txt", "pre-commit changed 1 file");
    await refused("commit-msg", 'echo more >> "$1"', "commit-msg changed the message");
    expect((await repo.verbatim("agent", "show", id)).stdout).toContain("verified. Nothing is applied yet.");
    expect((await repo.verbatim("agent", "apply", id, "--commit")).exit).toBe(0);
  });
});

it("nothing that an agent wrote runs outside a guard when it is committed: hooks, attributes, included settings", async () => {
  const repo = makeRepo();
  const mark = join(repo.base, "home/mark");
  const script = `#!/bin/sh\necho ran >> ${mark}\ncat\n`;
  // What a repository may well have: hooks and a part of its settings among its files.
  repo.write("hooks/pre-commit", "#!/bin/sh\nexit 0\n", 0o755);
  repo.write("shared.gitconfig", "[core]\n\tautocrlf = false\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "hooks and settings");
  repo.git("config", "core.hooksPath", "hooks");
  repo.git("config", "include.path", "../shared.gitconfig");
  const settings = ["[commit]", "gpgsign = true", "[gpg]", "program = ./steal", "[core]", "fsmonitor = ./steal"];
  settings.push("hooksPath = hooks", '[filter "x"]', "clean = ./steal", "smudge = ./steal", "required = true");
  const agent = [
    `printf '%b' '${script.replaceAll("\n", "\\n")}' > steal; chmod +x steal`,
    `printf '#!/bin/sh\\necho ran >> ${mark}; exit 0\\n' > hooks/pre-commit; cp hooks/pre-commit hooks/post-commit`,
    "cp hooks/pre-commit hooks/reference-transaction; cp hooks/pre-commit hooks/post-index-change",
    `printf '${settings.map((line) => `${line.startsWith("[") ? "" : "\\t"}${line}\\n`).join("")}' > shared.gitconfig`,
    "echo '* filter=x' > .gitattributes",
    "sed -i s/8/eight/ lamp.txt",
  ].join("; ");
  const { summary } = await repo.agent(["--verify", "true", "--permit", ".gitattributes"], ["sh", "-c", agent]);
  expect([summary.outcome, summary.reason, summary.changes.files.length]).toEqual(["verified", null, 8]);
  await repo.verbatim("keys", "new", "mira");
  const env = { ...repo.env, VERBATIM_KEY_FILE: "mira" };
  const { exit, stderr, stdout } = await runHere(["agent", "apply", summary.run_id, "--commit"], {
    cwd: repo.root,
    env,
  });
  expect([exit, stderr, stdout]).toEqual([0, expect.anything(), expect.stringContaining("attested, signed by")]);
  await repo.verbatim("keys", "policy", "init", "../trust.json", "--key", "mira", "--scope", "AGENT");
  expect((await repo.verbatim("agent", "check", "HEAD", "--trust", "../trust.json")).stdout).toContain("CHECK_PERMIT");
  expect(existsSync(mark)).toBe(false);
  // It is all in the tree now, and would have run: git itself, asked plainly, does.
  repo.write("lamp.txt", "lit by hand\n");
  spawnSync("git", ["add", "lamp.txt"], { cwd: repo.root, stdio: "ignore" });
  expect(existsSync(mark)).toBe(true);
});

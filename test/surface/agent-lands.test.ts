import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";

/** What an agent can leave that is hard to carry: it lands as it is, or the summary names it. */

const HARD = [
  "rm -r docs && echo 'a file now' > docs",
  "rm src/oil.txt && mkdir src/oil.txt && echo part > src/oil.txt/part.txt",
  "echo '*.log' > .gitignore",
  "mkdir -p .GIT vendor/.git && echo x > .GIT/config && echo y > vendor/.git/HEAD && echo z > vendor/.git/config",
  "echo '{}' > verbatim.config.json",
].join(" && ");

it.each(["auto", "landlock"])(
  "folders and files that change places and new ignore rules land; names nobody may write are listed (%s)",
  async (guard) => {
    const repo = makeAgentRepo();
    repo.write("src/oil.txt", "oil\n");
    repo.write("docs/deep/old.md", "# Old\n");
    repo.write(".gitignore", "build/\n*.log\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    repo.write("build/out.txt", "built\n");
    const flags = ["--verify", "test -f docs", ...(guard === "auto" ? [] : ["--guard", guard])];
    const { exit, summary, result } = await repo.agent(flags, ["sh", "-c", HARD]);
    expect([exit, summary.outcome, summary.reason, result.stderr]).toEqual([0, "verified", null, expect.anything()]);
    expect(summary.changes.files.map(({ path, operation }) => [path, operation])).toEqual([
      [".gitignore", "modify"],
      ["docs", "create"],
      ["docs/deep/old.md", "delete"],
      ["src/oil.txt", "delete"],
      ["src/oil.txt/part.txt", "create"],
    ]);
    expect(summary.changes.not_carried).toEqual([
      { path: ".GIT/", why: "git_name", sha256: null },
      { path: "vendor/.git/", why: "git_name", sha256: null },
      { path: "verbatim.config.json", why: "reserved", sha256: null },
    ]);
    const applied = await repo.verbatim("agent", "apply", summary.run_id);
    expect([applied.exit, applied.stderr]).toEqual([0, ""]);
    expect(readFileSync(join(repo.root, "docs"), "utf8")).toBe("a file now\n");
    expect(readFileSync(join(repo.root, "src/oil.txt/part.txt"), "utf8")).toBe("part\n");
    expect(repo.git("status", "--short")).toContain("?? build/");
    expect(existsSync(join(repo.root, "verbatim.config.json"))).toBe(false);
    expect((await repo.verbatim("workflow", "rollback", summary.run_id)).exit).toBe(0);
    expect(repo.git("status", "--short")).toBe("");
  },
);

it("a document that tells agents what to do may change, and whoever reads the change is told", async () => {
  const repo = makeAgentRepo();
  repo.write("AGENTS.md", "Small steps.\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const flags = ["--goal", "rules", "--no-verify", "--apply", "auto"];
  const { exit, stdout } = await repo.verbatim("agent", ...flags, "--", "sh", "-c", "echo Large ones. >> AGENTS.md");
  expect([exit, stdout]).toEqual([0, expect.stringContaining("! tells later agents what to do")]);
  // Nobody looked at it, so it is not applied by itself.
  expect(readFileSync(join(repo.root, "AGENTS.md"), "utf8")).toBe("Small steps.\n");
});

it("a patch that git applies to something else than the agent left is never applied", async () => {
  const repo = makeAgentRepo();
  repo.write("oil.txt", "oil\n");
  // A catalogue of behaviours is looked at in a checkout with the patch applied.
  repo.write("docs/behaviors/INDEX.md", "");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  // A git with a mind of its own: where a candidate is tried out, one line more than the patch has.
  const lines = [
    "#!/bin/sh",
    `'${real}' "$@" || exit`,
    'case " $* " in *" apply --index "*) echo more >> oil.txt ;; esac',
  ];
  mkdirSync(join(repo.base, "bin"));
  writeFileSync(join(repo.base, "bin/git"), `${lines.join("\n")}\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${join(repo.base, "bin")}:${process.env["PATH"]}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const flags = ["--goal", "more oil", "--no-verify", "--", "sh", "-c", "echo lamp >> oil.txt"];
  const { exit, stderr } = await repo.verbatim("agent", ...flags);
  expect([exit, stderr]).toEqual([1, expect.stringContaining("error[AGENT_CAPTURE_FAILED]")]);
  expect(stderr).toContain("does not reproduce what the agent left at oil.txt");
  expect(readFileSync(join(repo.root, "oil.txt"), "utf8")).toBe("oil\n");
});

// Guards: whoever kills the tool while it commits what it lands loses neither the change nor anything that was staged, and the
// next verb brings tree, index and record in line with what HEAD says.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { BIN } from "../support/cli.ts";

const GIT = execFileSync("/bin/sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();

/** A git that kills whoever started it, before or after it does one thing. */
const deadly = (verb: string, when: "before" | "after") => `#!/bin/sh
for word in "$@"; do
  [ "$word" = ${verb} ] || continue
  ${when === "after" ? `"${GIT}" "$@"` : ":"}
  kill -9 $PPID
  exit 1
done
exec "${GIT}" "$@"
`;

it.each([
  {
    verb: "commit-tree",
    when: "after",
    killed: "M  staged.txt\n",
    says: "the tree was put back to what it was before the landing",
    commits: 2,
    status: "M  staged.txt\n",
  },
  {
    verb: "update-ref",
    when: "before",
    killed: " M lamp.txt\n D old.txt\nM  staged.txt\n?? wick.txt\n",
    says: "its change is in your tree, and the commit was not made: commit it yourself",
    commits: 1,
    status: " M lamp.txt\n D old.txt\nM  staged.txt\n?? wick.txt\n",
  },
  {
    verb: "update-ref",
    when: "after",
    // HEAD has the change, and the index does not know it yet.
    killed: "MM lamp.txt\nAD old.txt\nM  staged.txt\nD  wick.txt\n?? wick.txt\n",
    says: "were complete; only the record of them was missing",
    commits: 2,
    status: "M  staged.txt\n",
  },
] as const)("killed $when its $verb, a commit is there or not, and the next verb says which", async (row) => {
  const repo = makeAgentRepo();
  repo.git("config", "user.name", "Mira");
  repo.git("config", "user.email", "mira@example.org");
  for (const name of ["lamp.txt", "old.txt", "staged.txt"]) repo.write(name, "one\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  repo.write("staged.txt", "mine\n");
  repo.git("add", "staged.txt");
  const script = "echo two >> lamp.txt; echo new > wick.txt; rm old.txt";
  await repo.agent(["--no-verify"], ["sh", "-c", script]);

  const folder = join(repo.base, "bin");
  mkdirSync(folder);
  writeFileSync(join(folder, "git"), deadly(row.verb, row.when));
  chmodSync(join(folder, "git"), 0o755);
  const child = spawn(process.execPath, [BIN, "agent", "apply", "@", "--commit", "-m", "mend the lamp"], {
    cwd: repo.root,
    env: { ...repo.env, PATH: `${folder}:${repo.env["PATH"]}` },
    stdio: "ignore",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [, signal] = (await once(child, "close")) as [number | null, string | null];
  expect([signal, repo.git("status", "--porcelain")]).toEqual(["SIGKILL", row.killed]);

  const again = await repo.verbatim("agent", "apply", "@", "--commit", "-m", "mend the lamp");
  expect([again.exit, again.stderr]).toEqual([0, expect.stringContaining(row.says)]);
  expect(repo.git("rev-list", "--count", "HEAD").trim()).toBe(String(row.commits));
  expect(repo.git("status", "--porcelain")).toBe(row.status);
  expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("one\ntwo\n");
  expect(existsSync(join(repo.root, "old.txt"))).toBe(false);
  expect(repo.git("fsck", "--no-dangling")).toBe("");
  const listed = JSON.parse((await repo.verbatim("agent", "list", "--json")).stdout) as { runs: { outcome: string }[] };
  expect(listed.runs.map(({ outcome }) => outcome)).toEqual(["applied"]);
});

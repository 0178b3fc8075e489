// Guards: where the tool may not write what it has to, an agent run is refused with a code, and nothing of the tree changes.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { BIN } from "../support/cli.ts";
import { findClosedFolder, SOMEBODY } from "../support/somebody.ts";

it("refuses with a code what it may not write down: runs, work folders and records of the guard", ({ skip }) => {
  const repo = makeAgentRepo();
  // Root may write anywhere, so somebody else types.
  const closed = findClosedFolder(dirname(BIN)) ?? findClosedFolder(dirname(repo.base));
  if (closed !== null) return skip(`another user may not enter ${closed}`);
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const { uid, gid } = SOMEBODY;
  if (uid !== undefined) execFileSync("chown", ["-R", `${uid}:${gid}`, repo.base]);
  const options = { cwd: repo.root, env: repo.env, encoding: "utf8", ...SOMEBODY } as const;
  const agent = (...args: string[]) => spawnSync(process.execPath, [BIN, "agent", ...args], options);
  const begin = ["--goal", "light it", "--no-verify", "--", "sh", "-c", "echo on > lamp.txt"];
  expect(agent(...begin).status).toBe(0);

  const state = join(repo.base, "state/verbatim");
  mkdirSync(join(state, "work"), { recursive: true });
  if (uid !== undefined) execFileSync("chown", [`${uid}:${gid}`, join(state, "work")]);
  const refused = [
    [join(state, "runs"), ["verify", "@", "--verify", "true"]],
    [join(state, "runs"), ["apply", "@"]],
    [join(state, "runs"), begin],
    [join(state, "work"), begin],
    [join(repo.root, ".verbatim/runs"), begin],
    [join(repo.root, ".verbatim/state"), begin],
  ] as const;
  for (const [place, args] of refused) {
    execFileSync("chmod", ["-R", "a-w", place]);
    const { status, stderr } = agent(...args);
    execFileSync("chmod", ["-R", "u+w", place]);
    expect([status, /^error\[[A-Z_]+\]/m.exec(stderr)?.[0], args[0]], `${place}\n${stderr}`).toEqual([
      2,
      "error[FOLDER_READ_ONLY]",
      args[0],
    ]);
    expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("off\n");
  }
  expect(agent("verify", "@", "--verify", "true").stderr).not.toContain("INTERNAL");
});

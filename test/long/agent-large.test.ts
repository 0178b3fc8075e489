import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { makeAgentRepo, recordWithTools } from "../support/agent-repo.ts";

const FILES = 50_000;

it("a repository of 50,000 files is as it was, and the second look finds what the first did", async () => {
  const repo = makeAgentRepo();
  const script = `for (let i = 0; i < ${FILES}; i++) {
    const folder = "d" + Math.floor(i / 5000) + "/s" + Math.floor(i / 100);
    if (i % 100 === 0) fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(folder + "/f" + i + ".txt", "file " + i + "\\n");
  }`;
  execFileSync(process.execPath, ["-e", script], { cwd: repo.root });
  // git would pack so many objects in the background, and the record would show it.
  for (const name of ["gc.auto", "maintenance.auto"]) repo.git("config", name, "0");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const before = recordWithTools(repo.root);
  const edits = "echo more >> d0/s0/f0.txt; rm d9/s499/f49999.txt; mv d5/s250 d5/moved; mkdir new; echo x > new/x.txt";
  const flags = ["--no-verify", "--max-files", "300"];
  const cold = await repo.agent(flags, ["sh", "-ec", edits]);
  expect([cold.exit, cold.summary.outcome, cold.summary.changes.files.length]).toEqual([0, "unverified", 203]);
  expect(recordWithTools(repo.root)).toBe(before);
  const warm = await repo.agent(flags, ["sh", "-ec", edits]);
  expect(warm.summary.changes).toEqual(cold.summary.changes);
  expect(warm.summary.proof.tree_root_before).toBe(cold.summary.proof.tree_root_before);
  expect(recordWithTools(repo.root)).toBe(before);
  const all = await repo.agent([...flags, "--hash-all"], ["true"]);
  expect([all.summary.outcome, all.summary.proof.tree_root_before]).toEqual([
    "unchanged",
    cold.summary.proof.tree_root_before,
  ]);
}, 600_000);

import { describe, expect, it } from "vitest";
import { makeAgentRepo, recordWithTools } from "../support/agent-repo.ts";
import { rewriter } from "../support/agents.ts";

describe("an agent that rewrites thousands of files", () => {
  it("is as it was after thousands of files were rewritten; the policy says how many may land", async () => {
    const repo = makeMany();
    const before = recordWithTools(repo.root);
    const { exit, summary } = await repo.agent(["--no-verify"], rewriter(2000).command(repo.base));
    expect([exit, summary.outcome, summary.changes.files.length]).toEqual([1, "rejected", 2040]);
    expect(summary.gate?.findings[0]?.rule).toBe("max_files");
    expect(recordWithTools(repo.root)).toBe(before);
    const wide = ["--no-verify", "--max-files", "3000", "--max-added-lines", "5000"];
    const again = await repo.agent(wide, rewriter(2000).command(repo.base));
    expect([again.exit, again.summary.outcome]).toEqual([0, "unverified"]);
    expect(recordWithTools(repo.root)).toBe(before);
  }, 300_000);
});

function makeMany() {
  const repo = makeAgentRepo();
  for (let i = 0; i < 40; i++) repo.write(`many/${i}.txt`, `many ${i}\n`);
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

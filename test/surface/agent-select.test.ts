// Guards: a part of a change is a change of its own. It lands only after exactly its bytes passed, by the commands that the
// run asks for now, and no flag, number or earlier verdict stands in for that.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { serveRepo } from "../support/agent-server.ts";

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`);

function text(...changes: readonly (readonly [line: number, text: string])[]): string {
  return `${LINES.map((line, i) => changes.find(([at]) => at === i + 1)?.[1] ?? line).join("\n")}\n`;
}

function makeHarbour(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lines.txt", text());
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

/** Two lines that only go together, and a lamp. */
const AGENT = ["sh", "-c", "sed -i '3s/.*/bell/; 20s/.*/rope/' lines.txt; echo on > lamp.txt"];
/** A bell needs its rope. */
const ROPE = ["--verify-sh", "! grep -q bell lines.txt || grep -q rope lines.txt"];

const read = (repo: AgentRepo, path: string) => readFileSync(join(repo.root, path), "utf8");

async function open(flags: readonly string[] = ROPE) {
  const repo = makeHarbour();
  const { summary } = await repo.agent(flags, AGENT);
  const server = await serveRepo(repo);
  const run = summary.run_id;
  const apply = (...words: string[]) => repo.verbatim("agent", "apply", run, ...words);
  return { repo, server, run, summary, apply };
}

describe("a part of a change", () => {
  it("is a candidate with a hash of its own, verified once, and lands as it was verified", async () => {
    const { repo, server, run, summary, apply } = await open();
    expect(summary.outcome).toBe("verified");
    const chosen = await server.call("agent.select", { run, only: ["lines.txt:2", "lamp.txt"] });
    expect(chosen).toMatchObject({ candidate: 2, whole: false, files: 2, added: 2, deleted: 2 });
    expect([chosen.result, chosen.reason, chosen.known]).toEqual(["passed", null, false]);
    expect(chosen.verify?.commands.map(({ exit_code }) => exit_code)).toEqual([0]);
    // The same choice in other words is the same candidate, and nothing has to run for it again.
    const again = await server.call("agent.select", { run, except: ["lines.txt:1"] });
    expect([again.candidate, again.sha256, again.known]).toEqual([2, chosen.sha256, true]);
    const shown = await server.call("agent.show", { run });
    expect(shown.candidates.map(({ kind }) => kind)).toEqual(["capture", "selection"]);
    expect(shown.verifications.map(({ candidate, result }) => [candidate, result])).toEqual([
      [1, "PASS"],
      [2, "PASS"],
    ]);
    expect(shown.summary.outcome).toBe("verified");
    expect(repo.git("status", "--short")).toBe("");
    const whole = await server.call("agent.select", { run, only: ["lines.txt", "lamp.txt"] });
    expect([whole.candidate, whole.whole, whole.result, whole.known]).toEqual([1, true, "passed", true]);
    expect(await apply("--candidate", "2")).toMatchObject({ exit: 0, stderr: "" });
    expect([read(repo, "lines.txt"), read(repo, "lamp.txt")]).toEqual([text([20, "rope"]), "on\n"]);
  });

  it("is not applied because the whole change passed, nor by its number, nor with --unverified", async () => {
    const { repo, server, run, apply } = await open();
    const bell = await server.call("agent.select", { run, only: ["lines.txt:1"] });
    expect([bell.candidate, bell.result, bell.verify?.result]).toEqual([2, "failed", "FAIL"]);
    expect(bell.reason).toMatch(/ended with exit code 1/);
    // The run stands where it stood, for the whole change.
    expect((await server.call("agent.show", { run })).summary.outcome).toBe("verified");
    for (const flags of [
      ["--candidate", "2"],
      ["--candidate", "2", "--unverified"],
      ["--only", "lines.txt:1", "--unverified"],
    ]) {
      const refused = await apply(...flags);
      expect([flags, refused.exit, refused.stderr]).toEqual([
        flags,
        1,
        expect.stringContaining("error[LAND_UNVERIFIED]"),
      ]);
    }
    for (const flags of [
      ["--candidate", "7"],
      ["--candidate", "7", "--dry-run"],
    ]) {
      const refused = await apply(...flags);
      expect([flags, refused.exit, refused.stderr]).toEqual([
        flags,
        2,
        expect.stringContaining("error[SELECTION_INVALID]"),
      ]);
    }
    expect(repo.git("status", "--short")).toBe("");
  });

  it("is not applied after a verification that was cut short, was of other bytes, or was by other commands", async () => {
    const { repo, server, run, summary, apply } = await open();
    const lamp = await server.call("agent.select", { run, only: ["lamp.txt"] });
    expect([lamp.candidate, lamp.result]).toEqual([2, "passed"]);
    // What a kill leaves: the candidate is there, its verification is not.
    rmSync(join(summary.run_dir, "agent/verifications/02/report.json"));
    const cut = await apply("--candidate", "2");
    expect([cut.exit, cut.stderr]).toEqual([1, expect.stringContaining("it was never verified")]);
    expect((await server.call("agent.select", { run, only: ["lamp.txt"] })).known).toBe(false);
    const dry = await apply("--candidate", "2", "--dry-run");
    expect([dry.exit, dry.stdout]).toEqual([0, expect.stringContaining("1 file would be applied")]);
    // From now on a lamp that is on needs a rope, which the whole change has and this part has not.
    const more = ["--verify-sh", "! grep -q on lamp.txt || grep -q rope lines.txt"];
    expect((await repo.verbatim("agent", "verify", run, ...more)).exit).toBe(0);
    const other = await apply("--candidate", "2");
    expect([other.exit, other.stderr]).toEqual([1, expect.stringContaining("error[LAND_UNVERIFIED]")]);
    expect((await server.call("agent.select", { run, only: ["lamp.txt"] })).result).toBe("failed");
    expect(repo.git("status", "--short")).toBe("");
  });

  it("is verified again on a tree that moved on, whatever --unverified lifts for whole changes", async () => {
    const { repo, server, run, apply } = await open([
      "--verify-sh",
      "! grep -q rope lines.txt || ! grep -q tar lamp.txt",
    ]);
    const rope = await server.call("agent.select", { run, only: ["lines.txt:2"] });
    expect([rope.result, rope.candidate]).toEqual(["passed", 2]);
    repo.write("lamp.txt", "tar\n");
    for (const flags of [
      ["--candidate", "2"],
      ["--candidate", "2", "--unverified"],
      ["--only", "lines.txt:2", "--unverified"],
    ]) {
      const refused = await apply(...flags);
      expect([flags, refused.exit, refused.stderr]).toEqual([
        flags,
        1,
        expect.stringContaining("the change on the tree as it is now does not pass"),
      ]);
    }
    expect(read(repo, "lines.txt")).toBe(text());
    repo.write("lamp.txt", "off\n\n");
    expect((await apply("--candidate", "2")).exit).toBe(0);
    expect(read(repo, "lines.txt")).toBe(text([20, "rope"]));
  });

  it("can pass where the whole is rejected or fails, is judged by itself, and stays unverified without commands", async () => {
    const repo = makeHarbour();
    const script = "sed -i '3s/.*/bell/' lines.txt; echo on > lamp.txt; echo x > .env";
    const { summary } = await repo.agent(["--no-verify"], ["sh", "-c", script]);
    const server = await serveRepo(repo);
    const run = summary.run_id;
    expect(summary.outcome).toBe("rejected");
    const secret = await server.call("agent.select", { run, only: [".env"] });
    expect([secret.result, secret.gate?.findings.map(({ path }) => path)]).toEqual(["rejected", [".env"]]);
    expect((await repo.verbatim("agent", "apply", run, "--candidate", "2")).stderr).toContain("error[POLICY_SECRET]");
    const rest = await server.call("agent.select", { run, except: [".env"] });
    expect([rest.result, rest.reason, rest.verify?.result]).toEqual([
      "unverified",
      "you asked for --no-verify",
      "NONE",
    ]);
    await expect(server.call("agent.select", { run, only: ["nothing"] })).rejects.toThrow(/SELECTION_INVALID/);
    expect((await repo.verbatim("agent", "apply", run, "--candidate", String(rest.candidate))).exit).toBe(0);
    expect(repo.git("status", "--short")).toBe(" M lamp.txt\n M lines.txt\n");
  });
});

describe("what the gate rejects", () => {
  it("does not land as a part, nor as the whole in other words, while the rest does", async () => {
    const repo = makeHarbour();
    const script = "echo on > lamp.txt; mkdir -p .github/workflows; echo 'on: push' > .github/workflows/ci.yml";
    const { summary } = await repo.agent(["--verify", "true"], ["sh", "-c", script]);
    expect(summary.outcome).toBe("rejected");
    const ci = [".github/workflows/ci.yml"];
    for (const paths of [ci, ["lamp.txt", ...ci]]) {
      const flags = [...paths.flatMap((path) => ["--only", path]), "--unverified", "--yes"];
      const { exit, stderr } = await repo.verbatim("agent", "apply", summary.run_id, ...flags);
      expect([exit, stderr]).toEqual([1, expect.stringContaining("error[POLICY_PROTECTED]")]);
      expect(repo.git("status", "--short")).toBe("");
    }
    expect((await repo.verbatim("agent", "apply", summary.run_id, "--only", "lamp.txt", "--yes")).exit).toBe(0);
    expect(repo.git("status", "--short")).toBe(" M lamp.txt\n");
  });

  it("does not land on a tree whose rules are narrower by now, whatever was verified before", async () => {
    const { repo, summary, apply } = await open();
    expect(summary.outcome).toBe("verified");
    repo.write("verbatim.config.json", JSON.stringify({ agent: { policy: { max_files: 1 } } }));
    const { exit, stderr } = await apply("--yes", "--unverified", "--no-reverify");
    expect([exit, stderr]).toEqual([1, expect.stringContaining("error[POLICY_LIMIT]")]);
    expect(repo.git("status", "--short")).toBe("?? verbatim.config.json\n");
    rmSync(join(repo.root, "verbatim.config.json"));
    expect((await apply("--yes")).exit).toBe(0);
  });
});

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startFailed } from "../../src/adapters/guards/control.ts";
import { describeBreak } from "../../src/app/agent/request/agent-arguments.ts";
import { openApp } from "../../src/app/call.ts";
import { makeAgentRepo } from "../support/agent-repo.ts";

// Guards: the sentences people read of an agent run, as the design has them. Those that are not here are in the tests of
// what they speak of.

const MINE = ["-c", "user.name=Mira", "-c", "user.email=mira@example.org"];

function makeLamp() {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.write("package.json", '{ "name": "lamp" }\n');
  repo.write("verbatim.config.json", '{ "workflow": { "mandatory_docs": [] } }\n');
  repo.write(".gitignore", "cache/\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

const flat = (text: string) => text.replaceAll(/\s+/g, " ");

describe("the report of an agent run", () => {
  it("says what became of commits, ignored files and what the agent was given", async () => {
    const repo = makeLamp();
    const script = `mkdir cache; echo 1 > cache/a; echo 2 > cache/b; echo on > lamp.txt; git ${MINE.join(" ")} commit -qam mine`;
    const flags = ["agent", "--goal", "light it", "--file", "lamp.txt"];
    const plain = await repo.verbatim(...flags, "--no-verify", "--", "sh", "-c", script);
    for (const said of [
      "the agent made 1 commit; its changes are in the diff, the commit itself is gone",
      "the agent also wrote 2 ignored files; they were not used",
      "the agent was given 1 file (4 bytes)",
      "not verified: you asked for --no-verify",
      "your tree nothing in it was changed by the agent (checked ",
    ])
      expect(flat(plain.stdout)).toContain(said);
    const hooked = `${script}; echo '{"scripts":{"postinstall":"true"}}' > package.json`;
    const verified = await repo.verbatim(...flags, "--verify", "true", "--", "sh", "-c", hooked);
    for (const said of [
      "passed on your tree with its ignored files",
      "none of the agent's 2 ignored files were used",
      "runs on install",
      "no protected path, no secret in what was added",
    ])
      expect(flat(verified.stdout)).toContain(said);
  });

  it("says that nothing verified the change on the tree as it is, where somebody asked for that", async () => {
    const repo = makeLamp();
    const ran = await repo.verbatim("agent", "--goal", "x", "--verify", "true", "--", "sh", "-c", "echo on > lamp.txt");
    expect(ran.exit).toBe(0);
    repo.write("theirs.txt", "a local file\n");
    const applied = await repo.verbatim("agent", "apply", "@", "--no-reverify");
    expect([applied.exit, flat(applied.stdout)]).toEqual([
      0,
      expect.stringContaining("not verified on the current tree"),
    ]);
    expect(flat((await repo.verbatim("agent", "show", "@")).stdout)).toContain("not verified on the current tree");
  });

  it("says before the agent starts that nothing holds it back, and afterwards how long it had", async () => {
    const repo = makeLamp();
    const flags = ["--goal", "x", "--no-verify", "--guard", "audit", "--timeout", "300ms"];
    const late = await repo.verbatim("agent", ...flags, "--", "sh", "-c", "echo on > lamp.txt; exec sleep 30");
    expect(late.stderr).toContain("! nothing on this machine can hold the agent back; changes are only noticed");
    expect(flat(late.stdout)).toMatch(/timed out: the agent was stopped after [0-9.]+ m?s \(--timeout\)/);
    expect(flat(late.stdout)).toContain("what it did so far is kept; judge it: verbatim agent verify");
  });

  it("ends an agent after the time of the configuration, where no flag says another", async () => {
    const repo = makeLamp();
    repo.write("verbatim.config.json", '{ "agent": { "timeout_s": 1 } }');
    const flags = ["agent", "--goal", "x", "--no-verify"];
    const late = await repo.verbatim(...flags, "--", "sh", "-c", "echo on > lamp.txt; exec sleep 300");
    expect([late.exit, flat(late.stdout)]).toEqual([
      1,
      expect.stringMatching(/timed out: the agent was stopped after /),
    ]);
    expect((await repo.verbatim(...flags, "--timeout", "5m", "--", "sleep", "2")).stdout).toContain("changed nothing");
  });

  it("starts no agent on Windows itself, and says where it would be held back", async () => {
    const repo = makeLamp();
    const app = openApp({ surface: "cli", start: repo.root, env: repo.env, platform: "win32" });
    onTestFinished(() => app.close());
    const input = { goal: "x", no_verify: true, command: ["true"] };
    await expect(app.call("agent.run", input)).rejects.toMatchObject({
      code: "AGENT_NEEDS_WSL",
      exit: 2,
      fix: "Run it inside WSL2, with the repository on a Linux file system.",
    });
    expect(existsSync(join(repo.root, ".verbatim"))).toBe(false);
  });

  it("speaks of a machine that starts no guard in words, and says where to look", () => {
    const reason = (lines: string, isRoot: boolean) => describeBreak(startFailed(lines, isRoot), false);
    const denied = "unshare: unshare failed: Operation not permitted";
    expect(reason(denied, false)).toEqual({
      outcome: "not_started",
      reason:
        "the agent could not be started: this machine does not allow overlays for ordinary users. See: verbatim doctor",
    });
    expect(reason("mount /: Operation not permitted", true).reason).toContain("does not allow overlays. See");
    expect(reason("work: No space left on device", false).reason).toBe(
      "the agent could not be started: the guard did not start: work: No space left on device. See: verbatim doctor",
    );
    expect(startFailed(denied, false).details).toEqual({ lines: denied });
  });
});

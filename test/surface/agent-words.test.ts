import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { BIN } from "../support/cli.ts";

// Guards: no outcome of an agent run is called better than it is, at any surface.

function makeLamp(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.write("keep.bin", new Uint8Array([0, 1]));
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

const LIGHT = ["sh", "-c", "echo on > lamp.txt"];

/** The run in the words of the command line: what it prints, and the summary that `show --json` gives afterwards. */
async function tell(repo: AgentRepo, flags: readonly string[], command: readonly string[]) {
  const { exit, stdout, stderr } = await repo.verbatim("agent", "--goal", "light it", ...flags, "--", ...command);
  const shown = await repo.verbatim("agent", "show", "@", "--json");
  const { summary } = JSON.parse(shown.stdout) as { summary: Record<string, unknown> };
  return { exit, stdout, stderr, summary: summary as Record<string, unknown> & { run_id: string; run_dir: string } };
}

describe("a change that nobody verified", () => {
  it("is called unverified at every surface, before and after it is applied", async () => {
    const repo = makeLamp();
    const { exit, stdout, summary } = await tell(repo, ["--no-verify"], LIGHT);
    expect(exit).toBe(0);
    expect(stdout).toContain("- verify    not verified: you asked for --no-verify");
    expect(stdout).toMatch(/^unverified: no command checked the change\. Nothing is applied yet\.$/m);
    expect(stdout).not.toMatch(/passed|✓ verify|(?<!un|not )verified/);
    expect(summary).toMatchObject({
      outcome: "unverified",
      reason: "you asked for --no-verify",
      verify: { result: "NONE", commands: [] },
    });
    expect(existsSync(join(summary.run_dir, "artifacts/verify_report.json"))).toBe(false);
    const events = readFileSync(join(summary.run_dir, "events.jsonl"), "utf8");
    expect(events).toContain("VERIFY_SKIPPED");
    expect(events).not.toMatch(/PASSED/);
    const status = await repo.verbatim("workflow", "status", summary.run_id);
    expect(status.stdout).toContain("CANDIDATE_UNVERIFIED");
    expect((await repo.verbatim("workflow", "validate", summary.run_id)).exit).toBe(0);
    const applied = await repo.verbatim("agent", "apply", summary.run_id);
    expect([applied.exit, applied.stdout]).toEqual([0, expect.stringContaining("applied 1 file, unverified. Undo:")]);
    const shown = await repo.verbatim("agent", "show", summary.run_id);
    expect(shown.stdout).toContain("not verified: you asked for --no-verify");
  });

  it("is verified in the root of the repository, and whoever typed the command in a folder is told so", async () => {
    const repo = makeLamp();
    mkdirSync(join(repo.root, "yard"));
    const verify = [
      "agent",
      "--goal",
      "light it",
      "--verify",
      "grep -q on lamp.txt",
      "--",
      "sh",
      "-c",
      "echo on > ../lamp.txt",
    ];
    const { exit, stderr } = await repo.verbatim("-C", join(repo.root, "yard"), ...verify);
    expect(exit).toBe(0);
    expect(stderr).toContain('verify commands run in the root of the repository, not in "yard"\n');
    expect((await repo.verbatim(...verify)).stderr).not.toContain("in the root of the repository");
  });

  it("is refused where the configured gate is empty, and only --no-verify lifts that", async () => {
    const repo = makeLamp();
    repo.write("verbatim.config.json", '{"workflow":{"verify":{"gates":{"lite":[]}}}}');
    repo.git("add", ".");
    repo.git("commit", "-qm", "an empty gate");
    const refused = await repo.verbatim("agent", "--goal", "x", "--", ...LIGHT);
    expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining("VERIFY_NOT_CONFIGURED")]);
    expect((await tell(repo, ["--no-verify"], LIGHT)).summary["outcome"]).toBe("unverified");
  });

  it("is not let through where a gate of the product itself says no", async () => {
    const repo = makeLamp();
    const { exit, stdout, summary } = await tell(
      repo,
      ["--no-verify"],
      ["sh", "-c", "mkdir src; echo '// BEHAVIOR_ID: B999' > src/a.ts"],
    );
    expect([exit, summary["outcome"]]).toEqual([1, "verify_failed"]);
    expect(stdout).toContain("✗ verify");
  });

  it("of an earlier version, which called it verified, is told by today's words", async () => {
    const repo = makeLamp();
    const { summary } = await tell(repo, ["--no-verify"], LIGHT);
    // Such a run has a summary in place of run.json.
    rmSync(join(summary.run_dir, "agent/run.json"));
    const { landing: _, ...old } = summary;
    const commands = [{ cmd: "verbatim:plan_check", duration_ms: 1, exit_code: 0 }];
    const verify = { result: "PASS", isolation: "worktree", catalytic_run: null, commands, failures: [] };
    writeFileSync(join(summary.run_dir, "agent/summary.json"), JSON.stringify({ ...old, outcome: "verified", verify }));
    const shown = await repo.verbatim("agent", "show", summary.run_id);
    expect(shown.stdout).toContain("not verified");
    expect(shown.stdout).not.toMatch(/passed/);
    // It lands whole or not at all: what was asked of a newer run is not quietly left out.
    for (const flag of ["--dry-run", "--unverified", "--no-reverify", "--only=lamp.txt"]) {
      const refused = await repo.verbatim("agent", "apply", summary.run_id, flag);
      expect([flag, refused.exit, repo.git("status", "--short")]).toEqual([flag, 1, ""]);
      expect(refused.stderr).toContain("error[RUN_ENDED] the run was made by an earlier version");
    }
  });
});

describe("how an agent ended", () => {
  it("with an exit code, or out of time, is said in words and by its own outcome", async () => {
    const repo = makeLamp();
    const failed = await tell(repo, ["--no-verify"], ["sh", "-c", "echo on > lamp.txt; exit 7"]);
    expect([failed.exit, failed.summary["outcome"], failed.summary["reason"]]).toEqual([
      1,
      "agent_failed",
      "the agent ended with exit code 7",
    ]);
    expect(failed.stdout).toMatch(/^agent failed: the agent ended with exit code 7$/m);
    const late = await tell(repo, ["--no-verify", "--timeout", "200ms"], ["sleep", "30"]);
    expect([late.exit, late.summary["outcome"]]).toEqual([1, "timed_out"]);
    expect(late.stdout).toMatch(/^timed out: /m);
  });
});

describe("a run that ended", () => {
  it("is not discarded; the refusal says what it is and what can be done", async () => {
    const repo = makeLamp();
    const discard = async (id: string) => {
      const { exit, stderr } = await repo.verbatim("agent", "discard", id);
      return [exit, stderr.split("\n").filter((line) => !line.startsWith("  where"))];
    };
    const { summary: same } = await tell(repo, ["--no-verify"], ["true"]);
    expect(await discard(same.run_id)).toEqual([
      1,
      [
        "error[RUN_ENDED] the run is unchanged: it has nothing to apply, so there is nothing to discard",
        `  fix: See: verbatim agent show ${same.run_id}`,
        "",
      ],
    ]);
    const { summary: applied } = await tell(repo, ["--no-verify", "--apply", "auto"], LIGHT);
    expect(await discard(applied.run_id)).toEqual([
      1,
      [
        "error[RUN_ENDED] the change has been applied, so it cannot be discarded",
        `  fix: Undo it: verbatim agent undo ${applied.run_id}`,
        "",
      ],
    ]);
  });

  it("because Verbatim was killed is interrupted at every surface, and can be discarded", async () => {
    const repo = makeLamp();
    const args = ["agent", "--goal", "wait", "--no-verify", "--", "sleep", "300"];
    const child = spawn(process.execPath, [BIN, ...args], { cwd: repo.root, env: repo.env, stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("close", resolve));
    const look = async () => {
      const { stdout } = await repo.verbatim("agent", "list", "--json");
      return (JSON.parse(stdout) as { runs: { run_id: string; outcome: string }[] }).runs[0];
    };
    await vi.waitFor(async () => expect((await look())?.outcome).toBe("working"), { timeout: 200_000, interval: 100 });
    const busy = await repo.verbatim("agent", "apply", "@");
    expect([busy.exit, busy.stderr.split("\n")[0]]).toEqual([
      4,
      `error[RUN_AT_WORK] the run is at work (process ${child.pid}): working`,
    ]);
    child.kill("SIGKILL");
    await ended;
    const run = await look();
    const keep = `keep what it had done with: verbatim agent verify ${run!.run_id}`;
    expect(run).toMatchObject({ outcome: "interrupted", reason: `Verbatim ended while the agent worked; ${keep}` });
    const shown = await repo.verbatim("agent", "show", run!.run_id);
    expect(shown.stdout).toContain("interrupted: Verbatim ended while the agent worked");
    expect(shown.stdout).not.toContain("working:");
    const refused = await repo.verbatim("agent", "apply", run!.run_id);
    expect([refused.exit, refused.stderr]).toEqual([
      1,
      expect.stringContaining("the run is interrupted: it has nothing to apply"),
    ]);
    expect((await repo.verbatim("agent", "discard", run!.run_id)).exit).toBe(0);
    expect(await look()).toMatchObject({ outcome: "discarded" });
  });
});

describe("the steps of a workflow", () => {
  it("do not move a run of agents on; its own verbs do, and its undo is the rollback", async () => {
    const repo = makeLamp();
    const { summary } = await tell(repo, ["--no-verify"], LIGHT);
    const run = summary.run_id;
    const abort = ["workflow", "abort", run, "--reason", "no"];
    for (const words of [
      ["workflow", "advance", run, "--apply"],
      ["workflow", "submit", "diff.patch", "-", run],
      abort,
    ]) {
      const { exit, stderr } = await repo.verbatim(...words);
      expect([exit, stderr]).toEqual([2, expect.stringContaining("error[RUN_OF_AGENT]")]);
    }
    expect((await repo.verbatim("agent", "apply", run)).exit).toBe(0);
    expect((await repo.verbatim("workflow", "rollback", run)).exit).toBe(0);
    expect(repo.git("status", "--short")).toBe("");
  });
});

describe("what an agent left", () => {
  it("binaries are B, links L with what they lead to", async () => {
    const repo = makeLamp();
    const script = "printf '\\0new' > new.bin; printf '\\0old' > keep.bin; ln -s lamp.txt link";
    const { stdout, summary } = await tell(repo, ["--no-verify"], ["sh", "-c", script]);
    const { files } = summary["changes"] as { files: { path: string; operation: string }[] };
    expect(files.map(({ path, operation }) => [path, operation])).toEqual([
      ["keep.bin", "modify"],
      ["link", "create"],
      ["new.bin", "create"],
    ]);
    expect(stdout).toMatch(/ L link -> lamp\.txt {2}new link\n/);
    expect(stdout).toMatch(/ B keep\.bin +2 bytes -> 4 bytes, binary\n/);
    expect(stdout).toMatch(/ B new\.bin +new, 4 bytes, binary\n/);
  });
});

describe("a place to keep that is not there", () => {
  it("is refused by name when it is given by hand, and said when it is configured", async () => {
    const repo = makeLamp();
    const gone = join(repo.base, "home/.gone");
    const refused = await repo.verbatim("agent", "--goal", "x", "--no-verify", "--keep", gone, "--", ...LIGHT);
    expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining(`--keep "${gone}" does not exist`)]);
    mkdirSync(join(repo.base, "home/.login"));
    const keep = [gone, join(repo.base, "home/.login")];
    repo.write("verbatim.config.json", JSON.stringify({ agent: { keep } }));
    repo.git("add", ".");
    repo.git("commit", "-qm", "keeps");
    // A repository that is not trusted may not keep anything.
    const untrusted = await repo.verbatim("agent", "--goal", "x", "--no-verify", "--", ...LIGHT);
    expect([untrusted.exit, untrusted.stderr]).toEqual([2, expect.stringContaining("error[CONFIG_UNTRUSTED]")]);
    mkdirSync(join(repo.base, "home/.config/verbatim"), { recursive: true });
    const own = join(repo.base, "home/.config/verbatim/config.json");
    writeFileSync(own, JSON.stringify({ agent: { trust: [repo.root] } }));
    const { stderr, summary } = await tell(repo, ["--no-verify"], LIGHT);
    expect(stderr).toContain(`agent.keep: "${gone}" does not exist`);
    expect(summary["kept"]).toEqual([keep[1]]);
  });
});

describe("a guard that blocks nothing", () => {
  it("gets no tick: it says what was compared and that nothing was prevented", async () => {
    const repo = makeLamp();
    const { exit, stdout } = await tell(repo, ["--no-verify", "--guard", "audit"], LIGHT);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^! your tree nothing could hold the agent back; comparing afterwards/m);
    expect(stdout).not.toMatch(/✓ your tree|untouched|nothing in it was changed/);
  });

  it("does not say that an agent that changed the real tree left it alone", async () => {
    const repo = makeLamp();
    const script = `echo evil > ${repo.root}/lamp.txt`;
    const { exit, stdout } = await tell(repo, ["--no-verify", "--guard", "audit"], ["sh", "-c", script]);
    expect(exit).toBe(1);
    expect(stdout).toContain("✗ your tree it is not proved that your tree is unchanged");
    expect(stdout).not.toMatch(/untouched|nothing in it was changed|nothing landed/);
  });

  it("is not called better than it is by a catalytic run either", async () => {
    const repo = makeLamp();
    const run = async (guard: string) => {
      const words = ["catalytic", "run", "--guard", guard, "--domain", ".verbatim/scratch", "--", "true"];
      return await repo.verbatim(...words);
    };
    const audit = await run("audit");
    expect([audit.exit, audit.stderr]).toEqual([0, expect.stringMatching(/paths compared; nothing was prevented$/m)]);
    expect(audit.stderr).toMatch(/^proved run \S+: the domains are unchanged/m);
    const landlock = await run("landlock");
    if (landlock.exit === 0) expect(landlock.stderr).toContain("some kinds of writes are not blocked there");
    expect(`${audit.stderr}${landlock.stderr}`).not.toMatch(/everything is as it was|everything is unchanged/);
  });
});

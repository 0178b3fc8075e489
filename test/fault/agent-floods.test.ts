import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { BIN } from "../support/cli.ts";
import { runHere } from "../support/cli-in-process.ts";

/** An agent that tries to make the tool wait, or to fill its memory, its ledger or its disk. */
function makeSample(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

const SPOOL = '"$(dirname "$VERBATIM_PACK")"/../hooks/receipts.jsonl';
/** The cap of a run would stop such a file before anybody here has to look at it. */
const LARGE = ["--disk", "300GB"];
const FLAGS = ["--no-verify", "--file", "lamp.txt", ...LARGE];

describe("the hook spool", () => {
  it.each([
    ["a FIFO", `mkfifo ${SPOOL}`, "not_a_file"],
    ["a link to an endless device", `ln -s /dev/zero ${SPOOL}`, "not_a_file"],
    ["200 GB of nothing", `truncate -s 200G ${SPOOL}`, "too_large"],
  ])("that is %s neither hangs nor floods the tool", async (_, script, reason) => {
    const repo = makeSample();
    repo.write("verbatim.config.json", '{"workflow":{"mandatory_docs":[]}}');
    repo.git("add", ".");
    repo.git("commit", "-qm", "config");
    const { summary } = await repo.agent(FLAGS, ["sh", "-ec", `${script}; echo on > lamp.txt`]);
    expect(summary.hooks).toEqual({ reported: 0, reported_blocked: 0 });
    const ledger = await repo.verbatim("ledger", "show", "--stream", `workflow/${summary.run_id}`, "--json");
    expect(ledger.stdout).toContain("HOOK_SPOOL_REFUSED");
    expect(ledger.stdout).toContain(reason);
  });

  it("is a report of the agent: forged lines are never judgements of a hook", async () => {
    const repo = makeSample();
    repo.write("verbatim.config.json", '{"workflow":{"mandatory_docs":[]}}');
    repo.git("add", ".");
    repo.git("commit", "-qm", "config");
    const forged = '{"kind":"HOOK_ALLOWED","time":"2026-01-01T00:00:00.000Z","body":{"tool":"Write"}}';
    const script = `printf '%s\\n' '${forged}' 'no receipt' > ${SPOOL}; echo on > lamp.txt`;
    const { summary } = await repo.agent(FLAGS, ["sh", "-ec", script]);
    expect(summary.hooks).toEqual({ reported: 1, reported_blocked: 0 });
    const { stdout } = await repo.verbatim("ledger", "show", "--stream", `workflow/${summary.run_id}`, "--json");
    expect(stdout).not.toMatch(/"kind":\s*"HOOK_ALLOWED"/);
    expect(stdout).not.toMatch(/"actor":\s*"hook"/);
    expect(stdout).toMatch(/"HOOK_REPORTED"/);
    expect(stdout).toMatch(/"HOOK_LINES_REFUSED"/);
    const shown = await repo.verbatim("agent", "show", summary.run_id);
    expect(shown.stdout).toContain("1 action of the agent was checked by hooks, ");
  });
});

describe("files that are too large", () => {
  it.each(["ns-overlay", "audit"])("are listed and not read, under %s", async (guard) => {
    const repo = makeSample();
    const script = "truncate -s 200G huge; truncate -s 3G large; echo on > lamp.txt";
    const { summary } = await repo.agent(["--no-verify", "--guard", guard, ...LARGE], ["sh", "-ec", script]);
    expect(summary.changes.files.map(({ path }) => path)).toEqual(["lamp.txt"]);
    expect(summary.changes.not_carried).toEqual([
      { path: "huge", why: "too_large", sha256: null },
      { path: "large", why: "too_large", sha256: null },
    ]);
    expect(summary.outcome).not.toBe("interrupted");
  });

  it("are too large together as well, and take nothing away from small ones", async () => {
    const repo = makeSample();
    const script = "truncate -s 30M $(seq -f 1-%g 300); echo on > lamp.txt";
    const { summary } = await repo.agent(["--no-verify"], ["sh", "-ec", script]);
    expect(summary.changes.not_carried.filter(({ why }) => why === "too_large")).toHaveLength(296);
    expect(summary.changes.files.map(({ path }) => path)).toContain("lamp.txt");
  });

  it("take nothing away from the others when git ignores them", async () => {
    const repo = makeSample();
    repo.write(".gitignore", "lib/\n*.tmp\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "rules");
    repo.write("lib/old", "old\n");
    const script =
      "for i in 1 2 3 4 5; do truncate -s 30M a$i.tmp lib/$i; done; truncate -s 31M lib/old; echo on > lamp.txt";
    const { summary } = await repo.agent(["--no-verify"], ["sh", "-ec", script]);
    expect(summary.changes.not_carried).toEqual([]);
    expect(summary.changes.files.map(({ path }) => path)).toEqual(["lamp.txt"]);
    expect(summary.changes.ignored).toBeGreaterThanOrEqual(11);
  });

  it.each(["ns-overlay", "ns-bind", "audit"])(
    "more entries than the limit allows end the run with a code, under %s",
    async (guard) => {
      const repo = makeSample();
      repo.write("verbatim.config.json", '{"catalytic":{"limits":{"max_entries":60}}}');
      repo.git("add", ".");
      repo.git("commit", "-qm", "limits");
      const script = "touch $(seq -f f%g 100); echo on > lamp.txt";
      const { exit, summary } = await repo.agent(["--no-verify", "--guard", guard], ["sh", "-ec", script]);
      expect([exit, summary.outcome, summary.changes.files]).toEqual([1, "agent_failed", []]);
      expect(summary.reason).toContain("VIEW_TOO_LARGE");
      expect(summary.proof.tree_root_after).toBe(summary.proof.tree_root_before);
    },
  );
});

describe("a disk that fills up in the middle of a run", () => {
  it.for(["ns-overlay", "ns-bind", "landlock", "audit"])(
    "ends it with DISK_FULL, and what it took is given back, under %s",
    async (guard, { skip }) => {
      if (process.platform !== "linux" || process.getuid?.() !== 0) skip("only root on Linux can mount a disk");
      const base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-full-")));
      const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", base], { encoding: "utf8" });
      onTestFinished(() => {
        spawnSync("umount", ["-l", base]);
        rmSync(base, { recursive: true, force: true });
      });
      if (mounted.status !== 0) skip(`mount failed: ${mounted.stderr}`);
      const [root, home] = [join(base, "repo"), join(base, "home")];
      for (const folder of [root, home]) mkdirSync(folder);
      const env = { PATH: process.env["PATH"] ?? "", HOME: home, XDG_STATE_HOME: join(home, "state"), NO_COLOR: "1" };
      const run = (file: string, ...args: string[]) => spawnSync(file, args, { cwd: root, env, encoding: "utf8" });
      const verbatim = (...args: string[]) => runHere(args, { cwd: root, env });
      run("git", "init", "-q");
      run("git", "-c", "user.name=M", "-c", "user.email=m@example.org", "commit", "-q", "--allow-empty", "-m", "first");
      const fill = "dd if=/dev/zero of=filler bs=64k 2>/dev/null; dd if=/dev/zero of=filler2 bs=1 2>/dev/null; exit 0";
      const flags = ["--goal", "x", "--no-verify", "--guard", guard];
      const agent = run(process.execPath, BIN, "agent", ...flags, "--", "sh", "-c", fill);
      expect([agent.status, agent.stderr]).toEqual([4, expect.stringContaining("error[DISK_FULL]")]);
      const { bavail, bsize } = statfsSync(base);
      expect(bavail * bsize).toBeGreaterThan(12 * 1024 * 1024);
      expect(existsSync(join(root, "filler"))).toBe(false);
      const listed = await verbatim("agent", "list", "--json");
      expect([listed.exit, listed.stdout.includes('"outcome":"working"')]).toEqual([0, false]);
      expect((await verbatim("catalytic", "recover")).exit).toBe(0);
      const work = join(home, "state/verbatim/work");
      expect(existsSync(work) ? readdirSync(work) : []).toEqual([]);
      expect((await verbatim("agent", ...flags, "--", "sh", "-c", "echo on > lamp.txt")).exit).toBe(0);
    },
  );
});

import { chmodSync, existsSync, lstatSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type AgentRepo, makeAgentRepo, type Summary } from "../support/agent-repo.ts";

// Guards: a finished change is never a dead end. It lands on the tree as it is now, in whole or in parts, judged and
// verified, with everything that a text patch cannot carry, and comes out again.

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`);

function text(...changes: readonly (readonly [line: number, text: string])[]): string {
  return `${LINES.map((line, i) => changes.find(([at]) => at === i + 1)?.[1] ?? line).join("\n")}\n`;
}

function makeHarbour(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lines.txt", text());
  repo.write("lamp.txt", "off\n");
  repo.write("ring.sh", "#!/bin/sh\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

const edit = (line: number, words: string) => ["sed", "-i", `${line}s/.*/${words}/`, "lines.txt"];
const read = (repo: AgentRepo, path: string) => readFileSync(join(repo.root, path), "utf8");

async function show(repo: AgentRepo, run: string): Promise<Summary> {
  return (JSON.parse((await repo.verbatim("agent", "show", run, "--json")).stdout) as { summary: Summary }).summary;
}

/** What the commands of a run verify: no line may say "broken". */
const NOT_BROKEN = ["--verify-sh", "! grep -q broken lines.txt"];

describe("several runs on one tree", () => {
  it("land one after the other: alone, merged and verified again, or not at all where they meet", async () => {
    const repo = makeHarbour();
    const first = await repo.agent(NOT_BROKEN, edit(3, "first"));
    const second = await repo.agent(NOT_BROKEN, edit(20, "second"));
    const third = await repo.agent(NOT_BROKEN, ["sh", "-c", "echo on > lamp.txt"]);
    const fourth = await repo.agent(NOT_BROKEN, edit(3, "fourth"));
    repo.write("notes.txt", "a local file\n");
    const apply = (run: Summary, ...flags: string[]) => repo.verbatim("agent", "apply", run.run_id, ...flags);
    expect((await apply(first.summary)).exit).toBe(0);
    const merged = await apply(second.summary);
    expect(merged.exit).toBe(0);
    expect(merged.stdout).toContain("lines.txt  merged: yours at line 3, the agent's at 20\n");
    expect(merged.stdout).toMatch(/✓ policy {4}✓ verify {3}.+ passed on the merged tree, [0-9.]+ m?s\n/);
    expect((await apply(third.summary)).exit).toBe(0);
    expect(read(repo, "lines.txt")).toBe(text([3, "first"], [20, "second"]));
    const conflict = await apply(fourth.summary);
    expect(conflict.exit).toBe(1);
    expect(conflict.stderr).toContain("error[LAND_CONFLICT] 1 file was changed by you and by the agent");
    expect(conflict.stderr).toContain(`verbatim agent show ${fourth.summary.run_id} --diff lines.txt`);
    expect((await show(repo, fourth.summary.run_id)).outcome).toBe("verified");
    expect(repo.git("status", "--short")).toBe(" M lamp.txt\n M lines.txt\n?? notes.txt\n");
    // The first can no longer be taken out: the second changed its file since. The third can.
    expect((await repo.verbatim("agent", "undo", first.summary.run_id)).stderr).toContain("error[ROLLBACK_CONFLICT]");
    expect((await repo.verbatim("agent", "undo", third.summary.run_id)).exit).toBe(0);
    expect(read(repo, "lamp.txt")).toBe("off\n");
  });

  it("name every file that cannot land with its lines, what happened to the tree, and the ways on", async () => {
    const repo = makeHarbour();
    const script = "sed -i '3s/.*/a/; 20s/.*/b/' lines.txt; echo on > lamp.txt; echo new > 'a b.txt'; echo x > c.txt";
    repo.write("verbatim.config.json", '{"agent":{"patch":{"max_files":60}}}');
    const { summary, result } = await repo.agent(NOT_BROKEN, ["sh", "-c", script]);
    expect(result.stderr).toContain("agent.patch (max_files) is read as it was");
    expect(result.stderr).toContain("agent.policy adds to it");
    const run = summary.run_id;
    repo.write("lines.txt", text([3, "mine"]));
    repo.git("commit", "-qam", "second");
    repo.git("commit", "-q", "--allow-empty", "-m", "third");
    repo.write("lines.txt", text([3, "mine"], [20, "mine"], [21, "too"]));
    repo.write("a b.txt", "mine\n");
    const conflict = await repo.verbatim("agent", "apply", run);
    expect([conflict.exit, conflict.stdout, conflict.stderr.split("\n")]).toEqual([
      1,
      "",
      [
        "error[LAND_CONFLICT] 2 of 4 files were changed by you and by the agent in the same place",
        "  the tree moved on since the agent began: 2 commits, 2 local edits",
        "  a b.txt       created by both",
        "  lines.txt     line 3 and lines 20-21",
        `  fix           let the agent do it:     verbatim agent continue ${run} --from tree`,
        `                take the rest:           verbatim agent apply ${run} --except 'a b.txt' --except lines.txt`,
        `                the agent's version:     verbatim agent show ${run} --diff 'a b.txt'`,
        `                the agent's version:     verbatim agent show ${run} --diff lines.txt`,
        `                after you changed them:  verbatim agent apply ${run}`,
        "",
      ],
    ]);
    const { error } = JSON.parse((await repo.verbatim("agent", "apply", run, "--json")).stdout) as {
      error: { details: { files: { path: string; where: string; ranges: unknown[] }[]; ways: unknown[] } };
    };
    expect(error.details.ways).toHaveLength(5);
    expect(error.details.files[1]).toMatchObject({
      path: "lines.txt",
      ranges: [
        { start: 3, end: 3 },
        { start: 20, end: 21 },
      ],
    });
    const rest = await repo.verbatim("agent", "apply", run, "--except", "a b.txt", "--except", "lines.txt");
    expect([rest.exit, rest.stdout]).toEqual([
      0,
      expect.stringContaining("the tree moved on since the agent began: 2 commits, 2 local edits\n"),
    ]);
    expect([read(repo, "lamp.txt"), read(repo, "c.txt"), read(repo, "a b.txt")]).toEqual(["on\n", "x\n", "mine\n"]);
  });

  it("are not written where the merged tree fails, and the run stands where it stood", async () => {
    const repo = makeHarbour();
    const both = ["--verify-sh", "! (grep -q left lines.txt && grep -q right lines.txt)"];
    const left = await repo.agent(both, edit(3, "left"));
    const right = await repo.agent(both, edit(20, "right"));
    expect((await repo.verbatim("agent", "apply", left.summary.run_id)).exit).toBe(0);
    const failed = await repo.verbatim("agent", "apply", right.summary.run_id);
    expect([failed.exit, failed.stderr]).toEqual([1, expect.stringContaining("error[LAND_UNVERIFIED]")]);
    expect([read(repo, "lines.txt"), (await show(repo, right.summary.run_id)).outcome]).toEqual([
      text([3, "left"]),
      "verified",
    ]);
    const anyway = await repo.verbatim("agent", "apply", right.summary.run_id, "--no-reverify");
    expect([anyway.exit, read(repo, "lines.txt")]).toEqual([0, text([3, "left"], [20, "right"])]);
    expect(anyway.stdout).not.toContain("verified again");
  });
});

describe("a name that an agent chose", () => {
  it("is quoted in what people are told to type, and typing it works", async () => {
    const repo = makeAgentRepo();
    repo.write("lamp.txt", "off\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    const script = "echo on > lamp.txt; ln -s /etc/hosts 'a$(touch oops)'";
    const { summary } = await repo.agent(["--no-verify"], ["sh", "-c", script]);
    const refused = await repo.verbatim("agent", "apply", summary.run_id);
    expect(refused.stderr).toContain(`verbatim agent apply ${summary.run_id} --except 'a$(touch oops)'\n`);
    const landed = await repo.verbatim("agent", "apply", summary.run_id, "--except", "a$(touch oops)");
    expect([refused.exit, landed.exit, repo.git("status", "--short")]).toEqual([1, 0, " M lamp.txt\n"]);
  });
});

describe("a change that is more than text", () => {
  it("is verified, lands and comes out again: a binary, a link, a mode, a file that becomes a link", async () => {
    const repo = makeHarbour();
    writeFileSync(join(repo.root, "gull.png"), Buffer.from([0x89, 0x50, 0, 1]));
    repo.write("old.txt", "old\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "a picture");
    const script = [
      "printf '\\211P\\0\\2' > gull.png",
      "printf '\\0new' > new.bin",
      "ln -s lamp.txt current",
      "chmod +x ring.sh",
      "rm old.txt; ln -s ring.sh old.txt",
      "echo on > lamp.txt",
    ].join("\n");
    const verify = [
      "--verify-sh",
      "test -x ring.sh && test -L current && test -L old.txt && test $(wc -c < new.bin) = 4",
    ];
    const { exit, summary } = await repo.agent(verify, ["sh", "-ec", script]);
    expect([exit, summary.outcome, summary.reason]).toEqual([0, "verified", null]);
    const shown = await repo.verbatim("agent", "show", summary.run_id);
    for (const line of [
      "B gull.png  4 bytes -> 4 bytes, binary",
      "L current -> lamp.txt",
      "x ring.sh",
      "B new.bin  new, 4 bytes",
    ]) {
      expect(shown.stdout.replace(/ {2,}/g, "  ")).toContain(line);
    }
    const { stdout: diff } = await repo.verbatim("agent", "show", summary.run_id, "--diff");
    for (const line of ["B gull.png  4 bytes -> 4 bytes, binary", "L current -> lamp.txt", "x ring.sh  mode 100755"]) {
      expect(diff.split("\n")).toContain(line);
    }
    expect((await repo.verbatim("agent", "apply", summary.run_id)).exit).toBe(0);
    expect(readFileSync(join(repo.root, "gull.png"))).toEqual(Buffer.from([0x89, 0x50, 0, 2]));
    expect(readFileSync(join(repo.root, "new.bin"))).toEqual(Buffer.from("\0new"));
    expect(["current", "old.txt"].map((path) => readlinkSync(join(repo.root, path)))).toEqual(["lamp.txt", "ring.sh"]);
    expect(lstatSync(join(repo.root, "ring.sh")).mode & 0o111).not.toBe(0);
    expect((await repo.verbatim("agent", "undo", summary.run_id)).exit).toBe(0);
    expect(repo.git("status", "--short")).toBe("");
    expect(lstatSync(join(repo.root, "old.txt")).isFile()).toBe(true);
  });

  it("may have no text at all: then there is no patch, and it lands all the same", async () => {
    const repo = makeHarbour();
    const { summary } = await repo.agent(["--verify", "test -f only.bin"], ["sh", "-c", "printf '\\0' > only.bin"]);
    expect(summary.outcome).toBe("verified");
    expect(existsSync(join(summary.run_dir, "artifacts/diff.patch"))).toBe(false);
    expect((await repo.verbatim("workflow", "validate", summary.run_id)).exit).toBe(0);
    expect((await repo.verbatim("agent", "apply", summary.run_id)).exit).toBe(0);
    expect(readFileSync(join(repo.root, "only.bin"))).toEqual(Buffer.from([0]));
  });
});

describe("parts of a change", () => {
  it("land exactly as chosen, judged and verified by themselves; the rest of the change does not count", async () => {
    const repo = makeHarbour();
    const script = "sed -i '3s/.*/good/; 20s/.*/broken/' lines.txt; echo on > lamp.txt; echo x > .env";
    const { summary } = await repo.agent(NOT_BROKEN, ["sh", "-c", script]);
    expect([summary.outcome, summary.gate?.findings.map(({ path }) => path)]).toEqual(["rejected", [".env"]]);
    const run = summary.run_id;
    const whole = await repo.verbatim("agent", "apply", run, "--unverified");
    expect([whole.exit, whole.stderr]).toEqual([1, expect.stringContaining("error[POLICY_SECRET]")]);
    expect(whole.stderr).toContain(`verbatim agent verify ${run} --permit .env`);
    const missing = await repo.verbatim("agent", "apply", run, "--only", "lines.txt:3");
    expect([missing.exit, missing.stderr]).toEqual([2, expect.stringContaining("error[SELECTION_INVALID]")]);
    const broken = await repo.verbatim("agent", "apply", run, "--only", "lines.txt");
    expect([broken.exit, broken.stderr]).toEqual([
      1,
      expect.stringContaining("error[LAND_UNVERIFIED] the part you chose"),
    ]);
    expect(repo.git("status", "--short")).toBe("");
    const good = await repo.verbatim("agent", "apply", run, "--only", "lines.txt:1", "--only", "lamp.txt");
    expect([good.exit, good.stdout]).toEqual([
      0,
      expect.stringMatching(/^✓ policy {4}✓ verify {3}.* passed with the part you chose, .*\napplied 2 files\./),
    ]);
    expect([read(repo, "lines.txt"), read(repo, "lamp.txt"), existsSync(join(repo.root, ".env"))]).toEqual([
      text([3, "good"]),
      "on\n",
      false,
    ]);
  });
});

describe("a run that did not pass", () => {
  it("reaches the tree through verify: rejected, failed, out of time, ended with an error", async () => {
    const repo = makeHarbour();
    const CI = ".github/workflows/ci.yml";
    const cases = [
      [["--no-verify"], `mkdir -p .github/workflows; echo x > ${CI}`, "rejected", ["--permit", CI], CI],
      [["--verify", "false"], "echo 2 > two.txt", "verify_failed", ["--verify", "test -f two.txt"], "two.txt"],
      [["--no-verify", "--timeout", "2s"], "echo 3 > three.txt; sleep 60", "timed_out", [], "three.txt"],
      [["--no-verify"], "echo 4 > four.txt; exit 3", "agent_failed", ["--verify", "test -f four.txt"], "four.txt"],
    ] as const;
    for (const [flags, script, outcome, again, path] of cases) {
      const { exit, summary } = await repo.agent(flags, ["sh", "-c", script]);
      expect([exit, summary.outcome, typeof summary.reason]).toEqual([1, outcome, "string"]);
      expect((await repo.verbatim("agent", "apply", summary.run_id)).exit).toBe(1);
      expect(existsSync(join(repo.root, path))).toBe(false);
      const verified = await repo.verbatim("agent", "verify", summary.run_id, ...again);
      expect([outcome, verified.exit, verified.stderr.includes("error")]).toEqual([outcome, 0, false]);
      // A protected path that was permitted is still in the change, and the report says so.
      const isPermitted = verified.stdout.replace(/\s+/g, " ").includes(`added, except what was permitted: ${CI} `);
      expect([outcome, isPermitted]).toEqual([outcome, path === CI]);
      const applied = await repo.verbatim("agent", "apply", summary.run_id);
      expect([applied.exit, existsSync(join(repo.root, path))]).toEqual([0, true]);
    }
  });

  it("names for every refusal the flag that lifts it, or says that there is none", async () => {
    const repo = makeHarbour();
    const script =
      "ln -s /etc/passwd outside; echo x > .npmrc; printf token=gh%s p_0123456789abcdefghijklmnopqrstuvwxyzAB >> lamp.txt";
    const { stdout, exit } = await repo.verbatim("agent", "--goal", "x", "--no-verify", "--", "sh", "-c", script);
    expect(exit).toBe(1);
    expect(stdout).toContain("There is no flag for it. Leave it out: --leave-out outside");
    expect(stdout).toContain("Allow it: --permit .npmrc");
    expect(stdout).toContain("Allow it: --permit lamp.txt");
    expect(stdout).not.toContain("ghp_0123456789");
    expect(stdout).not.toMatch(/passed/);
  });
});

describe("a landing whose process was killed", () => {
  it.each([
    ["written", "is completed by the next verb", 1],
    ["writing", "is taken back by the next verb, which lands it anew", 2],
  ])("after its journal said %s %s", async (state, _, landings) => {
    const repo = makeHarbour();
    const { summary } = await repo.agent(["--no-verify"], edit(3, "agent"));
    expect((await repo.verbatim("agent", "apply", summary.run_id)).exit).toBe(0);
    // The records as a kill at that point leaves them.
    const change = (path: string, more: object) => {
      const place = join(summary.run_dir, path);
      writeFileSync(place, JSON.stringify({ ...(JSON.parse(readFileSync(place, "utf8")) as object), ...more }));
    };
    const back_to = { state: "unverified", reason: "you asked for --no-verify", candidate: 1, verification: null };
    change("agent/run.json", { state: "landing", back_to });
    change("agent/landings/01/journal.json", { state });
    rmSync(join(summary.run_dir, "agent/landings/01/result.json"));
    const again = await repo.verbatim("agent", "apply", summary.run_id);
    expect([again.exit, read(repo, "lines.txt")]).toEqual([0, text([3, "agent"])]);
    expect(existsSync(join(summary.run_dir, `agent/landings/0${landings}/result.json`))).toBe(true);
    expect((await repo.verbatim("agent", "undo", summary.run_id)).exit).toBe(0);
    expect(repo.git("status", "--short")).toBe("");
  });
});

describe("a dry run", () => {
  it("calls no file verified that nobody verified", async () => {
    const repo = makeHarbour();
    const both = ["sh", "-c", "sed -i 20s/.*/second/ lines.txt; echo on > lamp.txt"];
    const unverified = await repo.agent(["--no-verify"], both);
    const verified = await repo.agent(NOT_BROKEN, both);
    repo.write("lines.txt", text([3, "mine"]));
    const plan = (run: Summary) => repo.verbatim("agent", "apply", run.run_id, "--dry-run");
    expect((await plan(unverified.summary)).stdout).toContain("1 other file  as the agent left it\n");
    expect((await plan(verified.summary)).stdout).toContain("1 other file  as verified\n");
  });

  it("says what would become of each file and changes nothing", async () => {
    const repo = makeHarbour();
    const { summary } = await repo.agent(["--no-verify"], edit(3, "agent"));
    const listed = await repo.verbatim("workflow", "list");
    expect(listed.stdout).toMatch(new RegExp(`^${summary.run_id} +blocked `, "m"));
    repo.write("lines.txt", text([20, "mine"]));
    chmodSync(join(repo.root, "ring.sh"), 0o755);
    const { exit, stdout } = await repo.verbatim("agent", "apply", summary.run_id, "--dry-run");
    expect([exit, stdout]).toEqual([0, expect.stringContaining("merged: yours at line 20, the agent's at 3")]);
    expect(read(repo, "lines.txt")).toBe(text([20, "mine"]));
    repo.write("lines.txt", text([3, "mine"]));
    const conflict = await repo.verbatim("agent", "apply", summary.run_id, "--dry-run");
    expect([conflict.exit, conflict.stdout]).toEqual([
      1,
      [
        "the tree moved on since the agent began: 2 local edits",
        "  lines.txt  conflict: line 3",
        "it would not be applied: 1 file cannot be merged",
        "nothing was changed: --dry-run",
        "",
      ].join("\n"),
    ]);
    rmSync(join(repo.root, "lines.txt"));
    const gone = await repo.verbatim("agent", "apply", summary.run_id);
    expect([gone.exit, gone.stderr]).toEqual([1, expect.stringContaining("error[LAND_CONFLICT]")]);
  });

  it("of a part writes no candidate, runs no command and waits for no agent that is at work", async () => {
    const repo = makeHarbour();
    const both = ["sh", "-c", "sed -i '3s/.*/third/; 20s/.*/last/' lines.txt"];
    const { summary } = await repo.agent(NOT_BROKEN, both);
    const record = () => readFileSync(join(summary.run_dir, "agent/run.json"), "utf8");
    const before = record();
    const go = join(repo.base, "go");
    const script = `echo ready; until [ -e ${go} ]; do sleep 0.1; done`;
    const working = repo.verbatim("agent", "--goal", "wait", "--no-verify", "--", "sh", "-c", script);
    await vi.waitFor(async () => expect((await repo.verbatim("agent", "logs", "@")).stdout).toBe("ready\n"), {
      timeout: 200_000,
      interval: 100,
    });
    const only = ["--only", "lines.txt:2", "--dry-run"];
    const { exit, stdout } = await repo.verbatim("agent", "apply", summary.run_id, ...only);
    const busy = await repo.verbatim("agent", "apply", summary.run_id);
    writeFileSync(go, "");
    expect((await working).exit).toBe(0);
    const why = "an agent or a verification is at work on your tree and must not see it change";
    expect([busy.exit, busy.stderr]).toEqual([4, expect.stringContaining(`error[DOMAIN_BUSY] ${why}`)]);
    const says = "1 file would be applied; first the part you chose is judged and verified by itself\n";
    expect([exit, stdout]).toEqual([0, `${says}nothing was changed: --dry-run\n`]);
    expect([record(), existsSync(join(summary.run_dir, "agent/candidates/02"))]).toEqual([before, false]);
    expect(repo.git("status", "--short")).toBe("");
  });
});

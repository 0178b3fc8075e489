// Runs that go on: another attempt on top of the last change or from the base, told what was wrong, landed with one apply.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Output } from "../../src/app/operations.ts";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";

function makeLamp(config: object = {}): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.write("door.txt", "shut\n");
  repo.write("verbatim.config.json", JSON.stringify(config));
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

const read = (repo: AgentRepo, path: string) => readFileSync(join(repo.root, path), "utf8");
const sh = (script: string) => ["sh", "-ec", script];
const IS_ON = ["--verify-sh", "cat lamp.txt; grep -qx on lamp.txt"];

type Shown = Output<"agent.show">;

async function show(repo: AgentRepo, run: string): Promise<Shown> {
  return JSON.parse((await repo.verbatim("agent", "show", run, "--json")).stdout) as Shown;
}

async function goOn(repo: AgentRepo, run: string, flags: readonly string[], command: readonly string[] = []) {
  const words = command.length === 0 ? [] : ["--", ...command];
  const result = await repo.verbatim("agent", "continue", run, ...flags, "--json", ...words);
  return { result, summary: JSON.parse(result.stdout) as Shown["summary"] };
}

describe("agent continue", () => {
  it("goes on from the newest tree: what merges is merged, what does not has both versions, and its change lands there", async () => {
    const repo = makeLamp();
    const lines = (...changed: readonly (readonly [number, string])[]) =>
      `${Array.from({ length: 9 }, (_, i) => changed.find(([n]) => n === i + 1)?.[1] ?? `line ${i + 1}`).join("\n")}\n`;
    repo.write("log.txt", lines());
    repo.write("quay.txt", lines());
    repo.git("add", ".");
    repo.git("commit", "-qm", "more");
    const script = "sed -i 's/line 2/the agent/' log.txt quay.txt; echo on > lamp.txt; echo new > more.txt";
    const { run_id } = (await repo.agent(IS_ON, sh(script))).summary;
    repo.write("log.txt", lines([2, "mine"]));
    repo.git("commit", "-qam", "mine");
    repo.write("quay.txt", lines([8, "mine"]));
    repo.write("door.txt", "open\n");
    const refused = await repo.verbatim("agent", "apply", "@");
    expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining("error[LAND_CONFLICT] 1 of 4 files")]);
    expect(refused.stderr).toContain(`let the agent do it:   verbatim agent continue ${run_id} --from tree`);

    const check = [
      'test "$(cat door.txt)" = open',
      'test "$(sed -n 2p quay.txt)" = "the agent"',
      'test "$(sed -n 8p quay.txt)" = mine',
      'cat "$VERBATIM_FEEDBACK" log.txt',
      "sed -i -e '/^[<|=>]/d' -e '/^line 2$/d' log.txt",
    ];
    const { summary, result } = await goOn(repo, "@", ["--from", "tree"], sh(check.join("; ")));
    expect([summary.outcome, result.exit]).toEqual(["verified", 0]);
    expect((await repo.verbatim("agent", "logs", "@")).stdout).toBe(`# About attempt 1

The files you find are the newest ones, with your change merged into them.

## Changed by someone else in the same place

Each of these files holds both versions between conflict markers. Keep what both wanted, and remove the markers.

- log.txt
line 1
<<<<<<< the tree as it is now
mine
||||||| before both
line 2
=======
the agent
>>>>>>> the agent's change
${lines().split("\n").slice(2).join("\n")}`);
    const files = summary.changes.files.map(({ path, operation, added, deleted }) => [operation, path, added, deleted]);
    // Only what is the agent's: nothing that somebody else wrote meanwhile.
    expect(files).toEqual([
      ["modify", "lamp.txt", 1, 1],
      ["modify", "log.txt", 1, 0],
      ["create", "more.txt", 1, 0],
      ["modify", "quay.txt", 1, 1],
    ]);
    expect((await show(repo, "@")).attempts.map(({ from, on }) => [from, on])).toEqual([
      ["base", null],
      ["tree", 1],
    ]);
    const plan = await repo.verbatim("agent", "apply", "@", "--dry-run");
    expect(plan.stdout).toBe("4 files would be applied\nnothing was changed: --dry-run\n");
    const applied = await repo.verbatim("agent", "apply", "@");
    // Nothing happened since that attempt began, so nothing is said to have moved, and nothing is verified again.
    expect([applied.exit, applied.stdout]).toEqual([0, `applied 4 files. Undo: verbatim agent undo ${run_id}\n`]);
    expect(read(repo, "log.txt")).toBe(lines([2, "mine\nthe agent"]));
    expect(read(repo, "quay.txt")).toBe(lines([2, "the agent"], [8, "mine"]));
    expect([read(repo, "door.txt"), read(repo, "lamp.txt"), read(repo, "more.txt")]).toEqual([
      "open\n",
      "on\n",
      "new\n",
    ]);
    expect((await repo.verbatim("agent", "undo", "@")).exit).toBe(0);
    expect([read(repo, "log.txt"), read(repo, "door.txt")]).toEqual([lines([2, "mine"]), "open\n"]);
  });

  it("goes on from the change, is told what failed, and one apply lands both attempts", async () => {
    const repo = makeLamp();
    const first = await repo.agent(IS_ON, sh("echo dim > lamp.txt; echo new > more.txt; rm door.txt"));
    expect([first.summary.outcome, first.exit]).toEqual(["verify_failed", 1]);
    const human = (await repo.verbatim("agent", "show", "@")).stdout;
    expect(human).toContain(`let the agent go on:        verbatim agent continue ${first.summary.run_id}`);
    const script =
      'test ! -e door.txt && test "$(cat lamp.txt more.txt)" = "$(printf "dim\\nnew")" && cat "$VERBATIM_FEEDBACK" && cat > told.txt && echo on > lamp.txt';
    const { summary, result } = await goOn(repo, "@", ["--message", "the lamp has to be on"], sh(script));
    expect([summary.outcome, result.exit, summary.run_id]).toEqual(["verified", 0, first.summary.run_id]);
    expect(summary.changes.files.map(({ path, operation }) => `${operation} ${path}`)).toEqual([
      "delete door.txt",
      "modify lamp.txt",
      "create more.txt",
      "create told.txt",
    ]);
    const { attempts, candidates } = await show(repo, "@");
    expect(attempts.map(({ n, from, on }) => [n, from, on])).toEqual([
      [1, "base", null],
      [2, "candidate", 1],
    ]);
    expect(candidates.map(({ c, attempt, current }) => [c, attempt, current])).toEqual([
      [1, 1, false],
      [2, 2, true],
    ]);
    const told = `# About attempt 1

You find the files as you left them.

the lamp has to be on

## The check did not pass

cat lamp.txt; grep -qx on lamp.txt ended with exit code 1; it fails without the agent's change too.
Command: cat lamp.txt; grep -qx on lamp.txt
Exit code: 1
It fails without your change too.

The last line it printed:

    dim
`;
    expect(attempts[1]!.feedback).toEqual({ text: told, by: "input" });
    expect(readFileSync(join(summary.run_dir, "agent/feedback/01.md"), "utf8")).toBe(told);
    expect((await repo.verbatim("agent", "logs", "@")).stdout).toBe(told);
    expect(read(repo, "lamp.txt")).toBe("off\n");
    expect((await repo.verbatim("agent", "apply", "@", "--yes")).exit).toBe(0);
    expect([read(repo, "lamp.txt"), read(repo, "more.txt"), read(repo, "told.txt")]).toEqual(["on\n", "new\n", told]);
    expect(existsSync(join(repo.root, "door.txt"))).toBe(false);
    expect((await repo.verbatim("ledger", "verify")).exit).toBe(0);
  });

  it("begins from the base of the run where the tree has moved on, with or without the change", async () => {
    const repo = makeLamp();
    repo.write("kept.txt", "here\n");
    const first = await repo.agent(["--no-verify"], sh("echo on > lamp.txt"));
    expect(first.summary.outcome).toBe("unverified");
    // Somebody else goes on meanwhile: a commit, an edit, a new file, one that is gone.
    repo.write("door.txt", "open\n");
    repo.git("commit", "-qam", "second");
    repo.write("new.txt", "new\n");
    rmSync(join(repo.root, "kept.txt"));
    const look = 'test "$(cat door.txt kept.txt)" = "$(printf "shut\\nhere")" && test ! -e new.txt';
    const again = await goOn(repo, "@", [], sh(`${look} && test "$(cat lamp.txt)" = on && echo wide > window.txt`));
    expect(again.summary.outcome).toBe("unverified");
    expect(again.summary.changes.files.map(({ path }) => path)).toEqual(["lamp.txt", "window.txt"]);
    const anew = await goOn(
      repo,
      "@",
      ["--from", "base"],
      sh(`${look} && test "$(cat lamp.txt)" = off && rm kept.txt`),
    );
    expect(anew.summary.changes.files.map(({ path, operation }) => [path, operation])).toEqual([
      ["kept.txt", "delete"],
    ]);
    // What the first two attempts did can be gone on from no more: the last one began anew.
    const last = await goOn(
      repo,
      "@",
      [],
      sh('test ! -e kept.txt && test "$(cat lamp.txt)" = off && echo new > new.txt'),
    );
    expect(last.summary.changes.files.map(({ path, operation }) => [path, operation])).toEqual([
      ["kept.txt", "delete"],
      ["new.txt", "create"],
    ]);
    expect([read(repo, "door.txt"), read(repo, "new.txt")]).toEqual(["open\n", "new\n"]);
    expect((await repo.verbatim("agent", "apply", "@", "--yes")).exit).toBe(0);
    expect([read(repo, "lamp.txt"), read(repo, "door.txt")]).toEqual(["off\n", "open\n"]);
  });

  it.each(["ns-bind", "audit"] as const)("goes on under %s too", async (guard) => {
    const repo = makeLamp();
    await repo.agent(
      ["--no-verify", "--guard", guard],
      sh("echo dim > lamp.txt; rm door.txt; mkdir in; echo x > in/x"),
    );
    const { summary } = await goOn(
      repo,
      "@",
      [],
      sh('test "$(cat lamp.txt in/x)" = "$(printf "dim\\nx")" && test ! -e door.txt && rm in/x'),
    );
    expect([summary.outcome, summary.proof?.guard]).toEqual(["unverified", guard]);
    expect(summary.changes.files.map(({ path }) => path)).toEqual(["door.txt", "lamp.txt"]);
    expect([read(repo, "lamp.txt"), read(repo, "door.txt")]).toEqual(["off\n", "shut\n"]);
  });

  it("takes every run to applied that was rejected, failed, ran out of time or was stopped", async () => {
    const repo = makeLamp();
    const finish = async (run: string, flags: readonly string[] = []) => {
      const { summary } = await goOn(repo, run, flags, sh("echo on > lamp.txt; rm -rf .github"));
      expect([summary.outcome, summary.reason]).toEqual(["verified", null]);
      expect((await repo.verbatim("agent", "apply", run, "--yes")).exit).toBe(0);
      expect(read(repo, "lamp.txt")).toBe("on\n");
      expect((await repo.verbatim("agent", "undo", run)).exit).toBe(0);
    };
    const rejected = await repo.agent(IS_ON, sh("mkdir -p .github/workflows; echo x > .github/workflows/ci.yml"));
    expect(rejected.summary.outcome).toBe("rejected");
    await finish(rejected.summary.run_id);
    const told = (await show(repo, rejected.summary.run_id)).attempts[1]!.feedback!.text;
    expect(told).toContain(
      ".github/workflows/ci.yml is protected: it decides what CI runs. The user could allow it with --permit .github/workflows/ci.yml.",
    );
    const failed = await repo.agent(IS_ON, sh("echo dim > lamp.txt; exit 3"));
    expect(failed.summary.outcome).toBe("agent_failed");
    await finish(failed.summary.run_id);
    const late = await repo.agent([...IS_ON, "--timeout", "300ms"], sh("echo dim > lamp.txt; sleep 60"));
    expect([late.summary.outcome, late.summary.reason]).toEqual([
      "timed_out",
      expect.stringMatching(/^the agent was stopped after .* \(--timeout\); what it did so far is kept$/),
    ]);
    await finish(late.summary.run_id, ["--timeout", "5m"]);
    const undone = await show(repo, late.summary.run_id);
    expect(undone.summary.outcome).toBe("undone");
    // And from there once more.
    await finish(late.summary.run_id);
  });

  it("does not go on with what is applied or thrown away, and says what can be done", async () => {
    const repo = makeLamp();
    await repo.agent(["--no-verify"], sh("echo on > lamp.txt"));
    await repo.verbatim("agent", "apply", "@", "--yes");
    const applied = await repo.verbatim("agent", "continue", "@");
    expect([applied.exit, applied.stderr]).toEqual([1, expect.stringContaining("verbatim agent undo ")]);
    await repo.verbatim("agent", "undo", "@");
    await repo.verbatim("agent", "discard", "@");
    await repo.agent(["--no-verify"], sh("echo dim > lamp.txt"));
    await repo.verbatim("agent", "discard", "@");
    const gone = await repo.verbatim("agent", "continue", "@", "--json");
    expect([gone.exit, (JSON.parse(gone.stdout) as { error: { code: string } }).error.code]).toEqual([1, "RUN_ENDED"]);
    const wrong = await repo.verbatim("agent", "continue", "nothing");
    expect(wrong.exit).toBe(2);
  });

  it("keeps what the run was asked for, and takes what is said anew", async () => {
    const repo = makeLamp();
    const base = ["--verify", "true", "--leave-out", "junk", "--env", "GIT_CONFIG_GLOBAL", "--env", "TOKEN=abc"];
    await repo.agent(base, sh('test "$TOKEN" = abc; test -n "$GIT_CONFIG_GLOBAL"; echo dim > lamp.txt; echo x > junk'));
    const { result, summary } = await goOn(
      repo,
      "@",
      ["--verify", "false", "--permit", "secret/.env"],
      sh('test -n "$GIT_CONFIG_GLOBAL"; test -z "$TOKEN"'),
    );
    expect(summary.outcome).toBe("verify_failed");
    expect(result.stderr).toContain("values of variables are not kept; give them again with --env: TOKEN");
    const record = JSON.parse(readFileSync(join(summary.run_dir, "agent/run.json"), "utf8")) as {
      request: { verify: { cmd: string }[]; leave_out: string[]; permit: string[]; env: object };
    };
    expect(record.request.verify.map(({ cmd }) => cmd)).toEqual(["false"]);
    expect([record.request.leave_out, record.request.permit]).toEqual([["junk"], ["secret/.env"]]);
    expect(record.request.env).toEqual({ names: ["GIT_CONFIG_GLOBAL"], set: [], all: false });
  });
});

describe("--fix", () => {
  const STEPS =
    'n=$(cat n.txt 2>/dev/null || echo 0); n=$((n + 1)); echo $n > n.txt; cat "$VERBATIM_FEEDBACK" > told.txt 2>/dev/null || true';

  it("lets the agent start again until it passes", async () => {
    const repo = makeLamp();
    const { summary, exit } = await repo.agent(
      [
        "--fix",
        "3",
        "--verify-sh",
        'test "$(cat n.txt)" -ge 3 || { echo "only $(cat n.txt), $(cat word-$(cat n.txt))"; exit 4; }',
      ],
      sh(`${STEPS}; echo "word $n of three" | tr 123 abc > word-$n`),
    );
    expect([summary.outcome, exit]).toEqual(["verified", 0]);
    const { attempts, candidates } = await show(repo, "@");
    expect(attempts.map(({ n, feedback }) => [n, feedback?.by ?? null])).toEqual([
      [1, null],
      [2, "input"],
      [3, "input"],
    ]);
    expect(candidates.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(attempts[2]!.feedback!.text).toContain("    only 2, word b of three");
    expect(summary.changes.files.map(({ path }) => path)).toContain("told.txt");
  });

  it("stops when the same fails again, whatever numbers are in it", async () => {
    const repo = makeLamp();
    const { summary, exit } = await repo.agent(
      ["--fix", "5", "--verify-sh", 'echo "failed after $(cat n.txt) ms in /tmp/x$(cat n.txt)"; exit 4'],
      sh(STEPS),
    );
    expect([summary.outcome, exit]).toEqual(["verify_failed", 1]);
    const shown = await show(repo, "@");
    expect(shown.attempts).toHaveLength(2);
    expect([shown.summary.code, shown.summary.reason]).toEqual([
      "NO_PROGRESS",
      expect.stringMatching(
        /^attempt 2 failed in the same way as attempt 1: .* ended with exit code 4; it fails without/,
      ),
    ]);
    const human = (await repo.verbatim("agent", "show", "@")).stdout;
    expect(human).toContain(`tell the agent more:        verbatim agent continue ${summary.run_id} --message "..."`);
  });

  it("stops when the agent leaves the same change, and starts no more than it may", async () => {
    const repo = makeLamp();
    await repo.agent(["--fix", "5", "--verify-sh", "date +%N | tr 0-9 a-j; exit 1"], sh("echo dim > lamp.txt"));
    expect((await show(repo, "@")).summary.code).toBe("NO_PROGRESS");
    expect((await show(repo, "@")).attempts).toHaveLength(2);
    const letters = 'printf "%s" "$(cat n.txt)" | tr 0-9 a-j; exit 1';
    await repo.agent(["--fix", "1", "--verify-sh", letters], sh(STEPS));
    const { attempts, summary } = await show(repo, "@");
    expect([attempts.length, summary.code, summary.outcome]).toEqual([2, "VERIFY_FAILED", "verify_failed"]);
    expect((await repo.verbatim("agent", "--goal", "x", "--fix", "11", "--no-verify", "--", "true")).exit).toBe(2);
  });

  it("is told of a rejection, and reaches the goal without what was refused", async () => {
    const repo = makeLamp({ agent: { fix: 2, verify: { commands: ["true"] } } });
    const script = 'if [ -e "$VERBATIM_FEEDBACK" ]; then rm .envrc; else echo x > .envrc; fi; echo on > lamp.txt';
    const { summary } = await repo.agent([], sh(script));
    expect(summary.outcome).toBe("verified");
    expect(summary.changes.files.map(({ path }) => path)).toEqual(["lamp.txt"]);
  });

  it("counts the time of all attempts", async () => {
    const repo = makeLamp();
    const { summary } = await repo.agent(
      ["--fix", "9", "--timeout", "2s", "--verify-sh", 'printf "%s" "$(cat n.txt)" | tr 0-9 a-j; exit 1'],
      sh(`${STEPS}; sleep 0.9`),
    );
    const { attempts } = await show(repo, summary.run_id);
    expect(attempts.length).toBeLessThanOrEqual(3);
  });

  it("gives the text to an argument of the command where it has one", async () => {
    const repo = makeLamp();
    const script = 'printf "%s" "$1" > told.txt; test -z "$1" || echo on > lamp.txt';
    const { summary } = await repo.agent(["--fix", "1", ...IS_ON], ["sh", "-ec", script, "agent", "{feedback}"]);
    expect(summary.outcome).toBe("verified");
    const { attempts } = await show(repo, "@");
    expect([attempts[1]!.feedback!.by, attempts[1]!.argv.at(-1)]).toEqual(["argument", "{feedback}"]);
    await repo.verbatim("agent", "apply", "@", "--yes");
    expect(read(repo, "told.txt")).toBe(attempts[1]!.feedback!.text);
  });
});

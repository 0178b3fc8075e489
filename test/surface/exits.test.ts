// How every verb ends: 0 when it did what was asked, 1 when the answer is no, 2 when it was asked wrongly, 3 when
// something inside broke, 4 when somebody has to do something first, 130 and 143 when it was interrupted.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NOUNS } from "../../src/surfaces/cli/nouns.ts";
import type { Verb } from "../../src/surfaces/cli/verb.ts";
import { runInProcess } from "../support/cli-in-process.ts";

interface Judged {
  readonly name: string;
  readonly exit: Verb["exit"];
}

const verbs: Judged[] = [];
for (const { noun, load } of NOUNS) {
  for (const verb of (await load()).noun.verbs) verbs.push({ name: [noun, ...verb.path].join(" "), exit: verb.exit });
}

let root: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-exits-")));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A folder for one story. */
function make(name: string): string {
  mkdirSync(join(root, name));
  return join(root, name);
}

type Answer = readonly [exit: number, output: object, input?: Record<string, unknown>];

/** Every answer of a verb that may be no, and how the verb ends with it. Verbs that are not here can only say yes. */
const ANSWERS: Readonly<Record<string, readonly Answer[]>> = {
  demo: [
    [0, { ok: true }],
    [1, { ok: false }],
  ],
  doctor: [
    [0, { ok: true }],
    [1, { ok: false }],
  ],
  "agent verify": [
    [0, { outcome: "verified" }],
    [0, { outcome: "unverified" }],
    [1, { outcome: "rejected" }],
    [1, { outcome: "verify_failed" }],
  ],
  "agent continue": [
    [0, { outcome: "verified" }],
    [0, { outcome: "unchanged" }],
    [1, { outcome: "verify_failed" }],
    [1, { outcome: "no_progress" }],
    [0, { outcome: "working" }, { detach: true }],
  ],
  "agent check": [
    [0, { ok: true }],
    [1, { ok: false }],
  ],
  "agent land": [
    [0, { state: "landed" }],
    [1, { state: "refused" }],
    [4, { state: "queued" }],
  ],
  "job land": [
    [0, { state: "landed" }],
    [1, { state: "refused" }],
    [4, { state: "queued" }],
  ],
  "agent race": [
    [0, { members: [{ outcome: "verify_failed" }, { outcome: "verified" }] }],
    [1, { members: [{ outcome: "verify_failed" }, { outcome: "rejected" }] }],
  ],
  "agent wait": [
    [0, { runs: [{ outcome: "verified" }], timed_out: false }],
    [1, { runs: [{ outcome: "verified" }, { outcome: "rejected" }], timed_out: false }],
    [0, { runs: [{ outcome: "verified" }, { outcome: "working" }], timed_out: false }, { any: true }],
    [4, { runs: [{ outcome: "working" }], timed_out: true }],
  ],
  "world writer test": [
    [0, { ok: true }],
    [1, { ok: false }],
  ],
  "world writer models": [
    [0, { code: null }],
    [4, { code: "WRITER_UNREACHABLE" }],
  ],
  agent: [
    [0, { outcome: "verified" }],
    [0, { outcome: "applied" }],
    [0, { outcome: "unchanged" }],
    [1, { outcome: "rejected" }],
    [1, { outcome: "verify_failed" }],
    [1, { outcome: "agent_failed" }],
    [1, { outcome: "interrupted" }],
  ],
  "hook pre-tool": [
    [0, { exit: 0 }],
    [2, { exit: 2 }],
  ],
  "agent apply": [
    [0, { landing: { files: [{ path: "a", how: "conflict" }] } }],
    [0, { landing: { files: [{ path: "a", how: "merged" }] } }, { dry_run: true }],
    [1, { landing: { files: [{ path: "a", how: "conflict" }] } }, { dry_run: true }],
  ],
  "hook post-tool": [
    [0, { exit: 0 }],
    [2, { exit: 2 }],
  ],
  "hook stop": [
    [0, { exit: 0 }],
    [2, { exit: 2 }],
  ],
  "index verify": [
    [0, { ok: true }],
    [1, { ok: false }],
  ],
  "symbol check": [
    [0, { ok: true }],
    [1, { ok: false }],
  ],
  "catalytic run": [
    [0, { status: "succeeded", condition: "RESTORED_IDENTICAL", interrupted_by: null, exit_code: 0 }],
    [0, { status: "declared", condition: null, interrupted_by: null, exit_code: null }],
    [1, { status: "failed", condition: "COMMAND_FAILED", interrupted_by: null, exit_code: 7 }],
    [1, { status: "failed", condition: "GUARD_VIOLATION", interrupted_by: null, exit_code: 0 }],
    [1, { status: "halted", condition: "RESTORATION_FAILED_HASH_MISMATCH", interrupted_by: null, exit_code: 0 }],
    [130, { status: "failed", condition: "INTERRUPTED", interrupted_by: "SIGINT", exit_code: null }],
    [143, { status: "failed", condition: "INTERRUPTED", interrupted_by: "SIGTERM", exit_code: null }],
  ],
  "catalytic verify": [
    [0, { accepted: true, genuine: true }],
    [1, { accepted: false, genuine: true }],
    [1, { accepted: false, genuine: false }],
  ],
  "catalytic recover": [
    [0, { runs: [] }],
    [0, { runs: [{ action: "recover" }, { action: "finish" }] }],
    [4, { runs: [{ action: "recover" }, { action: "halt" }] }],
    [4, { runs: [{ action: "refuse" }] }],
    [4, { runs: [{ action: "skip" }] }],
  ],
  "catalytic doctor": [
    [0, { chosen: "ns-overlay" }],
    [1, { chosen: "audit" }],
  ],
  "catalytic check-skill": [
    [0, { ok: true }],
    [2, { ok: false }],
  ],
  "job plan": [
    [0, { breach: null }],
    [1, { breach: { ordinal: 1, budget: "max_symbols" } }],
  ],
  "bundle verify": [
    [0, { exit_code: 0 }],
    [1, { exit_code: 1 }],
    [2, { exit_code: 2 }],
  ],
  "bundle diff": [
    [0, { equal: true }],
    [1, { equal: false }],
  ],
  "bundle replay": [
    [0, { exit: 0 }],
    [1, { exit: 1 }],
  ],
  "world import-profile": [
    [0, { totals: { failed: 0 } }],
    [1, { totals: { failed: 1 } }],
  ],
  "world verify": [
    [0, { ok: true }],
    [1, { ok: false }],
  ],
  "world demo": [
    [0, { ok: true }],
    [3, { ok: false }],
  ],
  "workflow validate": [
    [0, { ok: true }],
    [1, { ok: false }],
  ],
  "workflow advance": [
    [0, { state: "pass", code: "RUN_PASS" }],
    [0, { state: "ready", code: "CANDIDATE_VERIFIED" }],
    [1, { state: "stopped", code: "STOPPED" }],
    [1, { state: "blocked", code: "PATCH_REJECTED" }],
    [1, { state: "blocked", code: "VERIFY_FAILED" }],
    [4, { state: "blocked", code: "ARTIFACT_MISSING" }],
  ],
  "workflow submit": [
    [0, { ok: true }],
    [1, { ok: false }],
  ],
  "workflow patch check": [
    [0, { result: { verdict: "accept" } }],
    [1, { result: { verdict: "reject" } }],
  ],
  "store status": [
    [0, { ok: true, checks: [] }],
    [1, { ok: false, checks: [] }],
  ],
  "ledger verify": [
    [0, { ok: true }],
    [1, { ok: false }],
  ],
  "ledger check-proof": [
    [0, { ok: true }],
    [1, { ok: false }],
  ],
  "contract check": [
    [0, { ok: true }],
    [1, { ok: false }],
  ],
  conformance: [
    [0, { failed: 0 }],
    [1, { failed: 1 }],
  ],
};

describe("an answer", () => {
  it("that may be no is in the table, for every verb", () => {
    const judged = verbs.flatMap(({ name, exit }) => (exit === undefined ? [] : [name]));
    expect(Object.keys(ANSWERS).sort()).toEqual([...judged].sort());
  });

  const rows = Object.entries(ANSWERS).flatMap(([name, answers]) =>
    answers.map(([exit, output, input = {}]) => [name, exit, JSON.stringify(output), output, input] as const),
  );
  it.each(rows)("of %s ends with %i: %s", (name, exit, _, output, input) => {
    expect(verbs.find((verb) => verb.name === name)?.exit?.(output, input)).toBe(exit);
  });
});

describe("a verb that is asked wrongly", () => {
  it.each(verbs.map(({ name }) => name))("%s ends with 2", async (name) => {
    const { exit, stderr } = await runInProcess([...name.split(" "), "--no-such-flag"], root);
    expect([exit, stderr]).toEqual([2, expect.stringContaining("error[USAGE]")]);
  });

  it.each([
    [["no-such-verb"], "VERB_UNKNOWN"],
    [["world", "no-such-verb"], "USAGE"],
    [["section", "show"], "USAGE"],
    [["--no-such-flag"], "USAGE"],
  ])("%j ends with 2", async (line, code) => {
    const { exit, stderr } = await runInProcess(line, root);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`error[${code}]`)]);
  });
});

describe("a refusal as somebody meets it", () => {
  const PATCH = "diff --git a/.git/config b/.git/config\n--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-a\n+b\n";

  it("of a patch ends with 1", async () => {
    const folder = make("patch");
    writeFileSync(join(folder, "p.diff"), PATCH);
    const { exit, stdout } = await runInProcess(["workflow", "patch", "check", "p.diff", "--no-git"], folder);
    expect([exit, stdout]).toEqual([1, expect.stringContaining("reject")]);
  });

  it("of the record of a run ends with 1", async () => {
    const folder = make("run");
    const ran = await runInProcess(
      ["catalytic", "run", "--domain", ".verbatim/scratch", "--run-id", "one", "--", "true"],
      folder,
    );
    expect([ran.exit, ran.stderr]).toEqual([0, expect.anything()]);
    expect((await runInProcess(["catalytic", "verify", "one"], folder)).exit).toBe(0);
    const file = join(folder, ".verbatim/runs/one/STATUS.json");
    writeFileSync(file, readFileSync(file, "utf8").replace("succeeded", "failed"));
    const { exit, stdout } = await runInProcess(["catalytic", "verify", "one"], folder);
    expect([exit, stdout]).toEqual([1, expect.stringContaining("not accepted")]);
  });

  it("of the file of a world ends with 1", async () => {
    const folder = make("world");
    await runInProcess(["world", "new", "Harbour", "--timezone", "UTC", "--person", "ANA=Ana"], folder);
    await runInProcess(["world", "export", "--out", "w.jsonl"], folder);
    expect((await runInProcess(["world", "verify", "--file", "w.jsonl"], folder)).exit).toBe(0);
    const text = readFileSync(join(folder, "w.jsonl"), "utf8");
    writeFileSync(join(folder, "w.jsonl"), text.replace('"Ana"', '"Eve"'));
    expect((await runInProcess(["world", "verify", "--file", "w.jsonl"], folder)).exit).toBe(1);
  });

  it("by something inside that is broken ends with 3 and shows where", async () => {
    const folder = make("store");
    await runInProcess(["world", "new", "Harbour", "--timezone", "UTC"], folder);
    const { DatabaseSync } = await import("../support/raw-sqlite.ts");
    const database = new DatabaseSync(join(folder, ".verbatim/state/store.db"));
    database.exec("pragma foreign_keys = off; alter table world_person rename to gone");
    database.close();
    const { exit, stderr } = await runInProcess(["world", "people", "list"], folder);
    expect([exit, stderr]).toEqual([3, expect.stringMatching(/^error\[(?:INTERNAL|STORE_REFUSED)\].*\n\s+at /s)]);
  });
});

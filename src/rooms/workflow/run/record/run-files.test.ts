// What a run writes down about its candidates, its artifacts and its failures.
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type BareRuns, openBareRuns } from "../../../../../test/support/bare-run.ts";
import { makeDraft } from "../../../../../test/support/sample-repository.ts";
import { nodeCrypto } from "../../../../adapters/crypto/node-crypto.ts";
import { type Run, readRepoText } from "../run.ts";
import { archive, currentCandidate, markCandidate } from "./candidates.ts";
import { buildEvidence, writeEvidencePack } from "./evidence.ts";
import { readRecordFile } from "./record-file.ts";
import type { CandidateRecord } from "./run-state.ts";

const PATCH = "artifacts/diff.patch";
const PLAN = "artifacts/PLAN.md";
const sha = (text: string) => nodeCrypto.sha256(text);

let bare: BareRuns;
beforeEach(async () => {
  bare = await openBareRuns();
});
afterEach(() => bare.remove());

const text = (run: Run, path: string) => {
  const bytes = run.read(path);
  return bytes === null ? null : Buffer.from(bytes).toString();
};

/** A run with a patch under a plan, and what is known about both. */
function withCandidate(more: Partial<CandidateRecord> = {}): Run {
  const candidate: CandidateRecord = {
    sha256: sha("patch"),
    plan_sha256: sha("plan"),
    state: "accepted",
    iteration: 3,
    ...more,
  };
  const other: CandidateRecord = { sha256: sha("other"), plan_sha256: sha("plan"), state: "rejected", code: "X" };
  const run = bare.make("one", { candidates: [other, candidate] });
  run.folder.write(PATCH, "patch");
  run.folder.write(PLAN, "plan");
  return run;
}

describe("the candidate of a run", () => {
  it("is the patch that is there under the plan that is there", () => {
    const run = withCandidate();
    expect(currentCandidate(run)?.iteration).toBe(3);
    run.folder.write(PLAN, "another plan");
    expect(currentCandidate(run)).toBeUndefined();
    run.folder.write(PLAN, "plan");
    run.folder.remove(PATCH);
    expect(currentCandidate(run)).toBeUndefined();
  });

  it("alone is marked, loses the code it had, and gets a new one only with a reason", () => {
    const run = withCandidate({ state: "rejected", code: "OLD" });
    markCandidate(run, "verified");
    const [other, candidate] = bare.again(run).state.candidates;
    expect(other).toEqual({ sha256: sha("other"), plan_sha256: sha("plan"), state: "rejected", code: "X" });
    expect(candidate).toEqual({ sha256: sha("patch"), plan_sha256: sha("plan"), state: "verified", iteration: 3 });
    markCandidate(run, "verify_failed", "GATE_FAILED", { status: "fail" });
    const after = bare.again(run).state;
    expect([after.status, after.candidates[1]]).toEqual([
      "fail",
      { ...candidate, state: "verify_failed", code: "GATE_FAILED" },
    ]);
  });

  it("that is not there is neither marked nor kept", () => {
    const run = withCandidate();
    run.folder.write(PATCH, "something else");
    markCandidate(run, "verified", undefined, { status: "pass" });
    archive(run, PATCH);
    expect(bare.again(run).state.status).toBe("running");
    expect(run.folder.list("artifacts/iterations")).toEqual([]);
  });

  it("is kept in the folder of its iteration, under the name the file has", () => {
    const run = withCandidate();
    archive(run, PATCH);
    archive(run, "artifacts/missing.md");
    expect(run.folder.list("artifacts/iterations")).toEqual(["artifacts/iterations/03/diff.patch"]);
    expect(text(run, "artifacts/iterations/03/diff.patch")).toBe("patch");
  });
});

it("a candidate that was never judged is kept in the folder before the first", () => {
  const run = bare.make("one", {
    candidates: [{ sha256: sha("patch"), plan_sha256: sha("plan"), state: "unverified" }],
  });
  run.folder.write(PATCH, "patch");
  run.folder.write(PLAN, "plan");
  archive(run, PATCH);
  expect(run.folder.list("artifacts/iterations")).toEqual(["artifacts/iterations/00/diff.patch"]);
});

describe("the brief for who fixes a candidate", () => {
  const brief = (run: Run) => buildEvidence(run)[2]!;

  it("has nothing to say about a first patch", () => {
    const run = bare.make("one");
    expect(buildEvidence(run)[0]).toBe("# CONTEXT\n\nnone yet\n");
    expect(brief(run)).toContain("Label: FIRST_PATCH\nCandidate-SHA256: none\n\nFindings:\n- none\n");
    expect(buildEvidence(run)[1]).toContain("- Scope-Allow: not planned yet\n");
    expect(buildEvidence(run)[3]).toBe("# EXTERNALS\n\nnone\n");
  });

  it("names the scope of the plan, and of the draft only until one is signed", () => {
    const run = bare.make("one");
    const scope = () => /- Scope-Allow: (.*)/.exec(buildEvidence(run)[1]!)![1];
    run.folder.write("artifacts/PLAN_draft.md", makeDraft({ "Scope-Allow": "drafted/" }));
    expect(scope()).toBe("drafted");
    run.folder.write(PLAN, makeDraft({ Status: "SIGNED", "Scope-Allow": "signed/" }));
    expect(scope()).toBe("signed");
    run.folder.write(PLAN, "not a plan");
    expect(scope()).toBe("not planned yet");
  });

  it("has nothing to say about a candidate that nothing is wrong with", () => {
    expect(brief(withCandidate({ state: "verified" }))).toContain("Label: FIRST_PATCH\nCandidate-SHA256: none\n");
  });

  it("names the code of a refusal and quotes the review of the patch", () => {
    const run = withCandidate({ state: "rejected", code: "PATCH_SCOPE" });
    run.folder.write("reviews/review_patch.md", "  Verdict: REJECT\n\n");
    expect(brief(run)).toContain(
      `Label: PATCH_REJECTED\nCandidate-SHA256: ${sha("patch")}\n\nFindings:\n- PATCH_SCOPE\n`,
    );
    expect(brief(run)).toContain("```\nVerdict: REJECT\n```");
  });

  it("names a refusal without a code all the same, and an earlier one when the patch is gone", () => {
    const run = withCandidate({ state: "rejected" });
    expect(brief(run)).toContain("Findings:\n- PATCH_REJECTED\n");
    run.folder.remove(PATCH);
    expect(brief(run)).toContain(`Label: PATCH_REJECTED\nCandidate-SHA256: ${sha("patch")}`);
  });

  it("lists what failed in a verification and quotes the last forty lines of both logs", () => {
    const run = withCandidate({ state: "verify_failed" });
    const failure = { kind: "GATE_FAILED", id: "lite", message: "first line\nsecond line" };
    run.folder.write("artifacts/verify_report.json", JSON.stringify({ failures: [failure] }));
    run.folder.write("logs/verify.stdout.log", "");
    run.folder.write("logs/verify.stderr.log", Array.from({ length: 50 }, (_, i) => `line ${i + 1}\n`).join(""));
    const said = brief(run);
    expect(said).toContain("Label: VERIFY_FAILED");
    expect(said).toContain("Findings:\n- GATE_FAILED lite: first line\n");
    expect(said).toContain("```\nline 11\nline 12\n");
    expect(said).toContain("line 50\n```\n");
    expect(said).not.toContain("line 10\n");
  });

  it("is written only where it says something new", () => {
    const run = bare.make("one");
    const whole = writeEvidencePack(run);
    expect(whole.split("\n").filter((one) => one.startsWith("# "))).toEqual([
      "# CONTEXT",
      "# CONSTRAINTS",
      "# FIX BRIEF",
      "# EXTERNALS",
    ]);
    const written: string[] = [];
    const watched = bare.again(run);
    const write = watched.folder.write.bind(watched.folder);
    watched.folder.write = (path, bytes) => (written.push(path), write(path, bytes));
    run.folder.remove("outbox/EXTERNALS.md");
    write("outbox/CONTEXT.md", "old\n");
    expect(writeEvidencePack(watched)).toBe(whole);
    expect(written).toEqual(["outbox/CONTEXT.md", "outbox/EXTERNALS.md"]);
  });
});

describe("a file that a run wrote for itself", () => {
  const schema = z.strictObject({ size: z.int() });
  const read = (content: string | null) => {
    const run = bare.make("one");
    if (content !== null) run.folder.write("facts.json", content);
    return readRecordFile(schema, run, "facts.json");
  };

  it("is read, or is not there", () => {
    expect(read('{"size":3}')).toEqual({ size: 3 });
  });

  it("that is not there is null", () => {
    expect(read(null)).toBeNull();
  });

  it.each([
    ["{", "facts.json is not JSON", /facts\.json$/],
    ['{"size":"3"}', "facts.json /size ", /facts\.json#\/size$/],
    ['{"size":3,"more":1}', "facts.json / ", /facts\.json#\/$/],
  ])("that is %s is refused", (content, message, where) => {
    expect(() => read(content)).toThrow(
      expect.objectContaining({
        code: "RUN_CORRUPT",
        message: expect.stringContaining(message) as string,
        where: expect.stringMatching(where) as string,
      }) as Error,
    );
  });

  it("that cannot be read is an error, and not taken for a damaged run", () => {
    const broken = {
      get length() {
        throw new RangeError("broken");
      },
    };
    const run = bare.make("one");
    run.folder.read = () => broken as never;
    expect(() => readRecordFile(schema, run, "facts.json")).toThrow(RangeError);
  });
});

describe("a text of the repository", () => {
  it("is read as it is, and is not there where it is too large or no file", () => {
    const write = (name: string, text: string) => writeFileSync(join(bare.repoRoot, name), text);
    write("a.md", "lamp\n");
    write("most", "");
    write("more", "");
    truncateSync(join(bare.repoRoot, "most"), 16 * 1024 * 1024);
    truncateSync(join(bare.repoRoot, "more"), 16 * 1024 * 1024 + 1);
    mkdirSync(join(bare.repoRoot, "folder"));
    expect(readRepoText(bare.ports, "a.md")).toBe("lamp\n");
    expect(readRepoText(bare.ports, "most")).toHaveLength(16 * 1024 * 1024);
    for (const path of ["more", "folder", "none"]) expect(readRepoText(bare.ports, path), path).toBeNull();
  });
});

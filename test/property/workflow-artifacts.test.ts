// Every parser of foreign bytes of the workflow room: whatever it is given, it answers, and it answers soon.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KINDS, NO_CONTEXT } from "../../src/rooms/workflow/artifact-kinds.ts";
import { findMarkers, findMissingHeadings, readBehaviorIndex } from "../../src/rooms/workflow/artifacts/behaviors.ts";
import { judgePatch } from "../../src/rooms/workflow/patch/patch-gate.ts";
import { DEFAULT_POLICY } from "../../src/rooms/workflow/patch/patch-policy.ts";

const WORDS = [
  "Status",
  "SIGNED",
  "Scope-Allow",
  "Verdict",
  "APPROVE",
  "Draft-SHA256",
  "R001",
  "B001",
  "Evidence",
  "find_mode",
  "max_files",
  ":",
  "-",
  "*",
  " ",
  "  ",
  "\t",
  "\n",
  "\r\n",
  "#",
  "```",
  "~~~",
  "|",
  ",",
  "[",
  "]",
  "{",
  "}",
  '"',
  "diff --git a/x b/x\n",
  "--- a/x\n",
  "+++ b/x\n",
  "@@ -1 +1 @@\n",
  "-a\n",
  "+b\n",
  "\\ No newline at end of file\n",
  "rename from ",
  "new file mode 100644\n",
  "\0",
  "\ufeff",
  "\u2028",
];

const soup = fc
  .array(fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 8 })), { maxLength: 80 })
  .map((parts) => parts.join(""));
const bytes = fc.oneof(
  soup.map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 400 }).map((raw) => Buffer.from(raw)),
);

describe("validators", () => {
  it.each(KINDS.map((kind) => [kind.name, kind] as const))(
    "%s answers whatever it is given, with lines that exist",
    (_, kind) => {
      fc.assert(
        fc.property(bytes, (given) => {
          const { errors, warnings } = kind.judge(given, NO_CONTEXT, "file");
          const lines = given.toString("latin1").split("\n").length;
          for (const { line, code } of [...errors, ...warnings]) {
            expect(code).toMatch(/^[A-Z0-9_]+$/);
            expect(line === null || (line >= 1 && line <= lines + 1)).toBe(true);
          }
        }),
        { numRuns: 150 },
      );
    },
  );

  it("give the same answer twice", () => {
    fc.assert(
      fc.property(bytes, (given) => {
        for (const kind of KINDS)
          expect(kind.judge(given, NO_CONTEXT, "f")).toEqual(kind.judge(given, NO_CONTEXT, "f"));
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    ["blanks inside a value", `Status: ${" ".repeat(300_000)}x\n`],
    ["blanks and dots", `Verdict: BLOCK\nBlocking Reasons:\n- ${" .".repeat(150_000)}x\n`],
    ["one long word", `${"a".repeat(300_000)}\n`],
    ["many keys", "max_files: 3\n".repeat(30_000)],
    ["many bullets", `Scope-Allow:\n${"- a\n".repeat(60_000)}`],
    ["a list of commas", `Gates: ${",".repeat(300_000)}\n`],
    ["many fences", "```\n~~~\n".repeat(40_000)],
    ["many markers", "BEHAVIOR_ID: B001, ".repeat(20_000)],
    ["deep JSON", "[".repeat(200_000)],
    ["many sections", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n".repeat(5_000)],
    ["one long hunk", `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,99999 +1,99999 @@\n${" a\n".repeat(99_999)}`],
  ])("do not slow down on %s", (_, text) => {
    const given = Buffer.from(text);
    for (const kind of KINDS) expect(kind.judge(given, NO_CONTEXT, "f").errors).toBeInstanceOf(Array);
    expect(readBehaviorIndex(text)).toBeInstanceOf(Array);
    expect(findMissingHeadings(text)).toBeInstanceOf(Array);
    expect(findMarkers(text, { marker: "BEHAVIOR_ID", comment_prefixes: null })).toBeInstanceOf(Array);
  });
});

describe("the patch gate", () => {
  it("never throws, and accepts only what names a path", () => {
    fc.assert(
      fc.property(bytes, (given) => {
        const { result } = judgePatch({ patch: given, policy: DEFAULT_POLICY, scope: null, planLimits: null });
        if (result.verdict === "accept") expect(result.changed_paths.length).toBeGreaterThan(0);
        else expect(result.rule).toMatch(/^[a-z_]+$/);
      }),
      { numRuns: 2000 },
    );
  });
});

// Every parser of foreign bytes of the workflow room: whatever it is given, it answers, and it answers soon.
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { KINDS, NO_CONTEXT } from "../../src/rooms/workflow/artifacts/artifact-kinds.ts";
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

  it.each<[string, (n: number) => string]>([
    ["blanks inside a value", (n) => `Status: ${" ".repeat(30 * n)}x\n`],
    ["blanks and dots", (n) => `Verdict: BLOCK\nBlocking Reasons:\n- ${" .".repeat(15 * n)}x\n`],
    ["one long word", (n) => `${"a".repeat(30 * n)}\n`],
    ["many keys", (n) => "max_files: 3\n".repeat(3 * n)],
    ["many bullets", (n) => `Scope-Allow:\n${"- a\n".repeat(6 * n)}`],
    ["a list of commas", (n) => `Gates: ${",".repeat(30 * n)}\n`],
    ["many fences", (n) => "```\n~~~\n".repeat(4 * n)],
    ["many markers", (n) => "BEHAVIOR_ID: B001, ".repeat(2 * n)],
    ["deep JSON", (n) => "[".repeat(20 * n)],
    ["many sections", (n) => "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n".repeat(n / 2)],
    [
      "one long hunk",
      (n) => `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,${9 * n} +1,${9 * n} @@\n${" a\n".repeat(9 * n)}`,
    ],
  ])("look at twice as much and say the same when there is twice as much of it: %s", (_, make) => {
    const [half, whole] = [judgeCounted(make(500)), judgeCounted(make(1000))];
    expect(half.characters).toBeGreaterThanOrEqual(make(500).length);
    expect(whole.characters).toBeLessThan(2.1 * half.characters);
    // Also where one search that goes back and forth inside a regular expression would never end.
    for (const { codes } of [whole, { codes: judgeAll(make(10_000)) }]) expect(codes).toEqual(half.codes);
    // Any text is an analysis, and a line of events without its end is one that is being written.
    const silent = half.codes.filter((said) => said.endsWith(":"));
    expect(["analysis:", "events:"]).toEqual(expect.arrayContaining(silent));
  });
});

/** What every parser says of a text, each code once. */
function judgeAll(text: string): string[] {
  const given = Buffer.from(text);
  const codes = KINDS.map((kind) => {
    const { errors } = kind.judge(given, NO_CONTEXT, "f");
    return `${kind.name}: ${[...new Set(errors.map(({ code }) => code))].join(" ")}`.trim();
  });
  const marked = findMarkers(text, { marker: "BEHAVIOR_ID", comment_prefixes: null });
  return [...codes, JSON.stringify([readBehaviorIndex(text), findMissingHeadings(text), marked])];
}

/** The same, and how many characters were handed to searches and regular expressions for it. */
function judgeCounted(text: string): { characters: number; codes: string[] } {
  let characters = 0;
  const spies: { mockRestore(): void }[] = [];
  type Method = (this: unknown, ...given: unknown[]) => unknown;
  const spyOn = (owner: object, name: string, count: (self: unknown, given: unknown[], call: Method) => unknown) => {
    const methods = owner as Record<string, Method>;
    const original = methods[name]!;
    const counted = function (this: unknown, ...given: unknown[]) {
      return count(this, given, original);
    };
    spies.push(vi.spyOn(methods, name).mockImplementation(counted));
  };
  spyOn(RegExp.prototype, "exec", (self, given, call) => {
    const { sticky, lastIndex } = self as RegExp;
    const match = call.apply(self, given) as RegExpExecArray | null;
    const missed = sticky ? lastIndex + 1 : (given[0] as string).length;
    characters += (match === null ? missed : match.index + match[0].length + 1) - lastIndex;
    return match;
  });
  for (const name of ["split", "indexOf", "includes", "trim", "trimStart", "trimEnd", "replaceAll", "toLowerCase"]) {
    spyOn(String.prototype, name, (self, given, call) => {
      characters += (self as string).length;
      return call.apply(self, given);
    });
  }
  try {
    const codes = judgeAll(text);
    return { characters, codes };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

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

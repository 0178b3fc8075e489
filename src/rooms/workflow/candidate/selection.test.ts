import { describe, expect, it } from "vitest";
import type { Candidate, CandidateFile } from "../contracts/candidate.ts";
import { listPickedEdits } from "./selected-image.ts";
import { resolveSelection } from "./selection.ts";

const extent = { old_start: 1, old_lines: 1, new_start: 1, new_lines: 1, added: 1, deleted: 1 };
const hunk = (n: number, parts = 0) => ({
  n,
  id: `h_${String(n).padStart(12, "0")}`,
  ...extent,
  ...(parts === 0 ? {} : { parts: Array.from({ length: parts }, (_, k) => ({ n: `${n}.${k + 1}`, ...extent })) }),
});
const file = (path: string, hunks: CandidateFile["hunks"], kind: CandidateFile["kind"] = "text"): CandidateFile => ({
  path,
  operation: "modify",
  kind,
  added: 1,
  deleted: 1,
  bytes: 1,
  sha256: "0".repeat(64),
  mode: "100644",
  ...(hunks === undefined ? {} : { hunks }),
});
const FILES = [
  file("app/[id]/page.tsx", [hunk(1)]),
  file("odd:1", [hunk(1)]),
  file("pic.png", undefined, "binary"),
  file("src/date.ts", [hunk(1), hunk(2), hunk(3, 2), hunk(4)]),
  file("src/deep/date.test.ts", [{ ...hunk(1), id: "h_abcdefabcdef" }]),
];
const CANDIDATE = { files: FILES } as unknown as Candidate;

const pick = (only: readonly string[], except: readonly string[] = []) =>
  resolveSelection(CANDIDATE, { only, except }).map(
    ({ path, hunks }) => `${path} ${hunks === "all" ? "all" : hunks.join(",")}`,
  );

describe("a selection", () => {
  it.each([
    [["src/date.ts"], [], ["src/date.ts all"]],
    [["src"], [], ["src/date.ts all", "src/deep/date.test.ts all"]],
    [["src/"], [], ["src/date.ts all", "src/deep/date.test.ts all"]],
    [["*.ts"], [], ["src/date.ts all", "src/deep/date.test.ts all"]],
    [["src/*.ts"], [], ["src/date.ts all"]],
    [["**/*.test.ts"], [], ["src/deep/date.test.ts all"]],
    [["src/date.ts:1,3-4"], [], ["src/date.ts 1,3,4"]],
    [["src/date.ts:3.1"], [], ["src/date.ts 3.1"]],
    [["src/date.ts:3.2,3.1"], [], ["src/date.ts 3"]],
    [["src/date.ts:1-4"], [], ["src/date.ts all"]],
    [["src/date.ts:4", "src/date.ts:1"], [], ["src/date.ts 1,4"]],
    [["src/date.ts:2", "src/date.ts"], [], ["src/date.ts all"]],
    [["h_abcdefabcdef"], [], ["src/deep/date.test.ts all"]],
    [["src/date.ts:h_000000000002,4"], [], ["src/date.ts 2,4"]],
    [["app/[id]/page.tsx"], [], ["app/[id]/page.tsx all"]],
    [["odd:1"], [], ["odd:1 all"]],
    [["odd:1:1"], [], ["odd:1 all"]],
    [["pic.png"], [], ["pic.png all"]],
    [["src"], ["src/date.ts:3.1"], ["src/date.ts 1,2,3.2,4", "src/deep/date.test.ts all"]],
    [["src"], ["src/date.ts:1-4"], ["src/deep/date.test.ts all"]],
    [["src/date.ts:1"], ["src/deep"], ["src/date.ts 1"]],
    [[], ["src", "pic.png", "odd:1"], ["app/[id]/page.tsx all"]],
  ])("of only %j except %j", (only, except, expected) => {
    expect(pick(only, except)).toEqual(expected);
  });

  it.each([
    [["src/date.ts:9"], 'there is no hunk 9 in "src/date.ts"; it has 4'],
    [["src/date.ts:3-9"], "there is no hunk 3-9"],
    [["src/date.ts:4-3"], "there is no hunk 4-3"],
    [["src/date.ts:0"], "there is no hunk 0"],
    [["src/date.ts:1.1"], "there is no hunk 1.1"],
    [["src/date.ts:3.3"], "there is no hunk 3.3"],
    [["src/date.ts:"], "does not name hunks"],
    [["src/date.ts:1,"], "does not name hunks"],
    [["src/date.ts:x"], "does not name hunks"],
    [["src/date.ts:3.1-3.2"], "does not name hunks"],
    [["pic.png:1"], "taken or left whole"],
    [["h_ffffffffffff"], "there is no hunk h_ffffffffffff in the change"],
    [["src/date.ts:h_ffffffffffff"], "there is no hunk h_ffffffffffff in"],
    [["SRC"], 'nothing in the change is called "SRC"'],
    [["sr"], "nothing in the change is called"],
    [["*.py"], "nothing in the change is called"],
    [[""], "nothing in the change is called"],
    [["/"], "nothing in the change is called"],
  ])("of only %j is refused", (only, says) => {
    expect(() => pick(only)).toThrow(expect.objectContaining({ code: "SELECTION_INVALID", exit: 2 }));
    expect(() => pick(only)).toThrow(says);
    expect(() => pick([], only)).toThrow(says);
  });

  it("of nothing is refused", () => {
    expect(() => pick(["src/date.ts"], ["src"])).toThrow("nothing of the change is left to choose");
    expect(() => pick([], ["*"])).toThrow("nothing of the change is left to choose");
  });

  it("that was written down with a number the file does not have is refused", () => {
    expect(() => listPickedEdits([], { path: "x", hunks: [1] })).toThrow(/no hunk 1 in x/);
  });
});

import { describe, expect, it } from "vitest";
import type { Key } from "../keys.ts";
import { readKeys } from "../keys.ts";
import { boxHidden, wrapPieces } from "./line-pieces.ts";
import { type Review, ReviewState } from "./review-state.ts";
import { markWords } from "./word-marks.ts";

function press(...sent: readonly string[]): string[] {
  const keys: Key[] = [];
  const reader = readKeys((...more) => keys.push(...more));
  for (const text of sent) reader.take(new TextEncoder().encode(text));
  return keys.map(({ name }) => name);
}

const extent = { old_start: 1, old_lines: 1, new_start: 1, new_lines: 1, added: 1, deleted: 1 };
const hunk = (n: number, parts = 0) => ({
  n,
  id: `h_${n}`,
  ...extent,
  ...(parts === 0 ? {} : { parts: Array.from({ length: parts }, (_, i) => ({ n: `${n}.${i + 1}`, ...extent })) }),
  heading: null,
  lines: [{ kind: "added" as const, text: `rope ${n}`, no_eol: false, old: null, new: 1 }],
});
const facts = { added: 1, deleted: 1, bytes: 1, mode: "100644", findings: [] };

function makeState(decided: Review["decided"] = []): ReviewState {
  return new ReviewState({
    run_id: "20250102-030405-abcdef",
    goal: "x",
    outcome: "verified",
    reason: null,
    candidate: 1,
    verified_by: [],
    files: [
      { path: "a:1", operation: "modify", kind: "text", ...facts, hunks: [hunk(1), hunk(2, 3)] },
      { path: "b.png", operation: "create", kind: "binary", ...facts, hunks: [] },
    ],
    decided,
  });
}

describe("a review", () => {
  it("takes hunks, parts and whole files, and says them as they are taken by number", () => {
    const state = makeState();
    state.decide("take");
    expect(state.advance()).toBe(true);
    expect(state.split()).toBe(true);
    state.move(2);
    state.decide("take");
    expect(state.picks()).toEqual([{ path: "a:1", hunks: [1, "2.3"] }]);
    state.move(9);
    state.decide("take");
    expect(state.picks()[1]).toEqual({ path: "b.png", hunks: "all" });
    expect([state.count("take"), state.count(null), state.isWhole]).toEqual([3, 2, false]);
    const again = makeState(state.decided());
    expect(again.picks()).toEqual(state.picks());
    expect(again.current.name).toBe("2.1");
    // Joined again, parts of different decisions have none.
    expect(again.split()).toBe(true);
    expect(again.picks()).toEqual([
      { path: "a:1", hunks: [1] },
      { path: "b.png", hunks: "all" },
    ]);
    again.decide("take", again.ofFile(false));
    expect([again.isWhole, again.picks()[0]]).toEqual([true, { path: "a:1", hunks: "all" }]);
  });

  it("finds words around the end, and ignores decisions about what the change does not have", () => {
    const state = makeState([{ path: "gone", take: ["all"], leave: [] }]);
    expect([state.search("ROPE 2"), state.search("Rope"), state.search("png"), state.at]).toEqual([
      false,
      false,
      true,
      2,
    ]);
    expect([state.search("rope"), state.at]).toEqual([true, 0]);
    expect(state.decided()).toEqual([]);
  });
});

describe("keys", () => {
  it("are the same however a terminal cuts them, and what is pasted is none", () => {
    expect(press("y\u001b[A\u001bOBn")).toEqual(["y", "up", "down", "n"]);
    expect(press("\u001b", "[", "5", "~", "ä", "\r")).toEqual(["page up", "ä", "enter"]);
    expect(press("\u001b[200~yyw", "yw\u001b[20", "1~q")).toEqual(["q"]);
    expect(press("\u0003", "\u001b[99;9Xj")).toEqual(["ctrl-c", "j"]);
  });
});

describe("a line", () => {
  it("shows what hides as boxes, and is broken without losing anything", () => {
    const rows = wrapPieces(boxHidden("a\u202eb\u001b[31mcd\u{1f600}e", "plain"), 8);
    expect(rows.map((row) => row.map(({ text }) => text))).toEqual([
      ["a", "U+202E", "b"],
      ["U+001B", "[3"],
      ["1mcd😀e"],
    ]);
  });

  it("has marks where it differs from the one before, and none where nothing is the same", () => {
    const [before, after] = markWords("return at;", "return Math.floor(at);")!;
    expect(before.filter(({ marked }) => marked)).toEqual([]);
    expect(after.filter(({ marked }) => marked).map(({ text }) => text)).toEqual(["Math.floor(", ")"]);
    expect(markWords("lamp", "rope and tar")).toBeNull();
    expect(markWords("x ".repeat(9000), "y ".repeat(9000))).toBeNull();
  });
});

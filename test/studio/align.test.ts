// Several changes of one file on the lines that all of them began with, and comments below what they are about. No browser is needed.
import { describe, expect, it } from "vitest";
import type { Operations } from "../../src/api.ts";

type DiffFile = Operations["agent.diff"]["output"]["files"][number];
type Cell = { readonly kind: string; readonly text: string; readonly isAround: boolean; readonly hunk: string | null };
type AlignedRow =
  | { readonly type: "line"; readonly base: number | null; readonly cells: readonly (Cell | null)[] }
  | { readonly type: "skip"; readonly lines: number };

// The page is compiled for a browser, with types that Node does not have, so that its modules are loaded by name.
const ALIGN = "../../web/src/screens/compare/align.ts";
const PLACE = "../../web/src/screens/runs/comments/place.ts";
const { alignChanges } = (await import(ALIGN)) as {
  alignChanges(files: readonly (DiffFile | null)[]): AlignedRow[] | null;
};
interface Place {
  readonly path: string;
  readonly side: "base" | "result";
  readonly from: number | null;
  readonly to: number | null;
}
const { spanOf } = (await import(PLACE)) as { spanOf(first: Place | null, last: Place): Place };

/** A file of hunks, each as text: `-` goes, `+` comes, anything else stays. */
function fileOf(...hunks: readonly (readonly [start: number, ...lines: string[]])[]): DiffFile {
  const kinds = { "-": "deleted", "+": "added", " ": "context" } as const;
  return {
    path: "lamp.txt",
    operation: "modify",
    kind: "text",
    added: 1,
    deleted: 1,
    bytes: 1,
    mode: null,
    findings: [],
    hunks: hunks.map(([old_start, ...lines], at) => ({
      n: at + 1,
      id: `h_${old_start}`,
      old_start,
      old_lines: lines.filter((line) => !line.startsWith("+")).length,
      new_start: old_start,
      new_lines: 1,
      added: 1,
      deleted: 1,
      heading: null,
      from: 0,
      lines: lines.map((line) => ({ kind: kinds[line[0] as "-"], text: line.slice(1), no_eol: false })),
    })),
  };
}

/** A row as text: its number, and what each run has there. */
function say(rows: AlignedRow[] | null): string[] | null {
  const signs: Record<string, string> = { context: " ", added: "+", deleted: "-" };
  const show = (cell: Cell | null) =>
    cell === null
      ? "."
      : `${cell.isAround ? "~" : signs[cell.kind]}${cell.text}${cell.hunk === null ? "" : `#${cell.hunk}`}`;
  return (
    rows?.map((row) =>
      row.type === "skip" ? `skip ${row.lines}` : `${row.base ?? "-"} ${row.cells.map(show).join("|")}`,
    ) ?? null
  );
}

describe("changes side by side", () => {
  it("stand on the lines that all began with; what only one has leaves a gap beside it", () => {
    const one = fileOf([2, " b", "-c", "+C", "+CC", " d"]);
    const other = fileOf([2, " b", "-c", "+X", " d"], [9, " i", "+more"]);
    expect(say(alignChanges([one, other, null]))).toEqual([
      "skip 1",
      "2  b#h_2| b#h_2|~b",
      "3 -c|-c|~c",
      "- +C|+X|.",
      "- +CC|.|.",
      "4  d| d|~d",
      "skip 4",
      "9 ~i| i#h_9|~i",
      "- .|+more|.",
    ]);
  });

  it("put what goes before the first line before it, and a new file beside nothing", () => {
    const before: DiffFile = fileOf([1, "+top", " a"]);
    expect(say(alignChanges([before, fileOf([1, "-a"])]))).toEqual(["- +top#h_1|.", "1  a|-a#h_1"]);
    const made: DiffFile = { ...fileOf([0, "+a", "+b"]), operation: "create" };
    expect(say(alignChanges([made, null]))).toEqual(["- +a#h_0|.", "- +b|."]);
  });

  it("are not put together where they did not begin with the same lines", () => {
    expect(alignChanges([fileOf([1, " a"]), fileOf([1, " b"])])).toBeNull();
  });
});

describe("what a comment is about", () => {
  const at = (side: "base" | "result", from: number, to = from): Place => ({ path: "lamp.txt", side, from, to });

  it("goes from one line to the other, whichever was pressed first, and never over two sides or files", () => {
    expect(spanOf(at("result", 9), at("result", 4))).toEqual(at("result", 4, 9));
    expect(spanOf(at("result", 2, 5), at("result", 7))).toEqual(at("result", 2, 7));
    expect(spanOf(at("base", 2), at("result", 7))).toEqual(at("result", 7));
    expect(spanOf({ ...at("result", 2), path: "oil.txt" }, at("result", 7))).toEqual(at("result", 7));
    expect(spanOf(null, at("result", 7))).toEqual(at("result", 7));
    expect(spanOf({ ...at("result", 1), from: null, to: null }, at("result", 7))).toEqual(at("result", 7));
  });
});

// What a change is as rows: whitespace and very long files are folded without being lost. No browser is needed for that.
import { describe, expect, it } from "vitest";
import type { Operations } from "../../src/api.ts";

type DiffFile = Operations["agent.diff"]["output"]["files"][number];
interface View {
  readonly split: boolean;
  readonly folded: ReadonlySet<string>;
  readonly unfolded: ReadonlyMap<string, ReadonlyMap<number, string>>;
  readonly foldsSpace: boolean;
  readonly opened: ReadonlySet<string>;
}

// The page is compiled for a browser, with types that Node does not have, so that it is loaded by name.
const MODEL = "../../web/src/screens/runs/diff/model.ts";
const { toRows } = (await import(MODEL)) as {
  toRows(files: readonly DiffFile[], view: View): { readonly type: string }[];
};

const VIEW: View = {
  split: false,
  folded: new Set(),
  unfolded: new Map(),
  foldsSpace: false,
  opened: new Set(),
};

type Lines = DiffFile["hunks"][number]["lines"];

function fileOf(lines: Lines, size = 2): DiffFile {
  const hunk = {
    n: 1,
    id: "h_1",
    old_start: 1,
    old_lines: 1,
    new_start: 1,
    new_lines: 1,
    added: 1,
    deleted: 1,
    heading: null,
    from: 0,
  };
  return {
    path: "lamp.ts",
    operation: "modify",
    kind: "text",
    added: size,
    deleted: 0,
    bytes: 9,
    mode: null,
    findings: [],
    hunks: [{ ...hunk, lines }],
  };
}

const change = (old: string, now: string): Lines => [
  { kind: "deleted", text: old, no_eol: false },
  { kind: "added", text: now, no_eol: false },
];

const typesOf = (file: DiffFile, view: Partial<View>) => toRows([file], { ...VIEW, ...view }).map(({ type }) => type);

describe("the rows of a change", () => {
  it.each([
    ["another indentation", change("a = 1;", "    a  =  1;"), ["file", "hunk"]],
    ["another letter", change("a = 1;", "b = 1;"), ["file", "hunk", "line", "line"]],
    ["letters in another order", change("ab", "ba"), ["file", "hunk", "line", "line"]],
  ])("fold %s when whitespace is folded, and only then", (_name, lines, folded) => {
    expect(typesOf(fileOf(lines), { foldsSpace: true })).toEqual(folded);
    expect(typesOf(fileOf(lines), {})).toEqual(["file", "hunk", "line", "line"]);
  });

  it("of a file with more than 20,000 changed lines come when somebody asks for them", () => {
    const lines = change("a", "b");
    expect(typesOf(fileOf(lines, 20_000), {})).toEqual(["file", "hunk", "line", "line"]);
    expect(toRows([fileOf(lines, 20_001)], VIEW)[1]).toMatchObject({ type: "large", lines: 20_001 });
    expect(typesOf(fileOf(lines, 20_001), { opened: new Set(["lamp.ts"]) })).toEqual(["file", "hunk", "line", "line"]);
  });
});

import { expect, it } from "vitest";
import type { Entry, Tree } from "../tree/tree.ts";
import { originOf, takeAsBegun } from "./as-begun.ts";

const file = (digit: string): Entry => ({ type: "file", mode: "0644", size: 1, sha256: digit.repeat(64) });
const dir: Entry = { type: "dir", mode: "0755" };
const MARKS = {
  gone: new Set(["harbour", "port/gone.txt", "port/pier"]),
  opaque: new Set(["fresh"]),
  // A folder was moved into another one, and one of its own was moved within it.
  redirects: new Map([
    ["port", "harbour"],
    ["port/quay", "/harbour/pier"],
    ["deep/inner", "other"],
  ]),
};

it.each([
  ["lamp.txt", "lamp.txt"],
  ["port/a.txt", "harbour/a.txt"],
  ["port/quay/x/y.txt", "harbour/pier/x/y.txt"],
  ["deep/inner/z.txt", "deep/other/z.txt"],
  ["port/gone.txt", null],
  ["harbour/a.txt", null],
  ["fresh/a.txt", null],
])("what an overlay shows at %s is of the real %s", (path, origin) => {
  expect(originOf(path, MARKS)).toBe(origin);
});

it("what a command did not write is taken as it was when the command began", () => {
  const tree: Tree = new Map<string, Entry>([
    ["harbour", dir],
    ["harbour/a.txt", file("a")],
    ["harbour/gone.txt", file("b")],
    ["harbour/lost.txt", file("c")],
    ["harbour/pier", dir],
    ["harbour/pier/x.txt", file("d")],
    ["lamp.txt", file("e")],
  ]);
  const theirs = { before: file("e"), after: file("9"), fields: ["sha256"] };
  const changes = {
    added: new Map<string, Entry>([
      ["port", dir],
      ["port/a.txt", file("0")],
      ["port/new.txt", file("1")],
      ["port/own.txt", file("2")],
      ["port/quay", dir],
    ]),
    removed: new Map<string, Entry>([["harbour/a.txt", file("a")]]),
    changed: new Map([["lamp.txt", theirs]]),
  };
  const written = new Set(["port", "port/own.txt", "port/quay"]);
  const real = new Set(["harbour", "harbour/a.txt", "harbour/gone.txt", "harbour/new.txt", "lamp.txt"]);
  const { added, removed, changed } = takeAsBegun(changes, {
    tree,
    marks: MARKS,
    isWritten: (path) => written.has(path),
    isReal: (path) => real.has(path),
  });
  expect([...added].sort()).toEqual([
    ["port", dir],
    // Edited since, removed since, and in a folder of the folder that is gone since.
    ["port/a.txt", file("a")],
    ["port/lost.txt", file("c")],
    ["port/own.txt", file("2")],
    ["port/quay", dir],
    ["port/quay/x.txt", file("d")],
  ]);
  const gone = ["a.txt", "lost.txt", "pier", "pier/x.txt"].map((name) => `harbour/${name}`);
  expect([[...removed.keys()].sort(), [...changed]]).toEqual([gone, []]);
});

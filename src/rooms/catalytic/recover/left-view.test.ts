import { expect, it } from "vitest";
import type { Entry, Tree } from "../tree/tree.ts";
import { findBorrowed } from "./left-view.ts";

const file = (digit: string): Entry => ({ type: "file", mode: "0644", size: 1, sha256: digit.repeat(64) });
const tree: Tree = new Map([["harbour/a.txt", file("a")]]);

// In an overlay a renamed folder is one word that points to the real folder, whatever is in there by now.
it("a file of a renamed folder is the command's only as long as it is one that was there when it began", () => {
  const changed = new Map([["b.txt", { before: file("a"), after: file("b"), fields: ["sha256"] }]]);
  const renamed = new Map([["port/a.txt", file("a")]]);
  const edited = new Map([["port/a.txt", file("c")]]);
  const isWritten = (path: string) => path === "b.txt" || path === "own.txt";
  expect(findBorrowed({ added: renamed, changed }, tree, isWritten)).toBe(null);
  expect(findBorrowed({ added: new Map([["own.txt", file("d")]]), changed }, tree, isWritten)).toBe(null);
  expect(findBorrowed({ added: edited, changed }, tree, isWritten)).toBe("port/a.txt");
  expect(findBorrowed({ added: new Map(), changed }, tree, () => false)).toBe("b.txt");
});

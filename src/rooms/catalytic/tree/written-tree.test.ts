import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import type { Entry } from "./tree.ts";
import { findEntry, makeTexts, recallTree } from "./written-tree.ts";

const file = (size: number): Entry => ({ type: "file", mode: "0644", size, sha256: "0".repeat(64) });
const link = (target: string): Entry => ({ type: "symlink", target });

/** Names and targets that look like the text around them. By bytes, as trees are. */
const ENTRIES: readonly (readonly [string, Entry])[] = [
  [",", file(1)],
  [".", { type: "dir", mode: "0755" }],
  [":{", link('","a":{')],
  ["a", file(2)],
  ['a":{"mode":"0644","type":"dir"},"b', link("b,")],
  ["a\\", file(3)],
  ["b", link('}}{"b":{\\')],
  ["mode", { ...file(4), link_group: ',"zz":{' } as Entry],
  ["z/ä", file(5)],
  ["}", file(6)],
];

describe("a tree that lies there as text", () => {
  const tree = new Map(ENTRIES);
  const texts = makeTexts(nodeCrypto, tree);

  it("finds every entry by its path, whatever names and targets look like", () => {
    for (const [path, entry] of ENTRIES) expect(findEntry(texts.trees, path), path).toEqual(entry);
  });

  it("finds nothing at a path that is only part of a text", () => {
    for (const path of ["zz", "type", "target", "0644", "z", "ä", 'b,","type', "", "link_group"]) {
      expect(findEntry(texts.trees, path), path).toBeUndefined();
    }
  });

  it("answers the same once it became a map, which it does for who asks often", () => {
    const recalled = recallTree(texts);
    for (let i = 0; i < 100; i++) {
      expect(recalled.get("b")).toEqual(link('}}{"b":{\\'));
      expect(recalled.has("zz")).toBe(false);
    }
    expect([...recalled.keys()].sort()).toEqual([...tree.keys()].sort());
  });
});

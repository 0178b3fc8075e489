import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import type { ReadyFile } from "../ports.ts";
import { formatInputHashes } from "../run/closing.ts";
import { type Entry, formatManifests, formatTrees, sortedMap, stateOf, type Tree } from "./tree.ts";
import type { TreeTexts } from "./tree-texts.ts";
import { findEntry, makeTexts, recallTree, spliceTexts } from "./written-tree.ts";

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

/** What a record without ready texts says about the same tree, written by other code. */
function writeOut(tree: Tree) {
  const trees = new Map([[".", tree]]);
  const texts = [formatTrees(trees), formatManifests(trees), formatInputHashes(trees, new Map())];
  return { texts, state: stateOf(nodeCrypto, tree) };
}

const read = ({ trees, manifests, inputs, state }: TreeTexts) => ({ texts: [trees, manifests, inputs], state });

/** Texts as they lie ready for the next run. */
function keep(texts: TreeTexts): TreeTexts {
  const ready = (bytes: Uint8Array) => ({ read: () => bytes }) as unknown as ReadyFile;
  const { trees, manifests, inputs, index } = texts.bytes!;
  const files = { trees: ready(trees), manifests: ready(manifests), inputs: ready(inputs), index: ready(index) };
  return { trees: "", manifests: "", inputs: "", state: texts.state, files };
}

describe("the texts of a tree", () => {
  const paths = fc.oneof(fc.constantFrom(...ENTRIES.map(([path]) => path)), fc.string({ minLength: 1, maxLength: 3 }));
  const entries = fc.oneof(
    fc.constantFrom<Entry>(...ENTRIES.map(([, entry]) => entry)),
    fc.nat(9).map((digit): Entry => ({ type: "file", mode: "0600", size: digit, sha256: `${digit}`.repeat(64) })),
  );
  const trees = fc.array(fc.tuple(paths, entries), { maxLength: 12 }).map((list) => sortedMap(new Map(list)));
  const changes = fc.array(fc.tuple(paths, fc.option(entries)), { maxLength: 6 }).map((list) => new Map(list));

  it("are those that a record without them has", () => {
    fc.assert(
      fc.property(trees, (tree) => {
        expect(read(makeTexts(nodeCrypto, tree))).toEqual(writeOut(tree));
      }),
    );
  });

  it("that changed a little are those of the tree as it is, again and again", () => {
    fc.assert(
      fc.property(trees, fc.array(changes, { minLength: 1, maxLength: 3 }), (first, rounds) => {
        const now = new Map(first);
        let kept = keep(makeTexts(nodeCrypto, first));
        for (const changed of rounds) {
          for (const [path, entry] of changed) {
            if (entry === null) now.delete(path);
            else now.set(path, entry);
          }
          const made = spliceTexts(nodeCrypto, kept, changed)!;
          if (made !== kept) expect(read(made)).toEqual(writeOut(sortedMap(now)));
          else expect(made.state).toEqual(stateOf(nodeCrypto, sortedMap(now)));
          if (made !== kept) kept = keep(made);
        }
      }),
    );
  });

  it("stay where they are when nothing changed, and are not made from ones without an index", () => {
    const kept = keep(makeTexts(nodeCrypto, new Map(ENTRIES)));
    expect(spliceTexts(nodeCrypto, kept, new Map([["a", file(2)]]))).toBe(kept);
    expect(spliceTexts(nodeCrypto, kept, new Map([["nothing", null]]))).toBe(kept);
    const { index: _, ...files } = kept.files!;
    expect(spliceTexts(nodeCrypto, { ...kept, files }, new Map([["a", null]]))).toBeNull();
  });
});

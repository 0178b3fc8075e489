import { describe, expect, it } from "vitest";
import { formatTrees, readTrees, type Trees } from "./tree.ts";
import { readPlainTrees } from "./tree-text.ts";

const HASH = "0123456789abcdef".repeat(4);
const trees: Trees = new Map([
  [
    "a",
    new Map([
      [".", { type: "dir", mode: "0755" }],
      ["1", { type: "file", mode: "0644", size: 0, sha256: HASH }],
      ["__proto__", { type: "file", mode: "4711", size: 12_345, sha256: HASH }],
      ["b c:d/e", { type: "dir", mode: "1777" }],
    ]),
  ],
  ["a-b", new Map()],
  ["c/d", new Map([[".", { type: "dir", mode: "0700" }]])],
]);
const TEXT = `${formatTrees(trees)}\n`;

describe("plain trees", () => {
  it("are read from their text as a parser reads them", () => {
    expect(readPlainTrees(TEXT)).toEqual(trees);
    expect(readPlainTrees(TEXT)).toEqual(readTrees(JSON.parse(TEXT) as never));
  });

  it("are left to the parser when there is anything else: links, hard links, times, names with escapes", () => {
    const files = (entry: string, name = "x") => `{"d":{"${name}":${entry}}}\n`;
    expect(readPlainTrees(files('{"target":"t","type":"symlink"}'))).toBeNull();
    expect(
      readPlainTrees(files(`{"link_group":"x","mode":"0644","sha256":"${HASH}","size":1,"type":"file"}`)),
    ).toBeNull();
    expect(readPlainTrees(files('{"mode":"0755","mtime_ns":"1","type":"dir"}'))).toBeNull();
    expect(readPlainTrees(files('{"mode":"0755","type":"dir"}', "\\u00e9"))).toBeNull();
    expect(readPlainTrees("{}\n")).toBeNull();
  });

  it("are never read from a text that they do not give back: each byte left out, doubled or replaced", () => {
    let read = 0;
    for (let i = 0; i < TEXT.length; i++) {
      const [head, tail] = [TEXT.slice(0, i), TEXT.slice(i + 1)];
      for (const middle of ["", TEXT[i]! + TEXT[i]!, "0", "7", " ", "}", ",", "z", "\\", "\n"]) {
        const text = head + middle + tail;
        const found = readPlainTrees(text);
        if (found === null) continue;
        read++;
        expect(`${formatTrees(found)}\n`).toBe(text);
      }
    }
    expect(read).toBeGreaterThan(100);
  });

  it("in another order, or twice under one name, are not read", () => {
    const dir = '{"mode":"0755","type":"dir"}';
    expect(readPlainTrees(`{"d":{"b":${dir},"a":${dir}}}\n`)).toBeNull();
    expect(readPlainTrees(`{"d":{"a":${dir},"a":${dir}}}\n`)).toBeNull();
    expect(readPlainTrees(`{"d":{"a":${dir}},"c":{"a":${dir}}}\n`)).toBeNull();
    expect(readPlainTrees(`{"d":{"a":${dir}},"d":{"a":${dir}}}\n`)).toBeNull();
  });
});

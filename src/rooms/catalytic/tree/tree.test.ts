import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import type { JsonValue } from "../../../core/canonical/index.ts";
import {
  contentManifest,
  type Entry,
  formatManifests,
  formatTreeEntry,
  merkleRoot,
  readEntry,
  readTree,
  readTrees,
  stateOf,
} from "./tree.ts";

const HASH = "0123456789abcdef".repeat(4);
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const file: Entry = { type: "file", mode: "0644", size: 3, sha256: HASH };
const dir: Entry = { type: "dir", mode: "0755" };

describe("an entry", () => {
  it.each<JsonValue>([
    { ...file },
    { ...file, size: 0, link_group: "a", mtime_ns: "-12" },
    { ...dir },
    { ...dir, mtime_ns: "1" },
    { type: "symlink", target: "" },
    { type: "symlink", target: "x", mtime_ns: "1" },
  ] as JsonValue[])("is read and written as it is: %j", (value) => {
    expect(readEntry(value)).toEqual(value);
    expect(JSON.parse(formatTreeEntry(value as unknown as Entry))).toEqual(value);
  });

  it.each<[string, JsonValue | undefined]>([
    ["nothing", undefined],
    ["a text", "x"],
    ["another kind", { type: "other" }],
    ["another kind with a mode", { type: "other", mode: "0644" }],
    ["a mode of three digits", { ...dir, mode: "755" }],
    ["a mode that is a number", { ...dir, mode: 755 }],
    ["a hash that is none", { ...file, sha256: "x" }],
    ["a hash that is a number", { ...file, sha256: 1 }],
    ["a size below nothing", { ...file, size: -1 }],
    ["a size in parts", { ...file, size: 1.5 }],
    ["a size as text", { ...file, size: "1" }],
    ["a group that is a number", { ...file, link_group: 1 }],
    ["a time that is a number", { ...file, mtime_ns: 1 }],
    ["a time that is none", { ...file, mtime_ns: "1.5" }],
    ["a link without a target", { type: "symlink" }],
    ["a link to a number", { type: "symlink", target: 1 }],
    ["a link with a mode", { type: "symlink", target: "x", mode: "0777" }],
    ["a folder with a size", { ...dir, size: 1 }],
    ["a file with a target", { ...file, target: "x" }],
    ["a field nobody knows", { ...file, colour: "red" }],
  ] as [string, JsonValue | undefined][])("is refused: %s", (_, value) => {
    expect(readEntry(value)).toBeNull();
  });
});

describe("trees", () => {
  it("are read with their paths by bytes, or not at all", () => {
    expect([...readTree({ b: { ...file }, a: { ...dir } } as never)!.keys()]).toEqual(["a", "b"]);
    expect([readTree([]), readTree({ "": { ...dir } } as never), readTree({ a: {} })]).toEqual([null, null, null]);
    expect([...readTrees({ b: {}, a: {} })!.keys()]).toEqual(["a", "b"]);
    expect([readTrees(null), readTrees({ a: 1 })]).toEqual([null, null]);
  });

  it("have a manifest of their files alone", () => {
    const tree = new Map<string, Entry>([
      ["a", dir],
      ["b", file],
    ]);
    expect([...contentManifest(tree)]).toEqual([["b", HASH]]);
    expect(formatManifests(new Map([["d", tree]]))).toBe(`{"d":{"b":"${HASH}"}}`);
  });

  it("have a root over pairs of leaves, of which an odd last one is repeated", () => {
    const leaf = (path: string) => sha256(`${path}:${HASH}`);
    const [a, b, c] = [leaf("a"), leaf("b"), leaf("c")];
    const root = (...paths: string[]) => merkleRoot(nodeCrypto, new Map(paths.map((path) => [path, HASH])));
    expect(root()).toBe(EMPTY);
    expect(root("a")).toBe(a);
    expect(root("b", "a")).toBe(sha256(a + b));
    expect(root("a", "b", "c")).toBe(sha256(sha256(a + b) + sha256(c + c)));
  });

  it("have a state, in whatever order they come", () => {
    const entries: [string, Entry][] = [
      [".", dir],
      ["a", file],
      ["b", { ...file, size: 4 }],
    ];
    const state = stateOf(nodeCrypto, new Map(entries));
    expect(state).toMatchObject({
      exists: true,
      entries: 3,
      bytes: 7,
      content_root: sha256(sha256(`a:${HASH}`) + sha256(`b:${HASH}`)),
    });
    expect(stateOf(nodeCrypto, new Map(entries.toReversed()))).toEqual(state);
    expect(stateOf(nodeCrypto, new Map())).toEqual({
      exists: false,
      entries: 0,
      bytes: 0,
      content_root: EMPTY,
      tree_root: EMPTY,
    });
  });
});

import { expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { ArtifactFiles } from "./artifact-files.ts";

const open = (files: Readonly<Record<string, string | Uint8Array>>) =>
  new ArtifactFiles(
    nodeCrypto,
    new Map(
      Object.entries(files).map(([name, bytes]) => [name, typeof bytes === "string" ? Buffer.from(bytes) : bytes]),
    ),
  );

const FILE = `{"mode":"0644","sha256":"${"a".repeat(64)}","size":1,"type":"file"}`;
const TREE = `{"out":{".":{"mode":"0755","type":"dir"},"a":${FILE}}}\n`;

it("a file has a hash, a text and a value, and one that is not there has none", () => {
  const files = open({ "A.json": '{"a":1}\n', "B.json": Uint8Array.of(0xff), "C.json": "{", "D.json": "[1]\n" });
  expect(files.hash("A.json")).toBe(nodeCrypto.sha256('{"a":1}\n'));
  expect([files.text("A.json"), files.object("A.json")]).toEqual(['{"a":1}\n', { a: 1 }]);
  expect([files.hash("gone"), files.text("gone"), files.value("gone"), files.object("gone")]).toEqual([
    null,
    null,
    undefined,
    null,
  ]);
  expect([files.text("B.json"), files.value("B.json"), files.value("C.json")]).toEqual([null, undefined, undefined]);
  expect([files.value("D.json"), files.object("D.json")]).toEqual([[1], null]);
});

it.each([
  ['{"a":1,"b":2}\n', true],
  ['{"b":2,"a":1}\n', false],
  ['{"a":1, "b":2}\n', false],
  ['{"a":1,"b":2}', false],
  ["{", false],
  ["", false],
])("%j is canonical: %s", (text, expected) => {
  expect(open({ "A.json": text }).isCanonical("A.json")).toBe(expected);
});

it("a file that is not there is not canonical, and not what was expected", () => {
  const files = open({});
  files.expect("A.json", "x");
  expect([files.isCanonical("A.json"), files.isExpected("A.json"), files.isExpected("B.json")]).toEqual([
    false,
    false,
    false,
  ]);
});

it("a file is what follows from others, or it is not", () => {
  const files = open({ "A.json": "whatever\n", "B.json": "other\n" });
  for (const name of ["A.json", "B.json"]) files.expect(name, "whatever\n");
  expect([files.isExpected("A.json"), files.isCanonical("A.json")]).toEqual([true, true]);
  expect([files.isExpected("B.json"), files.isCanonical("B.json")]).toEqual([false, false]);
});

it("the text of a twin is read once where both have the same bytes, and its own where they differ", () => {
  const same = open({ "PRE_TREE.json": TREE, "POST_TREE.json": TREE });
  expect([same.text("POST_TREE.json"), same.text("PRE_TREE.json")]).toEqual([TREE, TREE]);
  const other = open({ "PRE_TREE.json": TREE, "POST_TREE.json": "{}\n", "POST_MANIFEST.json": "{}\n" });
  expect([other.text("POST_TREE.json"), other.text("POST_MANIFEST.json")]).toEqual(["{}\n", "{}\n"]);
  expect(open({ "PRE_TREE.json": TREE }).text("POST_TREE.json")).toBeNull();
});

it("trees are read, and are canonical only where they give their text back", () => {
  const good = open({ "PRE_TREE.json": TREE });
  expect([...good.trees("PRE_TREE.json")!.get("out")!.keys()]).toEqual([".", "a"]);
  expect(good.isExpected("PRE_TREE.json")).toBe(true);
  for (const text of [TREE.replace(',"a":', ', "a":'), TREE.trimEnd(), TREE.replace('"size":1,', '"size":1, ')]) {
    const files = open({ "PRE_TREE.json": text });
    expect(files.trees("PRE_TREE.json")?.get("out")?.get("a")).toMatchObject({ size: 1 });
    expect([files.isExpected("PRE_TREE.json"), files.isCanonical("PRE_TREE.json")]).toEqual([false, false]);
  }
});

it.each([
  ["a key that appears twice", TREE.replace(`"a":${FILE}`, `"a":${FILE},"a":${FILE}`)],
  ["no JSON", "{"],
  ["no tree", '{"out":1}\n'],
  ["an entry that is none", '{"out":{"a":{"type":"pipe"}}}\n'],
])("no trees are read from %s", (_, text) => {
  expect(open({ "PRE_TREE.json": text }).trees("PRE_TREE.json")).toBeNull();
});

it("no trees are read from a file that is not there", () => {
  expect(open({}).trees("PRE_TREE.json")).toBeNull();
});

it.each([
  ["a link", TREE.replace(FILE, '{"target":"b","type":"symlink"}')],
  ["a name beyond ASCII", TREE.replace('"a":', '"\\u00e4":')],
])("a tree with %s is read by a parser and is canonical all the same", (_, text) => {
  const files = open({ "PRE_TREE.json": text });
  expect(files.trees("PRE_TREE.json")!.get("out")!.size).toBe(2);
  expect([files.isExpected("PRE_TREE.json"), files.isCanonical("PRE_TREE.json")]).toEqual([true, true]);
});

it("a file is hashed, decoded and parsed once, and a twin with the same bytes is not decoded at all", () => {
  const counts = { hashed: 0, read: [] as string[] };
  const map = new Map(["PRE_TREE.json", "POST_TREE.json"].map((name) => [name, Buffer.from(TREE)]));
  const counted = new Map(map);
  counted.get = (name) => (counts.read.push(name), map.get(name));
  const crypto = { ...nodeCrypto, sha256: (bytes: Uint8Array | string) => (counts.hashed++, nodeCrypto.sha256(bytes)) };
  const files = new ArtifactFiles(crypto, counted);
  for (let i = 0; i < 2; i++) for (const name of map.keys()) files.hash(name);
  expect([counts.hashed, counts.read]).toEqual([2, ["PRE_TREE.json", "POST_TREE.json"]]);
  for (let i = 0; i < 2; i++) for (const name of ["POST_TREE.json", "PRE_TREE.json"]) files.text(name);
  expect(counts.read.slice(2)).toEqual(["PRE_TREE.json"]);
  expect(files.value("PRE_TREE.json")).toBe(files.value("PRE_TREE.json"));
});

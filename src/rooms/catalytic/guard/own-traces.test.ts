import { expect, it } from "vitest";
import { isOwnTrace } from "./own-traces.ts";

const OBJECT = ".git/objects/06/720dd050bc3d8ecb9abcf7152b495bf103d8a0";
const PACK = `.git/objects/pack/pack-${"0672".repeat(10)}.pack`;
const RECORD = ".verbatim/runs/r1/PROOF.json";

it.each([
  [OBJECT, ["ctime_ns", "mtime_ns"], true],
  [`lib/.git/modules/x/${OBJECT.slice(5)}`, ["mtime_ns"], true],
  [OBJECT, ["ctime_ns", "mtime_ns", "size"], false],
  [OBJECT, ["ctime_ns", "ino", "mtime_ns"], false],
  [OBJECT, [], false],
  [".git/objects/pack/pack-0672.pack", ["ctime_ns", "mtime_ns"], false],
  [PACK, ["ctime_ns", "mtime_ns"], true],
  [PACK, ["ctime_ns", "mtime_ns", "size"], false],
  [PACK.replace(".pack", ".idx"), ["ctime_ns", "mtime_ns"], false],
  [`docs/${OBJECT.slice(5)}`, ["ctime_ns", "mtime_ns"], false],
  [".git/index", ["ctime_ns", "mtime_ns"], false],
  [RECORD, ["ctime_ns", "nlink"], true],
  [RECORD, ["ctime_ns"], false],
  [RECORD, ["ctime_ns", "mtime_ns", "nlink"], false],
  ["src/lamp.txt", ["ctime_ns", "nlink"], false],
])("a change of %s in %j is our own trace: %s", (path, fields, expected) => {
  expect(isOwnTrace({ code: "PRIMARY_CHANGED", path, fields } as never, ".verbatim/runs")).toBe(expected);
});

// What a command leaves and what it declared: with one thing that does not fit, nothing is an output.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { EMPTY_ROOT } from "../contracts/constants.ts";
import type { Entry, OtherEntry } from "../tree/tree.ts";
import { formatOutputs, type Staged, sealOutputs, toDeclared } from "./outputs.ts";

const HASH = "ab".repeat(32);
const file: Entry = { type: "file", mode: "0644", size: 1, sha256: HASH };
const dir: Entry = { type: "dir", mode: "0755" };
const link = (target: string): Entry => ({ type: "symlink", target });
const other: OtherEntry = { type: "other" };
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function seal(
  declared: readonly string[],
  entries: Readonly<Record<string, Entry | OtherEntry | null>>,
  more: Partial<Staged> & { ended?: boolean } = {},
) {
  const { ended = true, ...staged } = more;
  return sealOutputs(nodeCrypto, declared, { entries: new Map(Object.entries(entries)), ...staged }, "runs", ended);
}
const problems = (...args: Parameters<typeof seal>) =>
  seal(...args).violations.map(({ code, path }) => `${code} ${path}`);

describe("outputs that were declared", () => {
  it("are sealed by path, with the hash of what they hold", () => {
    const sealed = seal(["out/d/", "out/a"], {
      "out/d": dir,
      "out/d/l": link("./x"),
      "out/d/x": file,
      "out/a": file,
    });
    expect(sealed.violations).toEqual([]);
    expect(sealed.outputs.map(({ path }) => path)).toEqual(["out/a", "out/d", "out/d/l", "out/d/x"]);
    expect(sealed.outputs[0]).toEqual({ path: "out/a", ...file });
    expect([...sealed.output_hashes]).toEqual([
      ["out/a", HASH],
      ["out/d/l", sha256("symlink:./x")],
      ["out/d/x", HASH],
    ]);
    expect(sealed.outputs_root).toMatch(/^[0-9a-f]{64}$/);
    expect(formatOutputs(sealed.outputs.slice(1, 2))).toBe('[{"mode":"0755","path":"out/d","type":"dir"}]');
  });

  it("may leave folders above them, which are no outputs", () => {
    const sealed = seal(["out/deep/a"], { "out/deep": dir, "out/deep/a": file });
    expect([sealed.violations, sealed.outputs.map(({ path }) => path)]).toEqual([[], ["out/deep/a"]]);
  });

  it("may be missing when the command did not end as expected", () => {
    expect(problems(["out/a"], {}, { ended: false })).toEqual([]);
    expect(problems(["out/a"], { "out/a": null })).toEqual(["OUTPUT_MISSING out/a"]);
  });

  it("are none at all as soon as one thing does not fit", () => {
    expect(seal(["out/a", "out/b"], { "out/a": file })).toEqual({
      violations: [{ code: "OUTPUT_MISSING", path: "out/b" }],
      outputs: [],
      output_hashes: new Map(),
      outputs_root: EMPTY_ROOT,
    });
  });

  it("are a folder by the slash at the end", () => {
    expect([toDeclared("a/b/"), toDeclared("a/b")]).toEqual([
      { path: "a/b", folder: true },
      { path: "a/b", folder: false },
    ]);
  });
});

describe("an output is refused", () => {
  it.each<[string, readonly string[], Record<string, Entry | OtherEntry | null>, string[]]>([
    ["a link", ["o"], { o: link("x") }, ["OUTPUT_IS_SYMLINK o"]],
    ["a special file", ["o"], { o: other }, ["OUTPUT_SPECIAL_FILE o"]],
    ["a folder for a file", ["o"], { o: dir }, ["OUTPUT_TYPE_MISMATCH o"]],
    ["a file for a folder", ["o/"], { o: file }, ["OUTPUT_TYPE_MISMATCH o"]],
    ["something nobody declared", ["o"], { o: file, p: file }, ["OUTPUT_UNDECLARED p"]],
    ["something nobody declared that is gone", ["o"], { o: file, p: null }, ["OUTPUT_UNDECLARED p"]],
    ["a folder that holds no output", ["o"], { o: file, p: dir }, ["OUTPUT_UNDECLARED p"]],
    ["a file where a folder would be above an output", ["p/o"], { "p/o": file, p: file }, ["OUTPUT_UNDECLARED p"]],
    ["a special file in a folder", ["o/"], { o: dir, "o/x": other }, ["OUTPUT_SPECIAL_FILE o/x"]],
    ["a file of a record", ["runs/"], { runs: dir, "runs/a/PROOF.json": file }, ["OUTPUT_RESERVED runs/a/PROOF.json"]],
    ["several, in order", ["b", "a"], { c: file }, ["OUTPUT_MISSING a", "OUTPUT_MISSING b", "OUTPUT_UNDECLARED c"]],
    [
      "several of one path, in order",
      ["runs/a/x/"],
      { "runs/a/x": dir, "runs/a/PROOF.json": file },
      ["OUTPUT_RESERVED runs/a/PROOF.json", "OUTPUT_UNDECLARED runs/a/PROOF.json"],
    ],
  ])("%s", (_, declared, entries, expected) => {
    expect(problems(declared, entries)).toEqual(expected);
  });

  it("too large, or with a name that is no text", () => {
    expect(problems(["o"], { o: file }, { too_large: new Set(["o"]) })).toEqual(["OUTPUT_TOO_LARGE o"]);
    const staged = { o: dir, "o/\\xff": file, "o/x": file };
    expect(problems(["o/"], staged, { not_utf8: new Set(["o/\\xff"]) })).toEqual(["OUTPUT_NAME_NOT_UTF8 o/\\xff"]);
    expect(problems(["o"], { o: file }, { too_large: new Set(["p"]) })).toEqual([]);
  });

  it("but what is gone from a declared folder is no output and no violation", () => {
    expect(problems(["o/"], { o: dir, "o/x": null })).toEqual([]);
    expect(problems(["runs/"], { runs: dir, "runs/a/PROOF.json": null })).toEqual([]);
  });
});

describe("a link in a declared folder", () => {
  const judge = (entries: Record<string, Entry>) => problems(["o/"], { o: dir, ...entries });
  const escapes = (name: string) => [`OUTPUT_SYMLINK_ESCAPES o/${name}`];
  const chain = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, i) => [`o/l${i}`, link(i + 1 < length ? `l${i + 1}` : "end")]));

  it.each<[string, Record<string, Entry>]>([
    ["to its neighbour", { "o/l": link("x") }],
    ["to nothing", { "o/l": link("./gone//x") }],
    ["up and down again", { "o/d": dir, "o/d/l": link("../x") }],
    ["through another link", { "o/d": dir, "o/d/l": link("../m/x"), "o/m": link("d") }],
    ["back to the folder itself", { "o/d": dir, "o/d/l": link("..") }],
    ["through forty links", chain(40)],
  ])("stays inside: %s", (_, entries) => {
    expect(judge(entries)).toEqual([]);
  });

  it.each<[string, Record<string, Entry>, string[]]>([
    ["to an absolute place", { "o/l": link("/etc/passwd") }, escapes("l")],
    ["to the folder above", { "o/l": link("../x") }, escapes("l")],
    ["too far up", { "o/d": dir, "o/d/l": link("../../x") }, escapes("d/l")],
    ["up behind the folder itself", { "o/l": link("./../x") }, escapes("l")],
    ["up behind nothing", { "o/l": link("d//../../x") }, escapes("l")],
    ["up behind a folder", { "o/l": link("d/../../x") }, escapes("l")],
    ["through a link that goes out", { "o/l": link("m/x"), "o/m": link("../p") }, [...escapes("l"), ...escapes("m")]],
    ["through an absolute link", { "o/l": link("m"), "o/m": link("/p") }, [...escapes("l"), ...escapes("m")]],
    ["to itself", { "o/l": link("l") }, escapes("l")],
    ["through forty-one links", chain(41), escapes("l0")],
  ])("gets out: %s", (_, entries, expected) => {
    expect(judge(entries)).toEqual(expected);
  });
});

import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { diffTree, diffTrees, formatDomainDiff } from "./diff.ts";
import type { Entry, Tree } from "./tree.ts";

const HASH = "ab".repeat(32);
const dir: Entry = { type: "dir", mode: "0755" };
const file: Entry = { type: "file", mode: "0644", size: 1, sha256: HASH };
const other: Entry = { ...file, sha256: "cd".repeat(32) };
const tree = (entries: Readonly<Record<string, Entry>>): Tree => new Map(Object.entries(entries));
const diff = (pre: Record<string, Tree>, post: Record<string, Tree | null>) =>
  diffTrees(nodeCrypto, new Map(Object.entries(pre)), new Map(Object.entries(post)));

describe("two looks at the domains", () => {
  it("are the same when nothing differs", () => {
    expect(diff({ d: tree({ a: file }) }, { d: tree({ a: { ...file } }) })).toMatchObject({
      empty: true,
      mismatches: [],
      condition: null,
    });
  });

  it("tell every difference by its path, and are named by the gravest", () => {
    const found = diff(
      { d: tree({ gone: file, mode: file, text: file }) },
      { d: tree({ mode: { ...file, mode: "0600" }, text: other, z: dir }) },
    );
    expect(found.mismatches.map(({ path, type, fields }) => [path, type, fields])).toEqual([
      ["gone", "missing", undefined],
      ["mode", "metadata_mismatch", ["mode"]],
      ["text", "hash_mismatch", ["sha256"]],
      ["z", "extra", undefined],
    ]);
    expect([found.empty, found.condition]).toEqual([false, "RESTORATION_FAILED_HASH_MISMATCH"]);
    expect(found.mismatches[0]).toMatchObject({
      domain: "d",
      expected: expect.stringMatching(/^[0-9a-f]{64}$/),
      actual: null,
    });
    expect(found.mismatches[3]).toMatchObject({ expected: null, actual: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  it("call it another content as soon as one field of the content differs", () => {
    const both = { ...other, mode: "0600" } as Entry;
    expect(diff({ d: tree({ a: file }) }, { d: tree({ a: both }) }).mismatches[0]).toMatchObject({
      type: "hash_mismatch",
      fields: ["mode", "sha256"],
    });
  });

  it("are no restoration when a domain could not be looked at, or was not", () => {
    const unreachable = { empty: false, mismatches: [], condition: "RESTORATION_FAILED_DOMAIN_UNREACHABLE" };
    expect(diff({ d: tree({ a: file }) }, { d: null })).toMatchObject(unreachable);
    expect(diff({ d: tree({ a: file }) }, {})).toMatchObject(unreachable);
  });

  it("find what is in a domain that was not there before", () => {
    expect(diff({}, { d: tree({ a: file }) })).toMatchObject({ condition: "RESTORATION_FAILED_EXTRA_FILES" });
  });

  it("are written with what was and what is", () => {
    const text = formatDomainDiff(diffTree(tree({ a: file, r: dir }), tree({ a: other, n: dir })));
    expect(JSON.parse(text)).toEqual({
      added: { n: dir },
      changed: { a: { before: file, after: other, fields: ["sha256"] } },
      removed: { r: dir },
    });
  });
});

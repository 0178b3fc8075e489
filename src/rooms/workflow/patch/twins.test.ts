import { describe, expect, it } from "vitest";
import type { PatchOperation, PatchSection } from "./patch-section.ts";
import { findTwins, foldersOf, listCreated, listLeaving } from "./twins.ts";

const section = (operation: PatchOperation, new_path: string, old_path = new_path, line = 1): PatchSection => ({
  operation,
  old_path,
  new_path,
  old_mode: null,
  new_mode: null,
  index_mode: null,
  added: 0,
  deleted: 0,
  line,
});
const find = (sections: readonly PatchSection[], entries: Readonly<Record<string, readonly string[]>> = {}) =>
  findTwins(sections, new Map(Object.entries(entries))).map(({ path }) => path);

describe("the names of a patch", () => {
  const all = [
    section("modify", "m"),
    section("create", "c"),
    section("delete", "d"),
    section("rename", "r2", "r1"),
    section("copy", "k2", "k1"),
  ];

  it("are new where a file is made, renamed or copied", () => {
    expect(listCreated(all).map(({ new_path }) => new_path)).toEqual(["c", "r2", "k2"]);
  });

  it("go where a file is deleted or renamed", () => {
    expect([...listLeaving(all)]).toEqual(["d", "r1"]);
  });

  it("lie in folders, the root first", () => {
    expect(foldersOf("a/b/c")).toEqual(["", "a", "a/b"]);
    expect(foldersOf("c")).toEqual([""]);
  });
});

describe("a twin", () => {
  it.each([
    ["of a file at the root", [section("create", "A")], { "": ["a"] }, ["A"]],
    ["of a file in a folder", [section("create", "d/A")], { d: ["a"] }, ["d/A"]],
    ["of a folder on the way", [section("create", "D/x")], { "": ["d"] }, ["D/x"]],
    ["of another name of the same patch", [section("create", "n/a"), section("copy", "n/A", "b")], {}, ["n/A"]],
    ["of one that only its own folder has", [section("create", "d/A")], { "": ["a", "d"] }, []],
    ["of one that goes", [section("rename", "A", "a")], { "": ["a"] }, []],
    ["of one that goes in a folder", [section("rename", "d/A", "d/a")], { "": ["d"], d: ["a"] }, []],
    ["of one that goes elsewhere", [section("create", "A"), section("delete", "d/a")], { "": ["a", "d"] }, ["A"]],
    ["which is there itself already", [section("create", "x/n")], { "": ["x", "X"] }, []],
    ["which is only changed", [section("modify", "A")], { "": ["a", "A"] }, []],
  ])("%s", (_, sections, entries, found) => {
    expect(find(sections, entries as Record<string, readonly string[]>)).toEqual(found);
  });

  it("is told with the line of its section", () => {
    expect(findTwins([section("create", "A", "A", 7)], new Map([["", ["a"]]]))).toEqual([{ path: "A", line: 7 }]);
  });
});

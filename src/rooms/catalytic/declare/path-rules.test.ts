import { describe, expect, it } from "vitest";
import { readPaths } from "./config-paths.ts";
import {
  belowFolded,
  containsOrInside,
  findLexicalCode,
  hasGitComponent,
  isArtifactPlace,
  isInside,
  normalizeOrRoot,
  normalizePath,
} from "./path-rules.ts";

describe("a path by its text", () => {
  it.each([
    ["", "PATH_EMPTY"],
    ["a\ud800", "PATH_INVALID"],
    ["a\u0001", "PATH_INVALID"],
    ["a\u0085", "PATH_INVALID"],
    ["/a", "PATH_ABSOLUTE"],
    ["\\a", "PATH_ABSOLUTE"],
    ["c:a", "PATH_ABSOLUTE"],
    ["a\\b", "PATH_BACKSLASH"],
    ["a/..", "PATH_CONTAINS_TRAVERSAL"],
    ["..", "PATH_CONTAINS_TRAVERSAL"],
    ["a..b/...", null],
    ["ab:c", null],
    [".", null],
    [`a/${"x".repeat(255)}`, null],
    [`a/${"x".repeat(256)}`, "PATH_TOO_LONG"],
    [`a/${"\u00e9".repeat(128)}`, "PATH_TOO_LONG"],
    [`${"a/".repeat(2047)}bc`, null],
    [`${"a/".repeat(2047)}bcd`, "PATH_TOO_LONG"],
  ])("%s", (path, code) => {
    expect(findLexicalCode(path)).toBe(code);
  });

  it("is normalised without a look at the disk", () => {
    expect(["./a//b/.", "/a", ".", ""].map(normalizePath)).toEqual(["a/b", "a", "", ""]);
    expect(["./a//b/.", ".", ""].map(normalizeOrRoot)).toEqual(["a/b", ".", "."]);
  });

  it("is a git folder's on some system in any of its components", () => {
    expect(["a/.git/b", ".GIT", "git~1/x", "a/.gitignore", "git"].map(hasGitComponent)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});

describe("one path and another", () => {
  it.each([
    ["a/b", "a", true, true],
    ["a", "a/b", false, true],
    ["a", "a", true, true],
    ["ab", "a", false, false],
    ["a", "", true, true],
    ["", "a", false, true],
    ["", "", true, true],
  ])("%j in %j: %s, in either direction: %s", (path, root, inside, either) => {
    expect([isInside(path, root), containsOrInside(path, root)]).toEqual([inside, either]);
  });

  it("is below a root whatever the case, never the root itself", () => {
    expect(belowFolded("Runs/A/b", "runs")).toBe("a/b");
    expect(belowFolded("runs", "runs")).toBeNull();
    expect(belowFolded("runsx/a", "runs")).toBeNull();
  });

  it.each([
    ["runs/a/PROOF.json", true],
    ["RUNS/a/proof.JSON", true],
    ["runs/a/other.json", false],
    ["runs/PROOF.json", false],
    ["runs/a/b/PROOF.json", false],
    ["out/a/PROOF.json", false],
  ])("%s is a place of an artifact: %s", (path, expected) => {
    expect(isArtifactPlace(path, "runs")).toBe(expected);
  });
});

describe("paths of the configuration", () => {
  it("are told from none, and each is refused by its own rule", () => {
    const problems: string[] = [];
    const fail = (code: string, pointer: string) => void problems.push(`${code} ${pointer}`);
    expect(readPaths(undefined, "/p", fail)).toBeNull();
    expect(readPaths(["a", "./b"], "/p", fail)).toEqual(["a", "./b"]);
    expect(problems).toEqual([]);
    expect(readPaths(["a", "/b", 1], "/p", fail)).toEqual(["a", "\0", "\0"]);
    expect(readPaths("a", "/p", fail)).toEqual([]);
    expect(problems).toEqual(["PATH_ABSOLUTE /p/1", "CONFIG_INVALID /p/2", "CONFIG_INVALID /p"]);
  });
});

import { describe, expect, it } from "vitest";
import { LAWFUL_PATHS, PATH_ATTACKS } from "../../../test/support/path-attacks.ts";
import { isRepoPath, isUnder, overlaps, parseRepoPath, showPath } from "./index.ts";

describe("repository paths", () => {
  it.each(PATH_ATTACKS)("refuses $what", ({ path, reason }) => {
    expect(() => parseRepoPath(path)).toThrowError(
      expect.objectContaining({ code: "PATH_REFUSED", details: expect.objectContaining({ reason }) }),
    );
  });

  it.each(LAWFUL_PATHS)("keeps %j exactly as it is", (path) => {
    expect(parseRepoPath(path)).toBe(path);
  });

  it.each([
    ["4,096 characters", true, `${"a/".repeat(2047)}bc`],
    ["4,097 characters", false, `${"a/".repeat(2048)}b`],
    ["a name of 255 bytes", true, "n".repeat(255)],
    ["a name of 256 bytes between short ones", false, `a/${"n".repeat(256)}/b`],
    ["a name of 255 bytes in 85 characters", true, "€".repeat(85)],
    ["a name of 258 bytes in 86 characters", false, `a/${"€".repeat(86)}`],
  ])("take %s: %s", (_, isTaken, path) => {
    expect(isRepoPath(path)).toBe(isTaken);
  });

  it("are shown up to their 300th character", () => {
    expect(showPath("a".repeat(300))).toBe(`"${"a".repeat(300)}"`);
    expect(showPath("a".repeat(301))).toBe(`"${"a".repeat(300)}…"`);
  });

  it.each([
    ["a", "a", true],
    ["a/b", "a", true],
    ["ab/c", "a", false],
    ["a", "a/b", false],
    ["A/b", "a", false],
  ])("%j under %j: %s", (path, root, under) => {
    expect(isUnder(path, root)).toBe(under);
  });

  it("sees an overlap in both directions", () => {
    expect(overlaps("a/b", "a")).toBe(true);
    expect(overlaps("a", "a/b")).toBe(true);
    expect(overlaps("a/b", "a/c")).toBe(false);
  });

  it("shows a path without letting it rewrite the terminal", () => {
    expect(showPath("a\u001b[2J\u202eb")).toBe('"a\\u001b[2J\\u202eb"');
  });
});

import { describe, expect, it } from "vitest";
import { foldCase, foldName, foldPath, isGitName } from "./index.ts";

describe("names that mean the git folder on some system", () => {
  it.each([
    ".git",
    ".GIT",
    ".git.",
    ".git ",
    ".git. . ",
    "git~1",
    "GIT~1",
    ".g\u200cit",
    "\ufeff.git",
    ".gi\u206at",
    ".git::$INDEX_ALLOCATION",
    ".git:stream",
    ".git\u200d.",
    "git~1:x",
  ])("%j does", (name) => {
    expect(isGitName(name)).toBe(true);
  });

  it.each(["git", ".gitignore", ".github", "git~2", "a.git", ".git~1", "..git", "", ".", "x:.git"])(
    "%j does not",
    (name) => {
      expect(isGitName(name)).toBe(false);
    },
  );
});

describe("folding", () => {
  it("makes twins equal and keeps others apart", () => {
    expect(foldName("Caf\u0065\u0301.\u200c ")).toBe("caf\u00e9");
    expect(foldPath("A/B. /c")).toBe("a/b/c");
    expect(foldPath("a/.../c")).toBe("a//c");
    expect(foldCase("E\u0301. ")).toBe("\u00e9. ");
  });
});

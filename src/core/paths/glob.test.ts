import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileGlob } from "./glob.ts";

describe("globs", () => {
  it.each([
    ["a", "a", true],
    ["a", "a/b", false],
    ["*", "a", true],
    ["*", ".hidden", true],
    ["*", "a/b", false],
    ["*.md", ".md", true],
    ["a*b*c", "aXbYbc", true],
    ["a*b*c", "aXbYb", false],
    ["?", "\u{1f600}", true],
    ["??", "\u{1f600}", false],
    ["*?", "\u{1f600}", true],
    ["?a", "\uffffa", true],
    ["*a", "\uffffa", true],
    ["a?c", "a/c", false],
    ["**", "a", true],
    ["**", "a/b", true],
    ["**/a", "a", true],
    ["**/a", "x/y/a", true],
    ["**/a", "x/ya", false],
    ["a/**", "a", false],
    ["a/**", "a/b/c", true],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/b/y/b", true],
    ["a/**/b", "a/x/b/y", false],
    ["**/a/**/b/**", "x/a/y/b/z", true],
    ["**/a/**/b/**", "x/a/y/b", false],
    ["a/**/**/b", "a/b", true],
    ["**/*.md", "x.md", true],
    ["**/node_modules/**", "a/node_modules/b/c.md", true],
    ["**/node_modules/**", "node_modules/b.md", true],
    ["A.md", "a.md", false],
    ["e\u0301", "\u00e9", false],
    ["a.md", "aXmd", false],
    ["(a|b)+$", "(a|b)+$", true],
    ["a", "", false],
    ["**", "", false],
  ])("%s on %s: %s", (glob, path, expected) => {
    expect(compileGlob(glob).matches(path)).toBe(expected);
  });

  it.each(["/a", "a/", "/"])("%s is refused for its slash", (glob) => {
    expect(() => compileGlob(glob)).toThrow("starts or ends with a slash");
  });

  it.each([
    "",
    "/a",
    "a/",
    "a//b",
    "./a",
    "a/./b",
    "../a",
    "a/..",
    "a**",
    "**a/b",
    "***",
    "a\\b",
    "a\u0000b",
    "a\nb",
    "a\u007f",
    "[ab]",
    "a]",
    "{a,b}",
    "a}",
    "!a",
    "a/b!",
  ])("refuses %j", (glob) => {
    expect(() => compileGlob(glob)).toThrowError(expect.objectContaining({ code: "GLOB_SYNTAX" }));
  });

  it.each([
    ["LAW/CANON/*.md", "LAW/CANON"],
    ["LAW/CONTEXT/**/*.md", "LAW/CONTEXT"],
    ["*.md", ""],
    ["**/a", ""],
    ["a/b/c.md", "a/b"],
    ["a?/b/c", ""],
    ["docs/**", "docs"],
  ])("%s need only be looked for below %j", (glob, folder) => {
    expect(compileGlob(glob).folder).toBe(folder);
  });

  it.each([
    ["LAW/CANON/*.md", "", true, false],
    ["LAW/CANON/*.md", "LAW", true, false],
    ["LAW/CANON/*.md", "LAW/CANON", true, false],
    ["LAW/CANON/*.md", "LAW/CANON/sub", false, false],
    ["LAW/CANON/*.md", "SRC", false, false],
    ["a/**/b.md", "a/x/y", true, false],
    ["a/**/b.md", "b", false, false],
    ["**/node_modules/**", "x/node_modules", true, true],
    ["**/node_modules/**", "x/node_modules/y", true, true],
    ["**/node_modules/**", "x", true, false],
    ["docs/**", "docs", true, true],
    ["docs/**", "doc", false, false],
    ["docs/**/*", "docs", true, true],
    ["docs/**/*.md", "docs", true, false],
    ["**", "", true, true],
    ["a/b", "a/b", false, false],
  ])("%s below %j: could match %s, matches all %s", (glob, folder, could, all) => {
    const compiled = compileGlob(glob);
    expect(compiled.couldMatchBelow(folder)).toBe(could);
    expect(compiled.matchesAllBelow(folder)).toBe(all);
  });

  const name = fc.string({ unit: fc.constantFrom("a", "b", ".", "\u{1f600}"), minLength: 1, maxLength: 4 });
  const safeName = name.filter((text) => text !== "." && text !== "..");
  const segment = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.string({ unit: fc.constantFrom("a", "b", "*", "?", "\u{1f600}"), minLength: 1, maxLength: 5 }),
    },
    { weight: 1, arbitrary: fc.constant("**") },
  );
  const globs = fc
    .array(
      segment.filter((text) => text === "**" || !text.includes("**")),
      { minLength: 1, maxLength: 5 },
    )
    .map((segments) => segments.join("/"));
  const paths = fc.array(safeName, { minLength: 1, maxLength: 5 }).map((names) => names.join("/"));

  it("match what the same rules say as a regular expression", () => {
    fc.assert(
      fc.property(globs, paths, (glob, path) => {
        expect(compileGlob(glob).matches(path)).toBe(toRegExp(glob).test(path));
      }),
      { numRuns: 3_000, seed: 5 },
    );
  });

  it("never rule out a folder that holds a match, and cover only what matches", () => {
    fc.assert(
      fc.property(globs, paths, (glob, path) => {
        const compiled = compileGlob(glob);
        const folder = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
        if (compiled.matches(path)) {
          expect(compiled.couldMatchBelow(folder)).toBe(true);
          expect(compiled.folder === "" || path.startsWith(`${compiled.folder}/`)).toBe(true);
        }
        if (compiled.matchesAllBelow(folder)) expect(compiled.matches(path)).toBe(true);
      }),
      { numRuns: 3_000, seed: 6 },
    );
  });

  it("do not blow up on many wildcards", () => {
    const glob = compileGlob(`${"**/*a*/".repeat(20)}*b`);
    expect(glob.matches(`${`${"a".repeat(200)}/`.repeat(40)}c`)).toBe(false);
    expect(compileGlob(`${"*a".repeat(50)}b`).matches("a".repeat(5_000))).toBe(false);
  });
});

/** The rules of the document as a regular expression: short inputs only, it may backtrack. */
function toRegExp(glob: string): RegExp {
  const segments = glob.split("/");
  const parts = segments.map((segment, i) => {
    const last = i === segments.length - 1;
    if (segment === "**") return last ? "[^/]+(?:/[^/]+)*" : "(?:[^/]+/)*";
    const text = Array.from(segment, (character) => {
      if (character === "*") return "[^/]*";
      return character === "?" ? "[^/]" : character.replace(/[.]/, "\\.");
    }).join("");
    return last ? text : `${text}/`;
  });
  return new RegExp(`^${parts.join("")}$`, "u");
}

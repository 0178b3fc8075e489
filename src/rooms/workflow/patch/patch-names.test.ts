// Names in a patch: quoted as git quotes them, with one prefix, and nothing that another reader could split elsewhere.
import { describe, expect, it } from "vitest";
import { dropPrefix, readBodyName, readPlainName, readQuoted, toPath } from "./patch-names.ts";
import { PatchRefused } from "./rejection.ts";

function tell(read: () => unknown): unknown {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof PatchRefused)) throw thrown;
    const { rule, line } = thrown.rejection;
    return [rule, line];
  }
}

describe("a quoted name", () => {
  it.each([
    ['"abc"', { name: "abc", end: 5 }],
    ['"\\a\\b\\t\\n\\v\\f\\r\\"\\\\"', { name: '\x07\b\t\n\v\f\r"\\', end: 20 }],
    ['"\\303\\251x"', { name: "\u00c3\u00a9x", end: 11 }],
    ['"\\000\\377"', { name: "\0\u00ff", end: 10 }],
    ['"a"b', { name: "a", end: 3 }],
    ['""', { name: "", end: 2 }],
    ['"abc', null],
    ['"abc\\', null],
    ['"abc\\"', null],
    ['"\\400"', null],
    ['"\\38"', null],
    ['"\\08"', null],
    ['"\\x41"', null],
    ['"\\toString"', { name: "\toString", end: 11 }],
    ['"\\constructor"', null],
  ])("%s", (text, expected) => {
    expect(readQuoted(text, 0)).toEqual(expected);
  });

  it("is read from where it starts", () => {
    expect(readQuoted('a "b" c', 2)).toEqual({ name: "b", end: 5 });
  });
});

describe("the name of a --- or +++ line", () => {
  it.each([
    ["/dev/null", null],
    ["a/x", "x"],
    ["a/x y\t", "x y"],
    ['"a/x"', "x"],
    ['"a/x y"\t', "x y"],
    ["a/x\ty", ["timestamp", 3]],
    ["a/x\t\t", ["timestamp", 3]],
    ['a/x"y', ["bad_quote", 3]],
    ['a/x"\t', ["bad_quote", 3]],
    ['"a/x" ', ["bad_quote", 3]],
    ['"a/x', ["bad_quote", 3]],
    ["b/x", ["prefix", 3]],
    ["x/a/", ["prefix", 3]],
    ["a/", ["empty_component", 3]],
    ["a//dev/null", ["absolute", 3]],
  ])("%j", (text, expected) => {
    expect(tell(() => readBodyName(text, "a/", 3, "posix"))).toEqual(expected);
  });
});

describe("the name of a rename or copy line", () => {
  it.each([
    ["x y", "x y"],
    ['"x\\303\\251"', "x\u00e9"],
    ['x"y', ["bad_quote", 2]],
    ['"x"y', ["bad_quote", 2]],
    ["x\ty", ["control_char", 2]],
  ])("%j", (text, expected) => {
    expect(tell(() => readPlainName(text, 2, "posix"))).toEqual(expected);
  });
});

describe("a path", () => {
  it.each([
    ["a/b.c", "a/b.c"],
    ["a:b/c", ["drive_letter", 1]],
    ["ab:c", "ab:c"],
    ["1:c", "1:c"],
    ["a\x7f", ["control_char", 1]],
    ["a\x1f", ["control_char", 1]],
    ["a/./b", ["dot_component", 1]],
    ["a/..", ["dot_component", 1]],
    ["...", "..."],
    ["a/", ["empty_component", 1]],
    ["", ["empty_component", 1]],
    ["a\\b", ["backslash", 1]],
    ["/a", ["absolute", 1]],
    ["a/.Git", ["dot_git", 1]],
    ["a/.github", "a/.github"],
    ["\u00c3", ["not_utf8", 1]],
    ["aux.txt", "aux.txt"],
  ])("%j", (text, expected) => {
    expect(tell(() => toPath(text, 1, "posix"))).toEqual(expected);
  });

  it("is no device on Windows, in no folder", () => {
    expect(tell(() => toPath("a/aux.txt", 1, "windows"))).toEqual(["reserved_name", 1]);
    expect(tell(() => toPath("a/auxiliary", 1, "windows"))).toBe("a/auxiliary");
  });

  it("loses one prefix and no more", () => {
    expect(dropPrefix("a/a/x", "a/", 1)).toBe("a/x");
  });
});

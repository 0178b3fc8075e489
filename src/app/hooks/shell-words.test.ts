import { describe, expect, it } from "vitest";
import { splitShell } from "./shell-words.ts";

// Words as they stand, `?` behind those the shell would still change, `~` before those with a home folder.
const show = (text: string) =>
  splitShell(text).map(({ words, redirects, input }) => {
    const word = (one: { text: string; open: boolean; tilde: boolean }) =>
      `${one.tilde ? "~ " : ""}${one.text}${one.open ? " ?" : ""}`;
    return [words.map(word), redirects.map(word), input];
  });
const words = (text: string) => show(text).map(([first]) => first);
const targets = (text: string) => show(text).map(([, second]) => second);

describe("commands", () => {
  it.each<[string, readonly (readonly string[])[]]>([
    ["", []],
    ["  \t ", []],
    ["a b\tc", [["a", "b", "c"]]],
    ["a;b&c|d\ne", [["a"], ["b"], ["c"], ["d"], ["e"]]],
    ["a&&b||c", [["a"], ["b"], ["c"]]],
    ["(a b)", [["a", "b"]]],
    ["a # b; c\nd", [["a"], ["d"]]],
    ["# a\nb", [["b"]]],
    ["a;# b", [["a"]]],
    ["a#b", [["a#b"]]],
    ["a #", [["a"]]],
  ])("%j", (text, expected) => {
    expect(words(text)).toEqual(expected);
  });
});

describe("words", () => {
  it.each<[string, readonly string[]]>([
    ["'a b'c", ["a bc"]],
    ["'a $b `c` *'", ["a $b `c` *"]],
    ["'a", ["a"]],
    ["'' b", ["", "b"]],
    ['"a b"c', ["a bc"]],
    ['"a \\" \\\\ \\$ \\` \\n"', ['a " \\ $ ` \\n ?']],
    ['"a $b"', ["a $b ?"]],
    ['"a `b`"', ["a `b` ?"]],
    ['"a * ? [ {"', ["a * ? [ {"]],
    ['"a', ["a"]],
    ['"a\\', ["a\\"]],
    ['"a\\"b" c', ['a"b', "c"]],
    ["`a b`c d", ["`a b`c ?", "d"]],
    ["`a b", ["`a b ?"]],
    ["a\\ b c", ["a b", "c"]],
    ["a\\\nb", ["ab"]],
    ["\\$a \\*", ["$a", "*"]],
    ["a\\", ["a"]],
    ["$a b*c d? [e] {f}", ["$a ?", "b*c ?", "d? ?", "[e] ?", "{f} ?"]],
    ["~ ~/a a~ '~' \\~", ["~ ~", "~ ~/a", "a~", "~", "~"]],
  ])("%j", (text, expected) => {
    expect(words(text)).toEqual([expected]);
  });
});

describe("redirections", () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ["a > b", ["a"], ["b"]],
    ["a>b c", ["a", "c"], ["b"]],
    ["a >> b", ["a"], ["b"]],
    ["a >| b", ["a"], ["b"]],
    ["a &> b", ["a"], ["b"]],
    ["a &>> b", ["a"], ["b"]],
    ["a <> b", ["a"], ["b"]],
    ["a >& b", ["a"], ["b"]],
    ["a >&2 b", ["a", "b"], []],
    ["a >&- b", ["a", "b"], []],
    ["a 2>&1 b", ["a", "b"], []],
    ["a 2> b", ["a"], ["b"]],
    ["a 2 > b", ["a", "2"], ["b"]],
    ["a b2> c", ["a", "b2"], ["c"]],
    ["a 0< b", ["a"], []],
    ["a < b c", ["a", "c"], []],
    ["a <& b c", ["a", "c"], []],
    ["a <<< b c", ["a", "c"], []],
    ["> a", [], ["a"]],
    ["a > '~' > ~/b > $c", ["a"], ["~", "~ ~/b", "$c ?"]],
  ])("%j", (text, first, second) => {
    expect([words(text), targets(text)]).toEqual([[first], [second]]);
  });

  it("end with the command", () => {
    expect(show("a >; b")).toEqual([
      [["a"], [], ""],
      [["b"], [], ""],
    ]);
    expect(show("a > b; c")).toEqual([
      [["a"], ["b"], ""],
      [["c"], [], ""],
    ]);
  });
});

describe("here documents", () => {
  it("are the input of their command, up to the line that ends them", () => {
    expect(show("a <<END b\none\n> two\nEND\nc")).toEqual([
      [["a", "b"], [], "one\n> two\n"],
      [["c"], [], ""],
    ]);
  });

  it("may be indented, be quoted, have nothing in them, and never end", () => {
    expect(show("a <<-'E F'\n\tx\n\tE F\nc")).toEqual([
      [["a"], [], "\tx\n"],
      [["c"], [], ""],
    ]);
    expect(show("a <<END\nEND\nc")).toEqual([
      [["a"], [], ""],
      [["c"], [], ""],
    ]);
    expect(show("a <<END\nx\n END\n")).toEqual([[["a"], [], "x\n END\n"]]);
    expect(show("a <<END")).toEqual([[["a"], [], ""]]);
  });

  it("go to whoever asked for each, in order", () => {
    expect(show("a <<A; b <<B\n1\nA\n2\nB\nc")).toEqual([
      [["a"], [], "1\n"],
      [["b"], [], "2\n"],
      [["c"], [], ""],
    ]);
  });
});

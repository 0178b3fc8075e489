import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toFts5 } from "../conformance.ts";
import { parseSearchQuery } from "./search-query.ts";

const word = (text: string) => ({ text, prefix: false });
const quoted = (text: string) => ({ text, prefix: false, quoted: true });
const prefix = (text: string) => ({ text, prefix: true });

describe("search queries", () => {
  it.each([
    ["restore proof", [word("restore"), word("proof")], [], '"restore" AND "proof"'],
    ['"byte  identical" x', [quoted("byte  identical"), word("x")], [], '"byte  identical" AND "x"'],
    ['a"b c"d', [word("a"), quoted("b c"), word("d")], [], '"a" AND "b c" AND "d"'],
    ["catal*", [prefix("catal")], [], '"catal" *'],
    ["catal***", [prefix("catal")], [], '"catal" *'],
    ["a*b", [word("a*b")], [], '"a*b"'],
    ["*a", [word("*a")], [], '"*a"'],
    ['"a*"', [quoted("a*")], [], '"a*"'],
    ['"a"*', [quoted("a")], ["*"], '"a"'],
    ["a NOT b", [word("a"), word("NOT"), word("b")], [], '"a" AND "NOT" AND "b"'],
    ["NEAR(a b)", [word("NEAR(a"), word("b)")], [], '"NEAR(a" AND "b)"'],
    ["a\tb\nc\u000bd\u000ce\rf", [..."abcdef"].map(word), [], '"a" AND "b" AND "c" AND "d" AND "e" AND "f"'],
    ["a\u00a0b", [word("a\u00a0b")], [], '"a\u00a0b"'],
    ["++ foo --*", [word("foo")], ["++", "--*"], '"foo"'],
    ['"++" "" 1', [word("1")], ["++", ""], '"1"'],
    ["\u2160 \u0661", [word("\u2160"), word("\u0661")], [], '"\u2160" AND "\u0661"'],
    ["\u65e5\u672c\u8a9e", [word("\u65e5\u672c\u8a9e")], [], '"\u65e5 \u672c \u8a9e"'],
    ["\u65e5\u672c*", [prefix("\u65e5\u672c")], [], '"\u65e5 \u672c" *'],
    ["; DROP TABLE x", [word("DROP"), word("TABLE"), word("x")], [";"], '"DROP" AND "TABLE" AND "x"'],
    ["it's", [word("it's")], [], '"it\'s"'],
  ])("%j", (query, terms, ignored, fts5) => {
    const parsed = parseSearchQuery(query);
    expect(parsed).toEqual({ terms, ignored });
    expect(toFts5(parsed)).toBe(fts5);
  });

  it.each([
    ["", "SEARCH_EMPTY"],
    [" \n", "SEARCH_EMPTY"],
    ['* ++ "-"', "SEARCH_EMPTY"],
    ['"open', "SEARCH_SYNTAX"],
    ['a "b" "', "SEARCH_SYNTAX"],
    ['"; DROP', "SEARCH_SYNTAX"],
    ["x".repeat(1025), "SEARCH_TOO_LONG"],
    [`${"a ".repeat(33)}`, "SEARCH_TOO_LONG"],
  ])("%j is refused with %s", (query, code) => {
    expect(() => parseSearchQuery(query)).toThrowError(expect.objectContaining({ code, exit: 2 }));
  });

  it("may have 1,024 code points and 32 terms, ignored ones not counted", () => {
    expect(parseSearchQuery(`a${"\u{1f600}".repeat(1023)}`).terms).toHaveLength(1);
    expect(parseSearchQuery("a ".repeat(32) + "+ ".repeat(100)).terms).toHaveLength(32);
  });

  it("are valid Unicode or refused", () => {
    expect(() => parseSearchQuery("a \ud800")).toThrowError(expect.objectContaining({ code: "SEARCH_SYNTAX" }));
  });

  it("say where a quote is open", () => {
    expect(() => parseSearchQuery('\u{1f600} "a" "b')).toThrowError(
      expect.objectContaining({ code: "SEARCH_SYNTAX", details: { position: 6 } }),
    );
  });

  it("never let the text of a query become syntax", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(..."ab1 '\"\\&|!<>-:*()\0\u00e9\u65e5\u{1f600}"), maxLength: 40 }),
        (text) => {
          const query = { terms: [{ text: text.replaceAll('"', "") || "a", prefix: true }], ignored: [] };
          expect(toFts5(query)).toMatch(/^"[^"]*" \*$/);
        },
      ),
      { seed: 3 },
    );
  });
});

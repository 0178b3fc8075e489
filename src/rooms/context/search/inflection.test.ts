import { describe, expect, it } from "vitest";
import { isForm, looseRange, stemOf } from "./inflection.ts";

describe("forms of a word", () => {
  it.each([
    ["option", "options"],
    ["options", "option"],
    ["query", "queries"],
    ["queries", "query"],
    ["querying", "queries"],
    ["parse", "parsing"],
    ["parsing", "parsed"],
    ["parses", "parse"],
    ["file", "filed"],
    ["files", "filing"],
    ["index", "indexes"],
    ["matches", "matched"],
    ["caches", "cache"],
    ["running", "run"],
    ["stopped", "stops"],
    ["added", "adds"],
    ["classes", "class"],
    ["speeds", "speed"],
    ["carried", "carry"],
    ["opt", "option"],
    ["har", "harbour"],
    ["caf", "caf\u00e9"],
    ["\u043b\u0430\u043c\u043f", "\u043b\u0430\u043c\u043f\u0430"],
  ])("%s finds %s, which lies in its range", (asked, word) => {
    expect(isForm(asked, word)).toBe(true);
    const [first, last] = looseRange(asked)!;
    expect(word >= first && word <= last).toBe(true);
  });

  it.each([
    ["file", "filter"],
    ["parse", "parsley"],
    ["options", "optional"],
    ["string", "str"],
    ["status", "statu"],
    ["class", "clas"],
    ["this", "thi"],
    ["speed", "spell"],
    ["harbour", "har"],
    ["\u043b\u0430\u043c\u043f\u0430", "\u043b\u0430\u043c\u043f\u044b"],
  ])("%s does not find %s", (asked, word) => {
    expect(isForm(asked, word)).toBe(false);
  });

  it("are not looked for where nearly every word would be one", () => {
    for (const word of ["a", "is", "\u65e5", "\u{10400}\u{10400}"]) expect(looseRange(word)).toBeNull();
  });

  it("have a stem that is never shorter than three letters, unless the word is", () => {
    const letters = [..."abegisyd"];
    for (const a of letters)
      for (const b of letters)
        for (const c of letters)
          for (const end of ["", "s", "es", "ed", "ing", "ies", "ied", "y", "e"])
            expect(stemOf(`${a}${b}${c}${end}`).length, `${a}${b}${c}${end}`).toBeGreaterThanOrEqual(3);
  });
});

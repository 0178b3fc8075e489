import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readExceptions, withRecorder } from "../../tools/raised-codes.ts";
import { ALL_CODES, compareRaised } from "../../tools/raised-table.ts";

// The check that every code is raised by some test can fail itself.

describe("the recorder of raised codes", () => {
  const recorded = (text: string) =>
    [...withRecorder("/src/x.ts", text).matchAll(/__raised\("([A-Z_]+)"\)/g)].map(([, code]) => code);

  it("stands around every code that a function hands out", () => {
    expect(recorded('export const f = () => new VerbatimError("USAGE", { message: "USAGE" });')).toEqual([
      "USAGE",
      "USAGE",
    ]);
    expect(recorded('function g(a: boolean) { return { code: a ? "SLICE_EMPTY" : "SLICE_SYNTAX" }; }')).toEqual([
      "SLICE_EMPTY",
      "SLICE_SYNTAX",
    ]);
    expect(recorded('function h() { errors.push("DISK_FULL"); return x ?? "STORE_BUSY"; }')).toEqual([
      "DISK_FULL",
      "STORE_BUSY",
    ]);
  });

  it("does not take a comparison, a look-up, a type, a table or another word for one", () => {
    expect(recorded('export const TABLE = { a: "USAGE" };')).toEqual([]);
    expect(
      recorded('const f = (e: { code: "USAGE" }) => e.code === "USAGE" || seen.has("USAGE") || e["USAGE"];'),
    ).toEqual([]);
    expect(recorded('const f = (e: E) => { switch (e.code) { case "USAGE": return "NOTHING_OF_OURS"; } };')).toEqual(
      [],
    );
    expect(recorded('const f = (e: E) => ["USAGE", "STORE_BUSY"].includes(e.code);')).toEqual([]);
  });

  it("needs its place in the one class of errors", () => {
    expect(withRecorder("/src/core/errors/error.ts", "    this.code = code;\n")).toContain(
      "this.code = __raised(code);",
    );
    expect(() => withRecorder("/src/core/errors/error.ts", "class VerbatimError {}")).toThrow("has no place any more");
  });
});

describe("the comparison with the table", () => {
  const all = new Set(["A_ONE", "A_TWO", "A_THREE"]);

  it("is content when every code was raised or has a reason why not", () => {
    expect(compareRaised(new Set(["A_ONE", "A_TWO"]), { A_THREE: "needs another machine" }, all)).toEqual([]);
  });

  it("names what nobody raised, and reasons that no longer hold", () => {
    expect(compareRaised(new Set(["A_ONE"]), { A_ONE: "cannot be", GONE: "cannot be" }, all)).toEqual([
      "A_TWO was raised by no test",
      "A_THREE was raised by no test",
      "A_ONE is listed as not raised, and was raised",
      "GONE is listed as not raised, and is no code",
    ]);
  });
});

describe("the table of codes", () => {
  it("has no code that no test, vector or example names, except for a reason", () => {
    const root = new URL("../..", import.meta.url).pathname;
    const read = (folder: string, isMeant: (path: string) => boolean): string[] =>
      readdirSync(`${root}/${folder}`, { withFileTypes: true, recursive: true })
        .map((item) => ({ path: `${item.parentPath}/${item.name}`, isFile: item.isFile() }))
        .filter(({ path, isFile }) => isFile && isMeant(path))
        .map(({ path }) => readFileSync(path, "utf8"));
    const texts = [
      ...read("test", (path) => /\.(?:ts|json)$/.test(path) && !path.includes("/pins/")),
      ...read("src", (path) => path.endsWith(".test.ts")),
      ...read("contracts", (path) => /\/(?:in)?valid\//.test(path)),
    ];
    const words = new Set(texts.flatMap((text) => text.match(/\b[A-Z][A-Z0-9_]+\b/g) ?? []));
    expect(compareRaised(words, readExceptions(), ALL_CODES)).toEqual([]);
  });
});

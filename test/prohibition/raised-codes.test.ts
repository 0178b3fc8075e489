import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { JsonContract } from "../../src/contracts.ts";
import { withRecorder } from "../../tools/code-recorder.ts";
import { readExceptions } from "../../tools/raised-codes.ts";
import { ALL_CODES, compareRaised } from "../../tools/raised-table.ts";

// The check that every code is raised by some test can fail itself.

describe("the recorder of raised codes", () => {
  const recorded = (text: string) =>
    [...withRecorder("/src/x.ts", text).matchAll(/__raised\("?([\w.[\]]+)"?\)/g)].map(([, code]) => code);

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

  it("stands around a code that a function has from elsewhere: a constant, a table, a rule", () => {
    expect(
      recorded('const EMPTY = "SLICE_EMPTY"; const f = () => { add(EMPTY); if (x === EMPTY) return EMPTY; };'),
    ).toEqual(["EMPTY", "EMPTY"]);
    expect(recorded("const f = (e: Error) => ({ code: e.code, condition: TABLE[e], codes: e.codes });")).toEqual([
      "e.code",
      "TABLE[e]",
    ]);
    expect(recorded("const f = () => new VerbatimError(CODES[x]);")).toEqual(["CODES[x]"]);
    const text = withRecorder("/src/x.ts", "const f = ({ code }: Rule) => problems.push({ code, at });");
    expect(text).toContain("({ code }: Rule) => problems.push({ code: __raised(code), at })");
  });

  it("counts in a surface what the surface itself refuses, and not the errors of others that it writes down", () => {
    const text =
      'const f = (e: E) => { if (!e) throw new VerbatimError("USAGE"); return { error: { code: e.code } }; };';
    const places = [...withRecorder("/src/surfaces/http/x.ts", text).matchAll(/__raised\(([^)]*)\)/g)];
    expect(places.map(([, code]) => code)).toEqual(['"USAGE"']);
    expect(recorded(text)).toEqual(["USAGE", "e.code"]);
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

  it("does not take a rule or a default that nobody has used yet for one", () => {
    expect(recorded("const f = (code: Code) => ({ code, run: () => [] });")).toEqual([]);
    expect(recorded('const f = () => ({ code: "USAGE", run: () => [] });')).toEqual([]);
    expect(recorded('const f = (code = "USAGE", { other = "STORE_BUSY" } = {}) => code;')).toEqual([]);
  });

  it("hears of a finding when a check finds something, and not when contracts are loaded and listed", async () => {
    const raised: unknown[] = [];
    const slot = Symbol.for("verbatim.raised");
    const before = (globalThis as Record<symbol, unknown>)[slot];
    const record = (code: unknown) => {
      raised.push(code);
      return code;
    };
    // Modules take the recorder when they are loaded: those of this test know only its own.
    vi.resetModules();
    Object.assign(globalThis, { [slot]: record });
    onTestFinished(() => {
      vi.resetModules();
      Object.assign(globalThis, { [slot]: before });
    });
    const { CONTRACTS, judgeObject } = await import("../../src/contracts.ts");
    const { nodeCrypto } = await import("../../src/adapters/crypto/node-crypto.ts");
    expect(CONTRACTS.flatMap(({ codes }) => [...codes.keys()])).toContain("LEDGER_PROOF_MISMATCH");
    expect(raised).toEqual([]);
    const proof = CONTRACTS.find(({ name }) => name === "inclusion-proof") as JsonContract;
    const hash = "a".repeat(64);
    await judgeObject(
      proof,
      { entry_hash: hash, index: 0, tree_size: 1, path: [], root_hash: "b".repeat(64) },
      nodeCrypto,
    );
    expect(raised).toEqual(["LEDGER_PROOF_MISMATCH"]);
  });
});

describe("the comparison with the table", () => {
  const all = new Set(["A_ONE", "A_TWO", "A_THREE"]);

  it("is content when every code was raised or has a reason why not", () => {
    const exceptions = { never: { A_THREE: "needs another world" }, sometimes: { A_TWO: "only as root" } };
    expect(compareRaised(new Set(["A_ONE", "A_TWO"]), exceptions, all)).toEqual([]);
    expect(compareRaised(new Set(["A_ONE"]), exceptions, all)).toEqual([]);
  });

  it("names what nobody raised, and reasons that no longer hold", () => {
    const exceptions = { never: { A_ONE: "cannot be", GONE: "cannot be" }, sometimes: { LOST: "only as root" } };
    expect(compareRaised(new Set(["A_ONE"]), exceptions, all)).toEqual([
      "A_TWO was raised by no test",
      "A_THREE was raised by no test",
      "A_ONE is listed as never raised, and was raised",
      "GONE is listed as not raised, and is no code",
      "LOST is listed as not raised, and is no code",
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
    // What is raised on some machines only has its test all the same.
    expect(compareRaised(words, { ...readExceptions(), sometimes: {} }, ALL_CODES)).toEqual([]);
  });
});

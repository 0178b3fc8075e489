import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

// Guards: the same inputs give the same bytes. Time, chance, the locale and the process reach the hall and the
// rooms through ports only. Each ban is planted in both, and each must be allowed in an adapter.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const BANS: readonly (readonly [name: string, code: string, rule: string])[] = [
  ["Date.now", "export const a = Date.now();", "no-restricted-globals"],
  ["new Date", "export const a = new Date(0);", "no-restricted-globals"],
  ["the type Date", "export const a = (d: Date): Date => d;", "no-restricted-types"],
  ["globalThis.Date", "export const a = globalThis.Date;", "no-restricted-properties"],
  ["performance.now", "export const a = performance.now();", "no-restricted-globals"],
  ["Intl", 'export const a = new Intl.Collator("de");', "no-restricted-globals"],
  ["process.env", "export const a = process.env;", "no-restricted-globals"],
  ["process.cwd", "export const a = process.cwd();", "no-restricted-globals"],
  ["globalThis.process", "export const a = globalThis.process;", "no-restricted-properties"],
  ["Buffer", 'export const a = Buffer.from("a");', "no-restricted-globals"],
  ["Math.random", "export const a = Math.random();", "no-restricted-properties"],
  ['Math["random"]', 'export const a = Math["random"]();', "no-restricted-properties"],
  ["random out of Math", "const { random } = Math;\nexport const a = random();", "no-restricted-properties"],
  ["crypto.randomUUID", "export const a = crypto.randomUUID();", "no-restricted-properties"],
  ["crypto.getRandomValues", "export const a = crypto.getRandomValues(new Uint8Array(1));", "no-restricted-properties"],
  ["localeCompare", 'export const a = "a".localeCompare("b");', "no-restricted-properties"],
  ["toLocaleString", "export const a = (1).toLocaleString();", "no-restricted-properties"],
  ["toLocaleLowerCase", 'export const a = "I".toLocaleLowerCase();', "no-restricted-properties"],
  ["toLocaleUpperCase", 'export const a = "i".toLocaleUpperCase();', "no-restricted-properties"],
  [
    "toLocaleDateString",
    "export const a = (d: { toLocaleDateString(): string }) => d.toLocaleDateString();",
    "no-restricted-properties",
  ],
  [
    "toLocaleTimeString",
    "export const a = (d: { toLocaleTimeString(): string }) => d.toLocaleTimeString();",
    "no-restricted-properties",
  ],
  ["sort() of strings", 'export const a = ["b", "a"].sort();', "require-array-sort-compare"],
  ["toSorted() of strings", 'export const a = ["b", "a"].toSorted();', "require-array-sort-compare"],
  ["sort() of numbers", "export const a = [2, 10].sort();", "require-array-sort-compare"],
];

/** Bans that hold everywhere, planted in an adapter. */
const HOUSE: readonly (readonly [name: string, file: string, code: string, rule: string])[] = [
  ["an empty catch", "catch.ts", "export function f(): void {\n  try {\n    f();\n  } catch {}\n}", "no-empty"],
  ["a default export", "default.ts", "export default 1;", "no-default-export"],
  ["as any", "any.ts", "export const a = JSON.parse('1') as any;", "no-explicit-any"],
  ["@ts-ignore", "ignore.ts", '// @ts-ignore\nexport const a: number = "a";', "ban-ts-comment"],
  ["@ts-nocheck", "nocheck.ts", '// @ts-nocheck\nexport const a: number = "a";', "ban-ts-comment"],
  [
    "a promise nobody waits for",
    "floating.ts",
    "export function f(p: Promise<void>): void {\n  p.then(() => 1);\n}",
    "no-floating-promises",
  ],
  [
    "a promise as a condition",
    "condition.ts",
    "export function f(p: Promise<boolean>): number {\n  return p ? 1 : 2;\n}",
    "no-misused-promises",
  ],
  [
    "await of a plain value",
    "await.ts",
    "export async function f(): Promise<number> {\n  return await 1;\n}",
    "await-thenable",
  ],
  [
    "a switch that forgets a member",
    "switch.ts",
    'export function f(k: "a" | "b"): number {\n  switch (k) {\n    case "a":\n      return 1;\n  }\n  return 2;\n}',
    "switch-exhaustiveness-check",
  ],
  ["throwing a text", "throw.ts", 'export function f(): never {\n  throw "no";\n}', "only-throw-error"],
  ["a namespace", "namespace.ts", "export namespace N {\n  export const a = 1;\n}", "no-namespace"],
  ["a file in camelCase", "camelCase.ts", "export const a = 1;", "filename-case"],
  [
    "it.only",
    "only.test.ts",
    'import { expect, it } from "vitest";\nit.only("runs alone", () => expect(1).toBe(1));',
    "no-focused-tests",
  ],
  [
    "it.skip",
    "skip.test.ts",
    'import { expect, it } from "vitest";\nit.skip("never runs", () => expect(1).toBe(1));',
    "no-disabled-tests",
  ],
  [
    "a test without an assertion",
    "bare.test.ts",
    'import { it } from "vitest";\nit("asserts nothing", () => {\n  String(1);\n});',
    "expect-expect",
  ],
];

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
}

describe("lint bans", () => {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-bans-"));
  let diagnostics: readonly Diagnostic[] = [];

  beforeAll(() => {
    for (const file of [".oxlintrc.json", "tsconfig.json"]) cpSync(join(ROOT, file), join(folder, file));
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    for (const path of ["src/core", "src/rooms/jobs", "src/adapters/disk"]) {
      mkdirSync(join(folder, path), { recursive: true });
      for (const [i, [, code]] of BANS.entries()) writeFileSync(join(folder, path, `ban-${i}.ts`), `${code}\n`);
    }
    for (const [i, [, code]] of BANS.entries())
      writeFileSync(join(folder, "src/core", `ban-${i}.test.ts`), `${code}\n`);
    for (const [, file, code] of HOUSE) writeFileSync(join(folder, "src/adapters/disk", file), `${code}\n`);
    const args = ["--type-aware", "--format", "json", "src"];
    const result = spawnSync(join(ROOT, "node_modules/.bin/oxlint"), args, { cwd: folder, encoding: "utf8" });
    diagnostics = (JSON.parse(result.stdout) as { diagnostics: Diagnostic[] }).diagnostics;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function rulesIn(file: string): string[] {
    const here = diagnostics.filter(({ filename }) => filename === file);
    return here.map(({ code }) => code.replace(/^.*\((.*)\)$/, "$1"));
  }

  it.each(BANS.map(([name, , rule], i) => ({ name, rule, i })))(
    "$name is refused in core and in rooms",
    ({ rule, i }) => {
      expect(rulesIn(`src/core/ban-${i}.ts`)).toContain(rule);
      expect(rulesIn(`src/rooms/jobs/ban-${i}.ts`)).toContain(rule);
    },
  );

  it("the bans on time, chance, locale and process do not reach adapters or tests", () => {
    const restricted = diagnostics.filter(({ code }) => /no-restricted-(globals|properties|types)/.test(code));
    expect(restricted.length).toBeGreaterThanOrEqual(2 * 20);
    expect(restricted.filter(({ filename }) => /adapters|[.]test[.]ts$/.test(filename))).toEqual([]);
  });

  it.each(HOUSE.map(([name, file, , rule]) => ({ name, file, rule })))(
    "$name is refused everywhere",
    ({ file, rule }) => {
      expect(rulesIn(`src/adapters/disk/${file}`)).toContain(rule);
    },
  );
});

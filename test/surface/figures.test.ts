import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { CruisedModule } from "../../tools/docs/floor-plan.ts";
import { listCasts } from "../../tools/figures/casts.ts";
import { FACTS, type Fact, listPlaces } from "../../tools/figures/definitions.ts";
import { listAdapterImporters, listDeepImports } from "../../tools/figures/imports.ts";
import { listPassed } from "../../tools/figures/passed.ts";
import { countSize, readSources } from "../../tools/figures/sources.ts";
import { formatFigures, ROWS, readEdits, readMainLine } from "../../tools/figures/table.ts";
import { ROOT } from "../../tools/stages.ts";

// Guards: what `npm run figures` says of the house is counted as it claims, in trees where the answer is known.

function plant(files: Readonly<Record<string, string>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-figures-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const read = (files: Readonly<Record<string, string>>) => readSources(plant(files));

describe("production code", () => {
  it("is every TypeScript file of src that is no test and no declaration, counted by its line feeds", () => {
    const sources = read({
      "src/core/a.ts": "export const a = 1;\n\n",
      "src/b.ts": "export const b = 2;",
      "src/core/a.test.ts": "1;\n",
      "src/types.d.ts": "1;\n",
      "src/page.css": "a{}\n",
      "tools/c.ts": "1;\n",
    });
    expect(sources.map(({ path }) => path)).toEqual(["src/b.ts", "src/core/a.ts"]);
    expect(countSize(sources)).toEqual({ files: 2, lines: 2 });
  });
});

describe("casts", () => {
  it("are found where the compiler reads them, not in comments, texts or harmless casts", () => {
    const text = [
      "// as never, as unknown as Text",
      'const said = "as never";',
      "const a = said as never;",
      "const b = said as unknown;",
      "const c = said as unknown as number;",
      "const d = [said as",
      "  never];",
      "export type Never = never;",
      "export { a, b, c, d };",
    ].join("\n");
    expect(listCasts(read({ "src/a.ts": text }))).toEqual(["src/a.ts:3", "src/a.ts:5", "src/a.ts:7"]);
  });
});

describe("casts after which the compiler checks nothing", () => {
  it("are few in the real sources, and each has its reason in a comment", () => {
    const sources = readSources(ROOT);
    const casts = listCasts(sources);
    expect(casts.length).toBeLessThanOrEqual(20);
    const bare = casts.filter((place) => {
      const [path, line] = place.split(":");
      const lines = sources.find((source) => source.path === path)!.text.split("\n");
      return !lines.slice(Math.max(0, Number(line) - 5), Number(line)).some((text) => /^\s*(?:\/\/|\/?\*)/.test(text));
    });
    expect(bare).toEqual([]);
  });
});

describe("places that define a fact", () => {
  const fact = (ways: Fact["ways"]): Fact => ({ name: "tides", parts: ["low", "high"], ways });
  const sources = () =>
    read({
      "src/a.ts": 'export type Tide =\n  | "low"\n  | "high"\n  | "slack";\nexport const half = ["low"];\n',
      "src/b.ts": 'const TIDES = ["high", "low"];\nexport const said = "low or high";\nexport { TIDES };\n',
      "src/c.ts":
        'export const shape = z.strictObject({ low: z.int(), high: z.int() });\nexport interface Tides {\n  low: number;\n  "high": number;\n}\n',
      "src/d.ts":
        'export function show() {\n  return { low: 1, high: 2 };\n}\nexport const pairs = [["low", 1], ["high", 2]];\n',
      "src/e.ts": "export const LOW = /^(low|high)$/;\nexport const HIGH = /^(high|low)[0-9]$/;\n",
    });

  it("as alternatives: lists and unions with all of its parts, whatever else is in them", () => {
    expect(listPlaces(sources(), fact(["alternatives"]))).toEqual(["src/a.ts:1", "src/b.ts:1"]);
  });

  it("as members: types, interfaces and shapes of zod", () => {
    expect(listPlaces(sources(), fact(["members"]))).toEqual(["src/c.ts:1", "src/c.ts:2"]);
  });

  it("as keys: objects and lists of pairs, by the declaration they stand in", () => {
    expect(listPlaces(sources(), fact(["keys"]))).toEqual(["src/c.ts:1", "src/d.ts:1", "src/d.ts:4"]);
  });

  it("as a pattern: one place for each file", () => {
    expect(listPlaces(sources(), fact(["pattern"]))).toEqual(["src/e.ts"]);
  });

  it("are one for every fact of the table in the real sources", () => {
    const real = readSources(ROOT);
    const twice = FACTS.map((one) => ({ name: one.name, places: listPlaces(real, one) }));
    expect(twice.filter(({ places }) => places.length !== 1)).toEqual([]);
  });
});

describe("imports", () => {
  const modules: readonly CruisedModule[] = [
    ["src/app/app.ts", "src/rooms/jobs/plan/plan.ts", "src/rooms/jobs/index.ts", "src/core/ports.ts"],
    [
      "src/app/wiring/jobs.ts",
      "src/rooms/jobs/plan/plan.ts",
      "src/rooms/world/index/rows.ts",
      "src/adapters/disk/a.ts",
    ],
    ["src/app/compose/compose.ts", "src/adapters/disk/a.ts"],
    ["src/app/compose/store/store.ts", "src/adapters/sql/store.ts"],
    ["src/app/composer.ts", "src/adapters/sql/store.ts"],
    ["src/rooms/jobs/plan/plan.ts", "src/rooms/jobs/steps.ts"],
    ["src/adapters/disk/a.ts", "src/adapters/disk/b.ts", "src/rooms/jobs/ports.ts"],
    ["src/verify.ts", "src/adapters/disk/b.ts"],
  ].map(([source, ...targets]) => ({ source: source!, dependencies: targets.map((resolved) => ({ resolved })) }));

  it("into a room count once for each module behind its front door", () => {
    expect(listDeepImports(modules)).toEqual(["src/rooms/jobs/plan/plan.ts", "src/rooms/world/index/rows.ts"]);
  });

  it("of adapters count for every file outside the one place for them", () => {
    expect(listAdapterImporters(modules)).toEqual(["src/app/composer.ts", "src/app/wiring/jobs.ts", "src/verify.ts"]);
  });
});

describe("files passed by a call", () => {
  it("are those of which a function is entered by the call itself, the hall and the adapters left out", () => {
    const root = plant({
      "package.json": '{"type":"module"}',
      "src/main.ts": `import { app } from "./app/app.ts";
        export async function main(argv: string[]) { if (argv[0] === "go") await app(); else (await import("./app/other.ts")).other(); }`,
      "src/app/app.ts": `import { loaded } from "../rooms/loaded.ts"; import { word } from "../core/word.ts";
        import { read } from "../adapters/read.ts";
        export async function app() { return [loaded, word(), read(), (await import("../rooms/later.ts")).later()]; }`,
      "src/app/other.ts": "export function other() { return 1; }",
      "src/rooms/loaded.ts": "function compute() { return 1; }\nexport const loaded = compute();",
      "src/rooms/later.ts": 'import { built } from "./built.ts";\nexport function later() { return built; }',
      "src/rooms/built.ts": "function build() { return 1; }\nexport const built = build();",
      "src/core/word.ts": "export function word() { return 1; }",
      "src/adapters/read.ts": "export function read() { return 1; }",
      "work/here.txt": "",
    });
    const lines = [["prepare"], ["go"]];
    const call = { cwd: join(root, "work"), env: {}, lines };
    const passed = ["src/app/app.ts", "src/main.ts", "src/rooms/later.ts"];
    const prepared = ["src/app/other.ts", "src/main.ts"];
    expect(listPassed(root, [call, { ...call, lines: [["prepare"]] }, call])).toEqual([passed, prepared, passed]);
  });
});

describe("files that a person edits", () => {
  const edits = Object.entries(readEdits()).flatMap(([thing, files]) =>
    Object.entries(files).map(([file, mentions]) => ({ thing, file, mentions })),
  );

  it.each(edits)("to add $thing: $file is there and mentions $mentions", ({ file, mentions }) => {
    expect(existsSync(join(ROOT, file)), `${file} is gone; put the list in tools/figures/edits.json right`).toBe(true);
    expect(readFileSync(join(ROOT, file), "utf8")).toContain(mentions);
  });
});

describe("a column of a job's steps", () => {
  it("is named by the room's definition and by migrations, and by no statement of a database", () => {
    const named = readSources(ROOT).filter(
      ({ path, text }) => path.startsWith("src/adapters/") && text.includes("lease_owner"),
    );
    expect(named.map(({ path }) => path)).toEqual([
      "src/adapters/sql/postgres/migrations/0003-jobs.ts",
      "src/adapters/sql/sqlite/migrations/0003-jobs.ts",
    ]);
  });
});

describe("the table", () => {
  it("is in ARCHITECTURE.md with every figure in its order, as it was last printed", () => {
    const page = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
    const [, part = ""] = page.split("<!-- generated: figures -->");
    const shown = part
      .split("<!-- end")[0]!
      .trim()
      .split("\n")
      .slice(2)
      .map((line) => line.split(" | "));
    const rows = Object.values(ROWS).map(({ name, byHand, before, goal }) => [
      `| ${name}`,
      byHand,
      before,
      `${goal} |`,
    ]);
    expect(shown.map(([name, byHand, before, , goal]) => [name, byHand, before, goal])).toEqual(rows);
    expect(shown.map((cells) => cells[3]).filter((now) => !/^[0-9][0-9, /]*$/.test(now ?? ""))).toEqual([]);
  });

  it("has a line for each figure", () => {
    const figure = { name: "boats", byHand: "1", before: "2", now: "3", goal: "at most 1", found: [] };
    expect(formatFigures([figure]).split("\n").slice(2)).toEqual(["| boats | 1 | 2 | 3 | at most 1 |", ""]);
  });
});

describe("the main line of an agent run", () => {
  it("is made of files that a run passes, each once", () => {
    const named = readMainLine(readSources(ROOT).map(({ path }) => path));
    expect(new Set(named).size).toBe(named.length);
    expect(named[0]).toBe("src/main.ts");
    expect(() => readMainLine(named.slice(1))).toThrowError("src/main.ts");
  });
});

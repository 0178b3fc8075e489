import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Call, listPassed } from "../../tools/figures/passed.ts";
import { ROOT } from "../../tools/stages.ts";

// Guards: docs/walks.md and the lists in the READMEs of the rooms are the way that a call really takes. Every file and
// symbol exists, every step is imported by one before it, and the calls of the walks pass the files they name.

interface Step {
  readonly file: string;
  readonly symbol: string | null;
  readonly port: string | null;
}

const ROOMS = ["context", "jobs", "catalytic", "workflow", "world"] as const;

const readText = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** The numbered steps of a text, with the files below a folder. */
function readSteps(text: string, folder: string): Step[] {
  return [...text.matchAll(/^\d+\. `(?<file>[^`]+\.ts)`(?: `(?<symbol>\w+)`)?(?<rest>.*)$/gm)].map(({ groups }) => ({
    file: `${folder}${groups?.["file"]}`,
    symbol: groups?.["symbol"] ?? null,
    port: /through the port `(\w+)`/.exec(groups?.["rest"] ?? "")?.[1] ?? null,
  }));
}

/** The walks of docs/walks.md by the words of their headings. */
function readWalks(): Map<string, Step[]> {
  const [, ...parts] = readText("docs/walks.md").split(/^## /m);
  return new Map(parts.map((part) => [part.split("\n", 1)[0]!, readSteps(part, "")]));
}

/** Names that a file declares at its top level. */
function listDeclared(source: ts.SourceFile): string[] {
  return source.statements.flatMap((statement) => {
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.map(({ name }) => name.getText(source));
    }
    const { name } = statement as { readonly name?: ts.Node };
    return name === undefined ? [] : [name.getText(source)];
  });
}

const sources = new Map<string, ts.SourceFile>();

function readSource(file: string): ts.SourceFile {
  const source = sources.get(file) ?? ts.createSourceFile(file, readText(file), ts.ScriptTarget.ES2023, true);
  sources.set(file, source);
  return source;
}

const imports = new Map<string, string[]>();

/** Files of ours that a file loads: imports that are more than types, exports from elsewhere, imports on demand. */
function listImports(file: string): string[] {
  const known = imports.get(file);
  if (known !== undefined) return known;
  const named: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && node.importClause?.isTypeOnly !== true)
      named.push(textOf(node.moduleSpecifier));
    else if (ts.isExportDeclaration(node) && !node.isTypeOnly && node.moduleSpecifier !== undefined) {
      named.push(textOf(node.moduleSpecifier));
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [first] = node.arguments;
      if (first !== undefined) named.push(textOf(first));
    }
    ts.forEachChild(node, visit);
  };
  visit(readSource(file));
  const found = named.filter((name) => name.startsWith(".")).map((name) => posix.join(posix.dirname(file), name));
  imports.set(file, found);
  return found;
}

const textOf = (node: ts.Node): string => (ts.isStringLiteral(node) ? node.text : "");

/** Everything that some files load, directly or through others. */
function listReached(from: readonly string[]): Set<string> {
  const reached = new Set<string>();
  const open = [...from];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    for (const next of listImports(file)) {
      if (reached.has(next) || !next.endsWith(".ts")) continue;
      reached.add(next);
      open.push(next);
    }
  }
  return reached;
}

/** What is wrong with a list of steps, by the sources. A room is entered through its front door, if it has one here. */
function findFaults(steps: readonly Step[], door: readonly string[] = []): string[] {
  return steps.flatMap(({ file, symbol, port }, i) => {
    if (!existsSync(join(ROOT, file))) return [`there is no ${file}`];
    const faults: string[] = [];
    if (symbol !== null && !listDeclared(readSource(file)).includes(symbol)) faults.push(`${file} has no ${symbol}`);
    const before = [...door, ...steps.slice(0, i).map((step) => step.file)];
    if (before.length > 0 && !listReached(before.filter((one) => existsSync(join(ROOT, one)))).has(file)) {
      faults.push(`${file} is not imported by a step before it`);
    }
    if (port !== null && !readText(file).includes(port)) faults.push(`${file} does not implement the port ${port}`);
    if (file.startsWith("src/adapters/") && port === null) faults.push(`${file} is reached through no port`);
    return faults;
  });
}

const MESSAGE = {
  intent: "read A",
  refs: ["@DOC/A"],
  ops: [{ type: "READ", target: "@DOC/A", params: {} }],
  budgets: { max_symbols: 1, max_sections: 1, max_bytes_expanded: 200, max_expands_per_step: 1 },
  required_outputs: [],
};
const PATCH = "diff --git a/docs/a.md b/docs/a.md\n--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1 +1 @@\n-# A\n+# B\n";
const INDEX = [
  ["index", "build"],
  ["symbol", "add", "@DOC/A", "--file", "docs/a.md", "--slice", "head(1)"],
];

/** The command lines behind the headings; the last one is the walk. */
const CALLS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "context: `verbatim expand @DOC/A`": [...INDEX, ["expand", "@DOC/A"]],
  "jobs: `verbatim job submit message.json`": [...INDEX, ["job", "submit", "message.json"]],
  "catalytic: `verbatim catalytic run --domain DIR -- CMD`": [
    ["catalytic", "run", "--guard", "audit", "--domain", ".verbatim/scratch", "--", "true"],
  ],
  "workflow: `verbatim workflow patch check FILE`": [["workflow", "patch", "check", "a.patch"]],
  "world: `verbatim world say TEXT`": [
    ["world", "new", "Gull Rock", "--person", "ANA=Ana"],
    ["world", "say", "Good morning."],
  ],
  "the flagship: `verbatim agent --goal TEXT -- CMD`": [
    ["agent", "--goal", "a line", "--verify", "true", "--guard", "audit", "--", "sh", "-c", "echo x >> docs/a.md"],
  ],
};

const folders: string[] = [];

/** A small repository that is not below the temporary folder, which agents do not see. */
function makeRepository(): { readonly cwd: string; readonly env: Readonly<Record<string, string>> } {
  const cache = join(ROOT, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const base = realpathSync(mkdtempSync(join(cache, "walk-")));
  folders.push(base);
  const cwd = join(base, "work");
  const files = {
    "docs/a.md": "# A\n",
    "message.json": JSON.stringify(MESSAGE),
    "a.patch": PATCH,
    "verbatim.config.json": '{"context":{"sources":["docs/*.md"]}}',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  const env = { HOME: base, XDG_STATE_HOME: join(base, "state"), GIT_CONFIG_GLOBAL: "/dev/null", NO_COLOR: "1" };
  const who = ["-c", "user.name=Mira", "-c", "user.email=mira@example.org"];
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    [...who, "commit", "-q", "-m", "base"],
  ]) {
    execFileSync("git", args, { cwd, env: { PATH: process.env["PATH"], ...env } });
  }
  return { cwd, env };
}

const passes = new Map<string, string[]>();

// One process makes all the calls: loading the sources takes longer than all of them.
beforeAll(() => {
  const calls = Object.values(CALLS).map((lines) => ({ ...makeRepository(), lines }));
  const passed = listPassed(ROOT, calls as [Call, ...Call[]]);
  for (const [i, name] of Object.keys(CALLS).entries()) passes.set(name, passed[i]!);
});

afterAll(() => {
  // A worker keeps the modules of its tests.
  sources.clear();
  imports.clear();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Files that the call behind a heading passes. */
function passedBy(name: string): string[] {
  return passes.get(name) ?? [];
}

describe("the walks through the house", () => {
  const walks = readWalks();

  it("are one for each room and one for agents, of at most twelve files each", () => {
    expect([...walks.keys()]).toEqual(Object.keys(CALLS));
    for (const [name, steps] of walks) {
      expect([name, steps.length >= 8 && steps.length <= 12]).toEqual([name, true]);
      expect(new Set(steps.map(({ file }) => file)).size).toBe(steps.length);
    }
  });

  it.each([...walks])("name files and symbols that exist, each imported by one before it: %s", (_name, steps) => {
    expect(findFaults(steps)).toEqual([]);
  });

  it.each([...walks])("pass the files they name: %s", (name, steps) => {
    const passed = passedBy(name);
    const ours = steps.map(({ file }) => file).filter((file) => !file.startsWith("src/adapters/"));
    expect(ours.filter((file) => !passed.includes(file))).toEqual([]);
  });

  it("would not pass with a step that is not there, not imported or not declared", () => {
    const step = (file: string, symbol: string | null = null): Step => ({ file, symbol, port: null });
    const first = step("src/rooms/jobs/plan/plan.ts", "planMessage");
    expect(findFaults([first, step("src/nowhere.ts")])).toEqual(["there is no src/nowhere.ts"]);
    expect(findFaults([step(first.file, "planNothing")])).toEqual([`${first.file} has no planNothing`]);
    const far = "src/rooms/world/beat/beats.ts";
    expect(findFaults([first, step(far)])).toEqual([`${far} is not imported by a step before it`]);
    const adapter = "src/adapters/disk/source/source-tree.ts";
    expect(findFaults([step(adapter)])).toEqual([`${adapter} is reached through no port`]);
  });
});

describe("the README of each room", () => {
  it.each(ROOMS)("shows the flow of its main operation in at most twelve files that the call passes: %s", (room) => {
    const folder = `src/rooms/${room}/`;
    const text = readText(`${folder}README.md`);
    const steps = readSteps(text, folder);
    expect([steps.length >= 7, steps.length <= 12]).toEqual([true, true]);
    expect(findFaults(steps, [`${folder}index.ts`])).toEqual([]);
    const passed = passedBy(Object.keys(CALLS).find((name) => name.startsWith(room))!);
    expect(steps.map(({ file }) => file).filter((file) => !passed.includes(file))).toEqual([]);
    expect(text).toContain("## Where to change what");
  });

  it.each(ROOMS)("says where to change what in places that exist: %s", (room) => {
    const [, table = ""] = readText(`src/rooms/${room}/README.md`).split("## Where to change what");
    const cells = table
      .split("\n")
      .filter((line) => line.startsWith("| "))
      .map((line) => line.split("|")[2] ?? "");
    const named = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, place]) => place!));
    const places = named.filter((place) => /\/|\.ts$/.test(place));
    expect(places.length).toBeGreaterThan(6);
    const roots = [`src/rooms/${room}/`, `src/rooms/${room}/bundle/`, ""];
    expect(places.filter((place) => !roots.some((root) => existsSync(join(ROOT, root, place))))).toEqual([]);
  });
});

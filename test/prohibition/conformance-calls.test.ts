import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

// Conformance judges what the product does. A function that only conformance calls may pass every vector while the
// product does something else, so each one it imports must be called on a way that starts at a published entry.

const SRC = fileURLToPath(new URL("../../src", import.meta.url));

interface Import {
  readonly from: string;
  readonly name: string;
}

interface Module {
  /** Values, not types, that the module takes from others of ours. */
  readonly imports: readonly Import[];
  /** Modules it loads when it runs. */
  readonly loads: readonly string[];
}

function readModule(file: string, text: string): Module {
  const imports: Import[] = [];
  const loads: string[] = [];
  const take = (specifier: string, names: readonly string[]) => {
    if (!specifier.startsWith(".")) return;
    const from = relative(SRC, resolve(dirname(join(SRC, file)), specifier));
    loads.push(from);
    for (const name of names) imports.push({ from, name });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const bindings = node.importClause?.namedBindings;
      const named = bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements : [];
      const values = named.filter((one) => !one.isTypeOnly).map((one) => (one.propertyName ?? one.name).text);
      if (node.importClause?.isTypeOnly !== true && (values.length > 0 || named.length === 0)) {
        take(node.moduleSpecifier.text, values);
      }
    }
    if (ts.isExportDeclaration(node) && !node.isTypeOnly && node.moduleSpecifier !== undefined) {
      const named =
        node.exportClause !== undefined && ts.isNamedExports(node.exportClause) ? node.exportClause.elements : [];
      const values = named.filter((one) => !one.isTypeOnly).map((one) => (one.propertyName ?? one.name).text);
      if (ts.isStringLiteral(node.moduleSpecifier)) take(node.moduleSpecifier.text, values);
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments;
      if (specifier !== undefined && ts.isStringLiteral(specifier)) take(specifier.text, ["*"]);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.ESNext));
  return { imports, loads };
}

const isConformance = (file: string) => /\/conformance(?:-[a-z]+)?\.ts$|\/conformance\//.test(file);
const isFrontDoor = (file: string) => /^rooms\/[^/]+\/index\.ts$/.test(file);
const isTest = (file: string) => file.endsWith(".test.ts");

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
const modules = seeThroughDoors(
  new Map(
    files
      .filter((file) => !isTest(file))
      .map((file) => [file, readModule(file, readFileSync(join(SRC, file), "utf8"))]),
  ),
);

/** A front door lists names and calls none of them: whoever takes a name through it takes it from the module behind it. */
function seeThroughDoors(all: ReadonlyMap<string, Module>): Map<string, Module> {
  const behind = ({ from, name }: Import): Import => {
    if (!isFrontDoor(from)) return { from, name };
    const found = all.get(from)?.imports.find((one) => one.name === name);
    if (found === undefined) throw new Error(`${from} does not list ${name}`);
    return found;
  };
  const rest = [...all].filter(([file]) => !isFrontDoor(file));
  return new Map(
    rest.map(([file, { imports, loads }]) => {
      const seen = imports.map(behind);
      const direct = loads.filter((from) => !isFrontDoor(from));
      return [file, { imports: seen, loads: [...new Set([...direct, ...seen.map(({ from }) => from)])] }];
    }),
  );
}

/** Everything that runs when the product does, conformance left out. */
function reach(all: ReadonlyMap<string, Module>): Set<string> {
  const reached = new Set<string>();
  const waiting = [...all.keys()].filter((file) => !file.includes("/"));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const module = all.get(file);
    // Tables and scripts that a module reads import nothing.
    if (module === undefined || reached.has(file) || isConformance(file)) continue;
    reached.add(file);
    waiting.push(...module.loads);
  }
  return reached;
}

/** What conformance imports and nothing else does, as `file name`; an index that passes a name on is looked through. */
function findUncalled(all: ReadonlyMap<string, Module>): string[] {
  const reached = reach(all);
  const called = new Set<string>();
  for (const file of reached) for (const { from, name } of all.get(file)!.imports) called.add(`${from} ${name}`);
  const judged = [...all.keys()].filter(isConformance).flatMap((file) => all.get(file)!.imports);
  return [...new Set(judged.map(({ from, name }) => `${from} ${name}`))]
    .filter((one) => !isConformance(one.split(" ")[0]!) && !called.has(one) && !isUsedAtHome(one, reached))
    .sort();
}

/** Whether the module that has the function calls it itself, outside its own definition. */
function isUsedAtHome(one: string, reached: ReadonlySet<string>): boolean {
  const [file, name] = one.split(" ") as [string, string];
  if (!reached.has(file)) return false;
  const text = readFileSync(join(SRC, file), "utf8");
  const uses = text.match(new RegExp(`(?<![\\w.])${name}(?=[^\\w])`, "g")) ?? [];
  return (
    uses.length >
    (text.match(new RegExp(`export (?:async )?(?:function\\*?|const|class) ${name}\\b`, "g")) ?? []).length
  );
}

describe("what conformance judges", () => {
  it("was found: the areas of every room, and what they import", () => {
    const judges = [...modules.keys()].filter(isConformance);
    const areas = ["catalytic", "context", "jobs", "workflow"].map((room) => `rooms/${room}/conformance.ts`);
    expect(judges).toEqual(expect.arrayContaining([...areas, "rooms/world/conformance/index.ts"]));
    expect(judges.flatMap((file) => modules.get(file)!.imports).length).toBeGreaterThan(100);
  });

  it("is what the product itself calls", () => {
    expect(findUncalled(modules)).toEqual([]);
  });

  it("would be found to be a copy", () => {
    const planted = new Map(modules);
    const own = modules.get("rooms/world/conformance/index.ts")!;
    planted.set("rooms/world/conformance/index.ts", {
      ...own,
      imports: [...own.imports, { from: "rooms/world/copy.ts", name: "projectEntries" }],
    });
    expect(findUncalled(planted)).toEqual(["rooms/world/copy.ts projectEntries"]);
  });

  it("is not called by being listed in a front door", () => {
    const listed = { imports: [{ from: "rooms/world/copy.ts", name: "copied" }], loads: ["rooms/world/copy.ts"] };
    const judge = { imports: [{ from: "rooms/world/index.ts", name: "copied" }], loads: ["rooms/world/index.ts"] };
    const all = seeThroughDoors(
      new Map([
        ["rooms/world/index.ts", listed],
        ["app/conformance/judge.ts", judge],
      ]),
    );
    expect(findUncalled(all)).toEqual(["rooms/world/copy.ts copied"]);
  });
});

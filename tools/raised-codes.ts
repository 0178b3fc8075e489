import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import type { Plugin } from "vite";
import type { Reporter, TestModule, TestRunEndReason, Vitest } from "vitest/node";
import { ALL_CODES, compareRaised } from "./raised-table.ts";
import { ROOT } from "./stages.ts";

// Which codes of the table the tests really raised: in tests, and only there, the source is read with a recorder around
// every code it hands out. Nothing of this is in the product.

/** Names the folder where each worker writes down what it raised (test/support/record-raised.ts). */
const RAISED_FOLDER = "VERBATIM_RAISED_FOLDER";
const EXCEPTIONS = join(ROOT, "test/pins/codes-not-raised.json");
const PRELUDE = `const __raised = globalThis[Symbol.for("verbatim.raised")] ?? ((code) => code); `;
const THROWN = "this.code = code;";
const QUOTED = /"([A-Z][A-Z0-9_]+)"/g;
const LOOKUPS = new Set(["has", "get", "includes", "startsWith", "indexOf"]);

/** The text of a module with a recorder around every code that a function of it hands out. */
export function withRecorder(path: string, text: string): string {
  if (path.endsWith("/core/errors/error.ts")) {
    if (!text.includes(THROWN)) throw new Error(`${path}: the recorder of thrown codes has no place any more`);
    return PRELUDE + text.replace(THROWN, "this.code = __raised(code);");
  }
  if (![...text.matchAll(QUOTED)].some(([, code]) => ALL_CODES.has(code!))) return text;
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS);
  const places: number[] = [];
  const visit = (node: ts.Node, inside: boolean): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (inside && ts.isStringLiteral(node) && ALL_CODES.has(node.text) && isHandedOut(node))
      places.push(node.getStart());
    ts.forEachChild(node, (child) => visit(child, inside || ts.isFunctionLike(node)));
  };
  visit(source, false);
  if (places.length === 0) return text;
  let recorded = text;
  for (const start of places.reverse()) {
    const end = recorded.indexOf('"', start + 1) + 1;
    recorded = `${recorded.slice(0, start)}__raised(${recorded.slice(start, end)})${recorded.slice(end)}`;
  }
  return PRELUDE + recorded;
}

/** A code that is only compared or looked up raises nothing. */
function isHandedOut(node: ts.StringLiteral): boolean {
  const { parent } = node;
  if (ts.isBinaryExpression(parent)) {
    const { kind } = parent.operatorToken;
    return kind !== ts.SyntaxKind.EqualsEqualsEqualsToken && kind !== ts.SyntaxKind.ExclamationEqualsEqualsToken;
  }
  if (ts.isCaseClause(parent) || ts.isElementAccessExpression(parent)) return false;
  if (ts.isPropertyAssignment(parent) && parent.name === node) return false;
  const call = ts.isArrayLiteralExpression(parent) ? parent.parent : parent;
  if (ts.isPropertyAccessExpression(call)) return !LOOKUPS.has(call.name.text);
  return !(
    ts.isCallExpression(call) &&
    ts.isPropertyAccessExpression(call.expression) &&
    LOOKUPS.has(call.expression.name.text)
  );
}

/** Reads the source of the product with the recorder in it. */
export function recordRaisedCodes(): Plugin {
  const source = `${join(ROOT, "src")}/`;
  return {
    name: "verbatim-raised-codes",
    enforce: "pre",
    transform(text, id) {
      const path = id.split("?", 1)[0]!;
      const isOurs = path.startsWith(source) && path.endsWith(".ts") && !path.endsWith(".test.ts");
      if (!isOurs || (path.includes("/core/errors/") && !path.endsWith("/error.ts"))) return null;
      return { code: withRecorder(path, text), map: null };
    },
  };
}

/** After a run of the whole suite: names each code of the table that no test raised, and fails the run when strict. */
export class RaisedCodesReporter implements Reporter {
  readonly #strict: boolean;
  #vitest: Vitest | undefined;

  constructor(options: { readonly strict: boolean }) {
    this.#strict = options.strict;
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[], _: unknown, reason: TestRunEndReason): Promise<void> {
    const vitest = this.#vitest;
    const folder = process.env[RAISED_FOLDER];
    if (vitest === undefined || folder === undefined || reason !== "passed") return;
    const all = await vitest.globTestSpecifications();
    const isWhole = vitest.config.testNamePattern === undefined && vitest.config.shard === undefined;
    if (!isWhole || modules.length < all.length) return;
    const problems = compareRaised(readRaised(folder), readExceptions());
    for (const problem of problems) console.log(`codes: ${problem}`);
    if (this.#strict && problems.length > 0) process.exitCode = 1;
  }
}

/** Everything that was raised so far. */
export function readRaised(folder: string): Set<string> {
  if (!existsSync(folder)) return new Set();
  return new Set(readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n")));
}

/** Codes that no test raises, each with the reason. */
export function readExceptions(): Record<string, string> {
  return JSON.parse(readFileSync(EXCEPTIONS, "utf8")) as Record<string, string>;
}

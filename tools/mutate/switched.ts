import ts from "typescript";
import type { Mutant } from "./mutants.ts";

/** What the running code asks at each place: whether the mistake with this number is made. Nobody answers in other processes. */
const SWITCH = "globalThis.isPlanted?.";

/** The text with every mistake in it, each behind a switch: the first has the number `from`, the next the one after. */
export function plantAll(path: string, text: string, mutants: readonly Mutant[], from: number): string {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS);
  const numbered = new Map<string, { readonly mutant: Mutant; readonly number: number }[]>();
  for (const [i, mutant] of mutants.entries()) {
    const key = `${mutant.start}:${mutant.end}`;
    numbered.set(key, [...(numbered.get(key) ?? []), { mutant, number: from + i }]);
  }
  const planted = new Map<ts.Node, { readonly mutant: Mutant; readonly number: number }[]>();
  const place = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    const key = `${node.getStart(source)}:${node.getEnd()}`;
    const found = numbered.get(key);
    if (found !== undefined) {
      const around = findWhole(node);
      planted.set(around, [...(planted.get(around) ?? []), ...found]);
      numbered.delete(key);
    }
    ts.forEachChild(node, place);
  };
  place(source);
  const write = (node: ts.Node): string => {
    const [start, end] = [node.getStart(source), node.getEnd()];
    let out = "";
    let at = start;
    ts.forEachChild(node, (child) => {
      if (child.getStart(source) < at) return;
      out += text.slice(at, child.getStart(source)) + write(child);
      at = child.getEnd();
    });
    out += text.slice(at, end);
    for (const { mutant, number } of planted.get(node) ?? []) {
      if (ts.isStatement(node)) out = `{if(!${SWITCH}(${number})){${out}}}`;
      else {
        const wrong = text.slice(start, mutant.start) + mutant.replacement + text.slice(mutant.end, end);
        out = `(${SWITCH}(${number})?(${wrong}):(${out}))`;
      }
    }
    return out;
  };
  return write(source);
}

/** The statement or the whole expression around a mistake: an operator or the name of a method cannot stand alone. */
function findWhole(node: ts.Node): ts.Node {
  if (ts.isStatement(node)) return node;
  let at: ts.Node = node;
  if (ts.isBinaryExpression(node.parent) && node.parent.operatorToken === node) at = node.parent;
  else if (ts.isIdentifier(node) && ts.isPropertyAccessExpression(node.parent)) at = node.parent.parent;
  // What an optional chain begins with cannot be put in brackets without the rest of the chain.
  while (isChainBehind(at)) at = at.parent;
  return at;
}

function isChainBehind(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isNonNullExpression(parent)) return parent.expression === node;
  const isLink =
    ts.isPropertyAccessExpression(parent) || ts.isElementAccessExpression(parent) || ts.isCallExpression(parent);
  return isLink && parent.expression === node && (parent.flags & ts.NodeFlags.OptionalChain) !== 0;
}

import { createHash } from "node:crypto";
import ts from "typescript";
import { mayAccept } from "./refusals.ts";

/** One small mistake: a piece of a source file and what stands there instead. */
export interface Mutant {
  /** Says which mistake in which text, so that a result holds only as long as the text does. */
  readonly id: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly original: string;
  readonly replacement: string;
  /** Whether it may turn a refusal into an acceptance. */
  readonly refusal: boolean;
}

const SWAPPED = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, "!=="],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, "==="],
  [ts.SyntaxKind.LessThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, "<"],
  [ts.SyntaxKind.GreaterThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, ">"],
  [ts.SyntaxKind.AmpersandAmpersandToken, "||"],
  [ts.SyntaxKind.BarBarToken, "&&"],
  [ts.SyntaxKind.MinusToken, "+"],
  [ts.SyntaxKind.AsteriskToken, "/"],
]);
const METHODS = new Map([
  ["some", "every"],
  ["every", "some"],
  ["startsWith", "endsWith"],
  ["endsWith", "startsWith"],
  ["min", "max"],
  ["max", "min"],
]);

/** Every mistake the driver knows to make in one file, in the order of the text. */
export function listMutants(path: string, text: string): Mutant[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS);
  const found: Mutant[] = [];
  const add = (node: ts.Node, replacement: string): void => {
    const [start, end] = [node.getStart(source), node.getEnd()];
    const original = text.slice(start, end);
    if (original === replacement) return;
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    const id = createHash("sha256").update(`${path}\0${start}\0${end}\0${replacement}\0${text}`).digest("hex");
    found.push({ id: id.slice(0, 16), line, start, end, original, replacement, refusal: mayAccept(node, replacement) });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    mutate(node, add);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}

function mutate(node: ts.Node, add: (node: ts.Node, replacement: string) => void): void {
  if (ts.isBinaryExpression(node)) {
    const swapped = SWAPPED.get(node.operatorToken.kind);
    if (swapped !== undefined) add(node.operatorToken, swapped);
    if (node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) add(node, `(${node.left.getText()})`);
  } else if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
    const condition = ts.isIfStatement(node) ? node.expression : node.condition;
    add(condition, "true");
    add(condition, "false");
  } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    add(node, node.operand.getText());
  } else if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, "false");
  else if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, "true");
  else if (ts.isNumericLiteral(node) && !isName(node)) add(node, String(Number(node.text) + 1));
  else if (ts.isThrowStatement(node)) add(node, ";");
  else if (ts.isExpressionStatement(node) && !isPlainAssignment(node.expression)) add(node, ";");
  else if (ts.isPropertyAccessExpression(node)) {
    const other = METHODS.get(node.name.text);
    if (other !== undefined && ts.isCallExpression(node.parent)) add(node.name, other);
  }
}

function isName(node: ts.NumericLiteral): boolean {
  return ts.isPropertyAssignment(node.parent) && node.parent.name === node;
}

/** `super()` must stay, and what is only assigned shows where it is read. */
function isPlainAssignment(expression: ts.Expression): boolean {
  if (ts.isCallExpression(expression)) return expression.expression.kind === ts.SyntaxKind.SuperKeyword;
  return ts.isBinaryExpression(expression) && expression.operatorToken.kind === ts.SyntaxKind.EqualsToken;
}

import ts from "typescript";
import { ALL_CODES } from "../raised-table.ts";

const REFUSING_CALL = /^(?:refuse|deny|reject|fail|report)/;
const CHECKING_CALL = /^(?:require|verify|assert|check|refuse|deny|reject|fail|report)/;

/** Whether a mistake at this place may let something through that was refused before. */
export function mayAccept(node: ts.Node, replacement: string): boolean {
  if (ts.isThrowStatement(node)) return true;
  if (ts.isExpressionStatement(node)) return refuses(node) || CHECKING_CALL.test(nameOfCall(node.expression));
  for (let at = node; at.parent !== undefined && !ts.isStatement(at); at = at.parent) {
    const branches = branchesOf(at);
    if (branches === null) continue;
    // A condition that always holds skips what stands in the other branch, and the other way round.
    if (at !== node || (replacement !== "true" && replacement !== "false")) return branches.some(refusesOne);
    if (refusesOne(branches[replacement === "true" ? 1 : 0])) return true;
  }
  return false;
}

type Branches = readonly [ts.Node | undefined, ts.Node | undefined];

/** What is done when a condition holds and when it does not; null for anything else than a condition. */
function branchesOf(condition: ts.Node): Branches | null {
  const { parent } = condition;
  if (ts.isConditionalExpression(parent) && parent.condition === condition) return [parent.whenTrue, parent.whenFalse];
  if (!ts.isIfStatement(parent) || parent.expression !== condition) return null;
  return [
    parent.thenStatement,
    parent.elseStatement ?? (refuses(parent.thenStatement) ? undefined : afterReturn(parent)),
  ];
}

/** The last statement of a block, for a condition that returns before it comes to that. */
function afterReturn({ thenStatement, parent }: ts.IfStatement): ts.Node | undefined {
  const last = ts.isBlock(thenStatement) ? thenStatement.statements.at(-1) : thenStatement;
  if (last === undefined || !ts.isReturnStatement(last) || !ts.isBlock(parent)) return undefined;
  return parent.statements.at(-1);
}

function refusesOne(branch: ts.Node | undefined): boolean {
  return branch !== undefined && refuses(branch);
}

/** Whether something in here throws, answers false, or hands out a code. */
function refuses(node: ts.Node): boolean {
  if (ts.isThrowStatement(node)) return true;
  if (ts.isReturnStatement(node) && node.expression?.kind === ts.SyntaxKind.FalseKeyword) return true;
  if (ts.isStringLiteral(node) && ALL_CODES.has(node.text)) return !ts.isBinaryExpression(node.parent);
  if (ts.isCallExpression(node) && REFUSING_CALL.test(nameOfCall(node))) return true;
  return ts.forEachChild(node, (child) => refuses(child) || undefined) ?? false;
}

function nameOfCall(expression: ts.Expression): string {
  const call = ts.isAwaitExpression(expression) || ts.isVoidExpression(expression) ? expression.expression : expression;
  if (!ts.isCallExpression(call)) return "";
  const called = call.expression;
  return ts.isPropertyAccessExpression(called) ? called.name.text : ts.isIdentifier(called) ? called.text : "";
}

import { posix } from "node:path";
import ts from "typescript";

// What no file of the Studio may do (SECURITY.md), and what may be imported across the border between web/ and src/.

export type Add = (position: number, rule: string, what: string) => void;

/** Properties that turn text into markup or style, whoever says them. */
const SINKS =
  /^(?:dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|srcdoc|srcDoc|cssText|setHTMLUnsafe)$/;
/** Attributes that a browser follows. Links are built by the router, or shown as text. */
const FOLLOWED = /^(?:href|xlinkHref|src|action|formAction)$/;
/** Where there is no document, by any name: what runs in a worker of its own. */
const WORKERS = "web/src/workers/";
const TIMERS = /^(?:setTimeout|setInterval|setImmediate)$/;

/** What one node of a file in web/src breaks; `packages` are those of web/package.json. */
export function checkWebNode(node: ts.Node, source: ts.SourceFile, packages: ReadonlySet<string>, add: Add): void {
  const at = node.getStart(source);
  const name = nameOf(node);
  if (name !== null && SINKS.test(name)) add(at, "markup-sink", `${name}: text is only ever a text node`);
  if (ts.isJsxAttribute(node)) checkAttribute(node, source, add);
  else if (ts.isCallExpression(node) || ts.isNewExpression(node)) checkCall(node, source, add);
  else if (isFollowed(node) && !isOwnBytes(node.right, source)) {
    add(at, "address-from-data", `${node.left.name.text} is set by the router only`);
  }
  const imported = importOf(node);
  if (imported !== null) checkImport(imported, source, packages, add);
}

/** Whether an address is given to something that a browser follows. */
function isFollowed(node: ts.Node): node is ts.BinaryExpression & { readonly left: ts.PropertyAccessExpression } {
  return isAssignment(node) && ts.isPropertyAccessExpression(node.left) && FOLLOWED.test(node.left.name.text);
}

/** An address of bytes that the page holds, for downloads: `URL.createObjectURL(...)` and nothing around it. */
function isOwnBytes(value: ts.Expression, source: ts.SourceFile): boolean {
  return (
    ts.isCallExpression(value) &&
    ts.isPropertyAccessExpression(value.expression) &&
    value.expression.getText(source) === "URL.createObjectURL"
  );
}

/** The product knows nothing of its page: what is built from web/ is a list of files. */
export function checkNoWeb(node: ts.Node, source: ts.SourceFile, add: Add): void {
  const imported = importOf(node);
  if (imported === null || !imported.specifier.text.startsWith(".")) return;
  const target = posix.join(posix.dirname(source.fileName), imported.specifier.text);
  if (target === "web" || target.startsWith("web/"))
    add(node.getStart(source), "web-border", "src/ imports nothing of web/");
}

function nameOf(node: ts.Node): string | null {
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression))
    return node.argumentExpression.text;
  const isNamed = ts.isJsxAttribute(node) || ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node);
  if (!isNamed) return null;
  return ts.isIdentifier(node.name) || ts.isStringLiteralLike(node.name) ? node.name.text : null;
}

function checkAttribute(node: ts.JsxAttribute, source: ts.SourceFile, add: Add): void {
  const name = nameOf(node);
  const isLiteral = node.initializer !== undefined && ts.isStringLiteral(node.initializer);
  if (name !== null && FOLLOWED.test(name) && !isLiteral)
    add(node.getStart(source), "address-from-data", `${name}: link through the router, or show the address as text`);
  if (name === "style" && isLiteral) add(node.getStart(source), "style-text", "styles are objects or classes");
}

function checkCall(node: ts.CallExpression | ts.NewExpression, source: ts.SourceFile, add: Add): void {
  const at = node.getStart(source);
  const called = node.expression;
  const first = node.arguments?.[0];
  const name = ts.isIdentifier(called)
    ? called.text
    : ts.isPropertyAccessExpression(called)
      ? called.name.text
      : undefined;
  if (name === "eval" || name === "Function") add(at, "code-from-text", "text never becomes code");
  if ((name === "write" || name === "writeln") && !source.fileName.startsWith(WORKERS))
    add(at, "markup-sink", "document.write: text is only ever a text node");
  if (name !== undefined && TIMERS.test(name) && first !== undefined && isText(first))
    add(at, "code-from-text", `${name} takes a function`);
  if (name === "setAttribute" && (first === undefined || !ts.isStringLiteralLike(first) || isDangerous(first.text)))
    add(at, "address-from-data", "no attribute that is followed, run or drawn is set by hand");
}

function isDangerous(attribute: string): boolean {
  return FOLLOWED.test(attribute) || /^(?:style|srcdoc|on.+)$/i.test(attribute);
}

function isText(node: ts.Expression): boolean {
  if (ts.isBinaryExpression(node)) return isText(node.left) || isText(node.right);
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

function isAssignment(node: ts.Node): node is ts.BinaryExpression {
  return ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken;
}

interface Imported {
  readonly specifier: ts.StringLiteralLike;
  readonly isType: boolean;
}

function importOf(node: ts.Node): Imported | null {
  if (ts.isImportDeclaration(node) && ts.isStringLiteralLike(node.moduleSpecifier)) {
    const isType = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
    return { specifier: node.moduleSpecifier, isType };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined)
    return ts.isStringLiteralLike(node.moduleSpecifier)
      ? { specifier: node.moduleSpecifier, isType: node.isTypeOnly }
      : null;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [first] = node.arguments;
    return first !== undefined && ts.isStringLiteralLike(first) ? { specifier: first, isType: false } : null;
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal))
    return { specifier: node.argument.literal, isType: true };
  return null;
}

function checkImport(imported: Imported, source: ts.SourceFile, packages: ReadonlySet<string>, add: Add): void {
  const { text } = imported.specifier;
  const at = imported.specifier.getStart(source);
  if (text.startsWith(".")) {
    const target = posix.join(posix.dirname(source.fileName), text);
    if (!target.startsWith("web/src/")) add(at, "web-border", `${text} is outside web/src`);
  } else if (text === "verbatim-agent/api") {
    if (!imported.isType) add(at, "web-border", "only types come from verbatim-agent/api");
  } else if (text === "verbatim-agent/verify") {
    if (!imported.isType && !source.fileName.startsWith("web/src/workers/"))
      add(at, "web-border", "only a worker verifies; elsewhere only types come from verbatim-agent/verify");
  } else if (!packages.has(text.split("/", text.startsWith("@") ? 2 : 1).join("/"))) {
    add(at, "web-border", `${text} is not a package of web/package.json`);
  }
}

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { sortedByCodePoint } from "../src/core/canonical/index.ts";
import { needsTerminal } from "../src/core/errors/index.ts";
import { reportFindings } from "./findings.ts";
import { ROOT } from "./stages.ts";
import { checkNoWeb, checkWebNode } from "./web-rules.ts";

// The rules of STYLE.md that oxlint, biome and tsc do not have. test/prohibition/source-rules.test.ts plants each.

const FOLDERS = ["src", "test", "tools", "bench", "web/src"];
const CATCH_ALL = /(?:^|\/)(?:utils?|helpers?|misc|common|shared|lib)(?:\/|\.ts$)/;
const SUPPRESSION = /(?:oxlint|eslint)-disable(?:-next-line|-line)?\b(?<rest>[^\n]*)/g;

/** What only a person at a terminal meets: the command line, and how servers are started. */
const TERMINAL_ONLY =
  /^src\/(?:main\.ts|hook\.ts|app\/hooks\/|surfaces\/(?:cli\/|http\/(?:studio|access)\.ts|mcp\/mcp\.ts))/;

/** Phrases that no native speaker would write, and what to write instead (STYLE.md, English). Only in the product itself. */
const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [
    /\b(?:that|what|it|which|body|file|line|answer) is no (?:object|JSON|text|folder|file|path|key|name|link|hash)\b/gi,
    "is not a ...",
  ],
  [/\bis nobody (?:here|in)\b/gi, "there is no person ... in this world"],
  [/\b(?:do|does|did) not have (?:its|their) (?:recorded )?hash\b/gi, "does not match its recorded hash"],
  [/\bno longer ha(?:s|ve) (?:its|their) hash\b/gi, "no longer matches its hash"],
  [/\bis there (?:twice|a second time)\b/gi, "appears twice, is set twice"],
  [/\bthe first (?:one|value|entry) stands\b/gi, "the first value is used"],
  [/; [^.;"`]{1,80} otherwise\.(?=["`]| \*\/|$)/gm, "(default: ...), or throws CODE"],
  [/\breally writable\b|\boutside every promise\b/gi, "stays writable and is not covered by the proof"],
  [/\bis still yours\b/gi, "resend your text with the same request id"],
  [/\bof somebody\b|\bsomebody else\b/gi, "someone else, another user, another program"],
  [/\bcannot travel in a patch\b/gi, "cannot be part of a patch"],
  [/\bscope, policy and git accept\b/gi, "say what was checked"],
];

/** What reports of agent runs said before they were written for people. The catalytic room keeps some for its own runs. */
const AGENT_PHRASES: typeof PHRASES = [
  [/\bBLOCKS NOTHING\b/g, "nothing on this machine can hold the agent back; changes are only noticed"],
  [/\bpassed in an isolated view\b/gi, "passed on your tree with its ignored files"],
  [/\breal tree is untouched\b|\bhashed what could have changed\b/gi, "nothing in your tree was changed by the agent"],
  [/\bgit-ignored paths changed\b/gi, "the agent also wrote N ignored files; they were not used"],
  [/\b\d* ?commits? of its own\b/gi, "the agent made 1 commit; ... the commit itself is gone"],
  [/\bdiscarded before it was applied\b/gi, "thrown away, the record stays"],
];

/** What the Studio may import from npm. */
const WEB_PACKAGES: ReadonlySet<string> = new Set(
  Object.keys(
    (JSON.parse(readFileSync(join(ROOT, "web/package.json"), "utf8")) as { devDependencies: object }).devDependencies,
  ),
);

/** Everything in one file that breaks a rule of the house, as `file:line: rule: what`. */
export function checkSource(path: string, text: string): string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, false, kindOf(path));
  const findings: string[] = [];
  const add = (position: number, rule: string, what: string): void => {
    findings.push(`${path}:${source.getLineAndCharacterOfPosition(position).line + 1}: ${rule}: ${what}`);
  };
  if (CATCH_ALL.test(path)) add(0, "catch-all-name", "name a file or folder after what it holds");
  for (const match of text.matchAll(SUPPRESSION)) {
    if (!/ -- \S/.test(match.groups?.["rest"] ?? "")) {
      add(match.index, "suppression-without-reason", "end the comment with ` -- why`");
    }
  }
  const ofAgents = /\bagent\b/.test(path) ? AGENT_PHRASES : [];
  for (const [phrase, instead] of isProduct(path) ? [...PHRASES, ...ofAgents] : []) {
    for (const match of text.matchAll(phrase)) add(match.index, "phrase", `"${match[0].trim()}"; rather: ${instead}`);
  }
  const speaksToAll = isProduct(path) && !TERMINAL_ONLY.test(path);
  const visit = (node: ts.Node): void => {
    checkNode(node, source, add);
    if (speaksToAll) checkWords(node, source, add);
    if (path.startsWith("web/src/")) checkWebNode(node, source, WEB_PACKAGES, add);
    else if (path.startsWith("src/")) checkNoWeb(node, source, add);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return findings;
}

function kindOf(path: string): ts.ScriptKind {
  return path.endsWith(".tsx") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
}

function isProduct(path: string): boolean {
  return path.startsWith("src/") && !path.endsWith(".test.ts");
}

function checkNode(
  node: ts.Node,
  source: ts.SourceFile,
  add: (position: number, rule: string, what: string) => void,
): void {
  const at = node.getStart(source);
  if (ts.isCatchClause(node) && node.block.statements.length === 0) {
    add(at, "empty-catch", "handle the error or let it pass; a comment does neither");
  } else if (ts.isExportDeclaration(node) && node.exportClause === undefined) {
    add(at, "export-star", "list what is exported");
  } else if (ts.isEnumDeclaration(node)) {
    add(at, "enum", "use an `as const` object");
  } else if (ts.isPropertyAccessExpression(node) && /^(?:skipIf|runIf)$/.test(node.name.text)) {
    add(at, "skip-without-reason", "say why it is skipped: needs(reason) or context.skip(reason)");
  }
}

/**
 * A message goes to every surface, so one that names a command or a flag needs other words for those without a terminal.
 * What to do next needs no rule: words for a terminal are kept from the others when they are said.
 */
function checkWords(
  node: ts.Node,
  source: ts.SourceFile,
  add: (position: number, rule: string, what: string) => void,
): void {
  const isNamed = ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node);
  if (!isNamed || !ts.isIdentifier(node.name) || node.initializer === undefined) return;
  const isMessage = node.name.text === "message" && !ts.isObjectLiteralExpression(node.initializer);
  if (!(isMessage || node.name.text === "others") || !listTexts(node.initializer).some(needsTerminal)) return;
  const at = node.getStart(source);
  if (isMessage) add(at, "terminal-words", "write message: { cli, others }: not everybody has a terminal");
  else add(at, "terminal-words", "others have no terminal: name what to choose, set or send");
}

function listTexts(node: ts.Node): string[] {
  if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
    return [node.text];
  const texts: string[] = [];
  ts.forEachChild(node, (child) => void texts.push(...listTexts(child)));
  return texts;
}

/** All TypeScript files of the house, sorted, with forward slashes. */
export function sourceFiles(): string[] {
  const files = FOLDERS.flatMap((folder) => {
    const inside = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
    return inside.map((file) => `${folder}/${file.replaceAll("\\", "/")}`);
  });
  const isSource = (file: string): boolean => /\.tsx?$/.test(file) && !file.includes("node_modules/");
  return sortedByCodePoint(files.filter(isSource));
}

function main(): void {
  const files = sourceFiles();
  const findings = files.flatMap((file) => checkSource(file, readFileSync(join(ROOT, file), "utf8")));
  reportFindings(findings, `${files.length} files`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main();

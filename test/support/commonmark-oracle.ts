import { type Node, Parser } from "commonmark";

/** A heading as the reference implementation sees it. */
export interface OracleHeading {
  readonly level: number;
  readonly line: number;
  readonly text: string;
}

interface InnerParser extends Parser {
  refmap: Record<string, unknown>;
  processInlines(block: Node): void;
}

/** Headings that are direct children of the document, with inlines parsed against no link reference definitions. */
export function oracleHeadings(text: string): OracleHeading[] {
  const parser = new Parser() as InnerParser;
  const { processInlines } = parser;
  parser.processInlines = function (this: InnerParser, block: Node): void {
    this.refmap = {};
    processInlines.call(this, block);
  };
  const headings: OracleHeading[] = [];
  for (let node = parser.parse(text).firstChild; node !== null; node = node.next) {
    if (node.type !== "heading") continue;
    headings.push({ level: node.level, line: node.sourcepos[0][0] - 1, text: labelOf(node) });
  }
  return headings;
}

function labelOf(heading: Node): string {
  const shown = showChildren(heading)
    .replace(/[ \t\n]+/g, " ")
    .replace(/^ | $/g, "");
  return Array.from(shown).slice(0, 1024).join("");
}

function showChildren(node: Node): string {
  let text = "";
  for (let child = node.firstChild; child !== null; child = child.next) {
    if (child.type === "text" || child.type === "code") text += child.literal ?? "";
    else if (child.type === "softbreak" || child.type === "linebreak") text += " ";
    else if (child.type !== "html_inline") text += showChildren(child);
  }
  return text;
}

/** What the reference is given of a text: the same lines, without a byte order mark, front matter blanked. */
export function withoutFrontMatter(text: string): string {
  const lines = text.replace(/^\ufeff/, "").split("\n");
  const isFence = (line: string): boolean => /^---[ \t]*$/.test(line);
  const close = isFence(lines[0]!) ? lines.findIndex((line, i) => i > 0 && isFence(line)) : -1;
  return lines.map((line, i) => (i <= close ? "" : line)).join("\n");
}

/** Markdown of about `size` characters that makes careless parsers quadratic, by what it is made of. */
export const HOSTILE_MARKDOWN: Readonly<Record<string, (size: number) => string>> = {
  "headings only": (size) => fill("# a\n", size),
  "one line": (size) => fill("x", size),
  "one heading": (size) => `# ${fill("x ", size)}`,
  "one setext heading of many lines": (size) => `${fill("a\n", size)}===\n`,
  backticks: (size) => `# ${fill("`", size)}`,
  "runs of backticks, each longer": growingBackticks,
  "runs of backticks of two lengths": (size) => `# ${fill("` `` ", size)}`,
  "list markers in one line": (size) => `${fill("- ", size)}x`,
  "list markers of three kinds in one line": (size) => `${fill("- * + 1. ", size)}x`,
  "list markers with tabs": (size) => `${fill("-\t", size / 2)}x\n${fill("\t", size / 2)}y`,
  "deep lists and blank lines": (size) => `${fill("- ", size / 2)}x\n${fill("\n", size / 2)}`,
  "deep lists in a quote and blank lines": (size) => `> ${fill("- ", size / 2)}x\n${fill(">\n", size / 2)}`,
  "deep lists and deep lines": deepLines,
  "deep quotes and lazy lines": (size) => `${fill(">", size / 2)}x\n${fill("y\n", size / 2)}`,
  "almost thematic breaks": (size) => fill(`- - ${" ".repeat(60)}x\n`, size),
  "blanks before a text": (size) => `${fill(" ", size)}x`,
  "closing hashes": (size) => `# a${fill(" #", size)}b`,
  "opening brackets": (size) => `# ${fill("[", size)}`,
  "brackets in pairs": (size) => `# ${fill("[", size / 2)}${fill("]", size / 2)}`,
  "links that never end": (size) => `# ${fill("[a](", size)}`,
  "links with open parentheses": (size) => `# ${fill("[a](b(c)", size)}`,
  "links in open brackets": (size) => `# ${fill("[", size / 2)}${fill("[a](b)", size / 2)}`,
  "images in images": (size) => `# ${fill("![", size / 3)}${fill("](b)", (size * 2) / 3)}`,
  "titles that never end": (size) => `# ${fill('[a](b "', size)}`,
  "titles in parentheses": (size) => `# ${fill("[a](b (", size)}`,
  "escaped quotes in a title": (size) => `# [a](b "${fill('\\"', size)}`,
  "destinations in angle brackets": (size) => `# ${fill("[a](<b", size)}`,
  stars: (size) => `# ${fill("*", size)}`,
  "emphasis that never ends": (size) => `# ${fill("*a ", size)}`,
  "emphasis that never begins": (size) => `# ${fill("a* ", size)}`,
  "emphasis of two markers": (size) => `# ${fill("*a_ ", size)}`,
  "emphasis inside words": (size) => `# ${fill("a**b", size / 2)}${fill("c* ", size / 2)}`,
  "one long run on each side": (size) => `# ${fill("*", size / 2)}a${fill("*", size / 2)}`,
  "emphasis in links": (size) => `# ${fill("**x [a*b**c*](d)", size)}`,
  underscores: (size) => `# ${fill("_a ", size / 2)}${fill("a_ ", size / 2)}`,
  "angle brackets": (size) => `# ${fill("<", size)}`,
  "tags that never end": (size) => `# ${fill("<a ", size)}`,
  "attributes that never end": (size) => `# ${fill('<a b="', size)}`,
  "attributes in both quotes": (size) => `# ${fill('<a b=\'c" d="e\' f="', size)}`,
  "comments that never end": (size) => `# ${fill("<!--", size)}`,
  "instructions that never end": (size) => `# ${fill("<?", size)}`,
  "CDATA that never ends": (size) => `# ${fill("<![CDATA[", size)}`,
  "declarations that never end": (size) => `# ${fill("<!A ", size)}`,
  autolinks: (size) => `# ${fill("<a:b", size / 2)}${fill("<a@b.", size / 2)}`,
  ampersands: (size) => `# ${fill("&a", size)}`,
  backslashes: (size) => `# ${fill("\\", size)}`,
  definitions: (size) => `${fill("[a]: b\n", size)}x\n===\n`,
  "definitions and underlines": (size) => fill("[a]: b\n===\n\n", size),
  "definitions in a list": (size) => `- [a]: b\n${fill("  [a]: b\n", size)}  ===\n`,
  "definitions with open titles": (size) => `${fill("[a]: b (\n", size)}===\n`,
  "an HTML comment": (size) => `<!--\n${fill("a\n", size)}`,
  "HTML tags with open quotes": (size) => fill('<a b="\n\n', size),
  "fences that are none": (size) => fill("```a`\n", size),
  "a fence": (size) => `\`\`\`\n${fill("``\n", size)}`,
  "front matter that never ends": (size) => `---\n${fill("--- x\n", size)}`,
};

function fill(unit: string, size: number): string {
  return unit.repeat(Math.ceil(size / unit.length));
}

function growingBackticks(size: number): string {
  let text = "# ";
  for (let length = 1; text.length < size; length++) text += `${"`".repeat(length)} `;
  return text;
}

function deepLines(size: number): string {
  const depth = Math.ceil(Math.sqrt(size / 2));
  return `${"- ".repeat(depth)}x\n${fill(`${"  ".repeat(depth)}y\n\n`, size)}`;
}

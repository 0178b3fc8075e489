import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { oracleHeadings, withoutFrontMatter } from "../../../../test/support/commonmark-oracle.ts";
import { makeDocument, seededNumbers } from "../../../../test/support/markdown-fuzz.ts";
import { foldLineEnds } from "../../../core/canonical/index.ts";
import { ENTITY_TABLE } from "../markdown/entity-table.ts";
import { findHeadings } from "./headings.ts";

const ROOT = new URL("../../../../", import.meta.url);

/** Level, line and text of every heading. */
function outline(text: string): [number, number, string][] {
  return findHeadings(text).headings.map(({ level, line, text: label }) => [level, line, label]);
}

function expected(text: string): [number, number, string][] {
  return oracleHeadings(text).map(({ level, line, text: label }) => [level, line, label]);
}

describe("heading texts", () => {
  it.each([
    ["# A *b* **c** `d` [e](http://x.invalid) ![f](g.png) &amp; \\*", "A b c d e f & *"],
    ["# See [foo] and [bar][foo]", "See [foo] and [bar][foo]"],
    ["# a   b\tc", "a b c"],
    ["# &nbsp;x&nbsp;", "\u00a0x\u00a0"],
    ["# a\0b", "a\ufffdb"],
    ["# <https://x.invalid/a_b> and <me@x.invalid>", "https://x.invalid/a_b and me@x.invalid"],
    ["# <b>bold</b><br/>", "bold"],
    ["# ` a `` b `", "a `` b"],
    ["# [outer [inner](x)](y)", "[outer inner](y)"],
    ["# ![an [inner](x) image](y)", "an inner image"],
    ["# **bold*", "*bold"],
    ["# snake_case_name", "snake_case_name"],
    ["#", ""],
    ["# &bigodot;&AMP;&NotEqualTilde;&ngE;", "\u2a00&\u2242\u0338\u2267\u0338"],
    ["one  \ntwo\\\nthree\n===", "one two three"],
    ["[a]: b\ntitle\n---", "title"],
  ])("of %j is %j", (markdown, text) => {
    expect(outline(markdown).map(([, , label]) => label)).toEqual([text]);
  });

  it("are cut to 1,024 code points, never inside one", () => {
    expect(outline(`# ${"\u{1f600}".repeat(2000)}`)).toEqual([[1, 0, "\u{1f600}".repeat(1024)]]);
    expect(outline(`# ${"x".repeat(1024)}`)).toEqual([[1, 0, "x".repeat(1024)]]);
  });

  it("do not depend on anything outside the heading's own lines", () => {
    expect(outline("# [1.2.0] - May\n\n[1.2.0]: https://x.invalid\n")).toEqual([[1, 0, "[1.2.0] - May"]]);
  });
});

describe("what stands before the Markdown", () => {
  it.each([
    ["\ufeff# A\n", [[1, 0, "A"]]],
    ["\ufeffA\n=\n", [[1, 0, "A"]]],
    ["\ufeff    # code\n", []],
    ["---\nid: x\n---\n# A\n", [[1, 3, "A"]]],
    ["\ufeff---\t \nid: x\n--- \n# A\n", [[1, 3, "A"]]],
    ["---\n---\n# A\n", [[1, 2, "A"]]],
    ["---\nid: x\n---", []],
    ["---\nid: x\n...\n# A\n", [[1, 3, "A"]]],
    [
      "----\nid: x\n---\n# A\n",
      [
        [2, 1, "id: x"],
        [1, 3, "A"],
      ],
    ],
    ["---\nTitle\n", []],
    ["---\nTitle\n----\n", [[2, 1, "Title"]]],
    [" ---\nTitle\n---\n", [[2, 1, "Title"]]],
    ["\n---\nTitle\n---\n", [[2, 2, "Title"]]],
    ["---\na\n---\nb\n---\n", [[2, 3, "b"]]],
  ] as const)("%j", (text, headings) => {
    expect(outline(text)).toEqual(headings);
  });

  it("counts every line and starts the first heading at offset 0, byte order mark included", () => {
    expect(findHeadings("\ufeff# A\n\n# B")).toEqual({
      headings: [
        { level: 1, line: 0, offset: 0, text: "A" },
        { level: 1, line: 2, offset: 6, text: "B" },
      ],
      lines: 3,
    });
  });

  it.each([
    ["", 0],
    ["\ufeff", 1],
    ["\ufeff\n", 1],
    ["\ufeff\n\n", 2],
    ["---\n---", 2],
    ["\ufeff---\n---\n", 2],
  ])("leaves the lines of %j as they are: %i", (text, lines) => {
    expect(findHeadings(text)).toEqual({ headings: [], lines });
  });
});

describe("agreement with the reference implementation", () => {
  it.each([
    // Links, titles and definitions at the head of a setext heading.
    "[a]: b\n===\n",
    "[a]: b\n===\n===\n",
    "[a]: b\n---\ntext\n---\n",
    "[a]: b\n[c]: d 'e'\nTitle\n===\n",
    "[a]: b 'e\nf'\nTitle\n===\n",
    "[a]: b\n'not a title' x\n===\n",
    "> [a]: b\n> ===\nlazy\n---\n",
    "> [a]: b\n> ===\n> ===\nnot lazy\n---\n",
    "- [a]: b\n  ===\nlazy\n---\n",
    `[${"l".repeat(999)}]: b\nx\n===\n`,
    `[${"l".repeat(1000)}]: b\nx\n===\n`,
    "[a]: <b\\\u2028c>\nx\n===\n",
    // Lazy lines, and blocks that end them.
    "> a\nb\n===\n",
    "> a\n---\n# B\n",
    "> a\n    # b\n# C\n",
    "- a\n<b>\n# C\n",
    "> - a\nb\n# C\n",
    "> a\n2. b\n\n# C\n",
    "a\n2. b\n# C\n",
    "a\n1. b\n# C\n===\n",
    "a\n01. b\n\n   # C\n",
    "a\n-\n# C\n",
    "a\n- \u000c\n# C\n",
    // Tabs and list items.
    "-\t# in\n\n\t# in\n# out\n",
    "-\n\n  # out?\n",
    "-\n  # in\n",
    "- a\n\n\n  # in\n",
    "1.      code\n\n   # in\n",
    ">\t# in\n>\t    # code\n",
    "   - a\n     # in\n    # out?\n",
    "-  \t# in\n   # in\n  # out\n",
    "* * *\n# A\n* * a\n# B\n",
    // Code.
    "```\n# no\n~~~\n# no\n```` \n# yes\n",
    "```\u2028`\n# no\n",
    "``` a`b\n# yes\n",
    "   ```\n# no\n    ```\n# no\n   ```\n# yes\n",
    "- ```\n  # no\n\n  # no\n# yes\n",
    "> ```\n# yes\n",
    "    # no\n\n    # no\n# yes\n",
    "a\n    # no\n# yes\n",
    // HTML.
    "<script>\n# no\n\n# no\n</style>\n# yes\n",
    "<!-- a --> # no\n# yes\n",
    "<!-->\n# yes\n",
    "<?\n# no\n?>\n# yes\n",
    "<!X\n# no\n>\n# yes\n",
    "<![CDATA[\n# no\n]]>\n# yes\n",
    "<table\n# no\n\n# yes\n",
    "a\n<b>\n# yes\n",
    "<b>\n# no\n\n# yes\n",
    "<b x=y z='w'>  \n# no\n",
    "<b x=y\u00a0z=w>\n# no\n",
    "<b\0>\n# yes\n",
    "<b x=\0>\n# no\n",
    "> <div>\n# yes\n",
  ])("on %j", (text) => {
    expect(outline(text)).toEqual(expected(text));
  });

  it("on every named entity of HTML5", () => {
    const names = ENTITY_TABLE.flatMap((line) => line.split(" ")).map((entry) => entry.slice(0, entry.indexOf(":")));
    expect(names).toHaveLength(2125);
    const text = names.map((name) => `# x&${name};x &${name} &${name}x;\n`).join("");
    expect(outline(text)).toEqual(expected(text));
  });

  it("on every kind of number in an entity", () => {
    const numbers = [...Array(300).keys(), 0xd7ff, 0xd800, 0xdfff, 0xe000, 0xfffe, 0x10ffff, 0x110000, 9999999];
    const text = numbers.map((n) => `# x&#${n};x&#x${n.toString(16)};x&#X${n.toString(16)};x\n`).join("");
    expect(outline(text)).toEqual(expected(text));
  });

  it("on 4,000 documents made of fragments", () => {
    const next = seededNumbers(20_250_101);
    let headings = 0;
    for (let i = 0; i < 4_000; i++) {
      const text = makeDocument(next);
      const reference = expected(withoutFrontMatter(text));
      headings += reference.length;
      expect(outline(text), JSON.stringify(text)).toEqual(reference);
    }
    expect(headings).toBeGreaterThan(500);
  });

  it("on every Markdown file of the project's dependencies", () => {
    const modules = fileURLToPath(new URL("node_modules/", ROOT));
    // Folders with a dot hold what other tests make and take away meanwhile.
    const packages = readdirSync(modules).filter((name) => !name.startsWith("."));
    const files = packages
      .flatMap((name) =>
        readdirSync(join(modules, name), { recursive: true, encoding: "utf8" }).map((file) => join(name, file)),
      )
      .filter((name) => /\.(?:md|markdown)$/i.test(name));
    expect(files.length).toBeGreaterThan(100);
    for (const file of files) {
      const text = foldLineEnds(readFileSync(new URL(`node_modules/${file}`, ROOT), "utf8"));
      expect(outline(text), file).toEqual(expected(withoutFrontMatter(text)));
    }
  });
});

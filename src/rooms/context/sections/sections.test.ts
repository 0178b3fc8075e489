import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { toSourceContent } from "../sources/source.ts";
import { isMarkdown, sectionsOf } from "./sections.ts";

const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

function sectionText(text: string, path = "docs/a.md") {
  return sectionsOf(nodeCrypto, path, toSourceContent(text));
}

/** The same by the letter of the contract: cut lines, hash them, hash the address. */
function byTheLetter(text: string, path: string, headings: readonly [number, number, readonly string[]][]) {
  const lines = text.split(/(?<=\n)/);
  return headings.map(([line_start, line_end, heading_path]) => {
    const content_hash = sha256(lines.slice(line_start, line_end).join(""));
    const section_id = sha256(`${path}:${line_start}:${line_end}:${content_hash}`);
    return { section_id, file_path: path, heading_path, line_start, line_end, content_hash };
  });
}

describe("sections", () => {
  it("cover the file, then each heading up to the next of its level or above", () => {
    const text = "intro\n# A\na\n## B\nb\n#### C\nc\n## D\n# E\ne";
    expect(sectionText(text)).toEqual(
      byTheLetter(text, "docs/a.md", [
        [0, 10, []],
        [1, 8, ["A"]],
        [3, 7, ["A", "B"]],
        [5, 7, ["A", "B", "C"]],
        [7, 8, ["A", "D"]],
        [8, 10, ["E"]],
      ]),
    );
  });

  it("are hashed from the right bytes when characters are longer than one", () => {
    const text =
      "\ufeffSch\u00f6n \u{1f600}\n# \u00dcber\nna\u00efve \u20ac\n## \u{1f600}\n\u65e5\u672c\n# Ende\n\u00df\n";
    expect(sectionText(text, "docs/\u00fc.md")).toEqual(
      byTheLetter(text, "docs/\u00fc.md", [
        [0, 7, []],
        [1, 5, ["\u00dcber"]],
        [3, 5, ["\u00dcber", "\u{1f600}"]],
        [5, 7, ["Ende"]],
      ]),
    );
  });

  it("share one id when a heading runs from the first to the last line", () => {
    const sections = sectionText("\ufeff# A\nx\n");
    expect(sections.map(({ heading_path }) => heading_path)).toEqual([[], ["A"]]);
    expect(new Set(sections.map(({ section_id }) => section_id)).size).toBe(1);
    expect(sections).toEqual(
      byTheLetter("\ufeff# A\nx\n", "docs/a.md", [
        [0, 2, []],
        [0, 2, ["A"]],
      ]),
    );
  });

  it("differ for equal text on other lines", () => {
    const [, first, second] = sectionText("# A\n# A\n");
    expect(first!.content_hash).toBe(second!.content_hash);
    expect(first!.section_id).not.toBe(second!.section_id);
  });

  it.each([
    ["", 0],
    ["\n", 1],
    ["a", 1],
    ["a\n\n", 2],
    ["a\u000bb\u000cc\u2028d\n", 1],
  ])("of %j count %i lines, in Markdown and elsewhere", (text, lines) => {
    expect(sectionText(text, "a.md")[0]).toMatchObject({ line_start: 0, line_end: lines });
    expect(sectionText(text, "a.txt")).toHaveLength(1);
    expect(sectionText(text, "a.txt")[0]).toMatchObject({ line_start: 0, line_end: lines });
  });

  it("keep a heading path of their own each", () => {
    const [, a, b] = sectionText("# A\n## B\n");
    a!.heading_path.push("changed");
    expect(b!.heading_path).toEqual(["A", "B"]);
  });

  it.each([
    ["a.md", true],
    ["a.MD", true],
    ["a.markdown", true],
    ["x/y.Markdown", true],
    [".md", true],
    ["a.mdx", false],
    ["a.md.txt", false],
    ["md", false],
    ["a.sql", false],
    ["a.md/b", false],
  ])("of %s follow headings: %s", (path, expected) => {
    expect(isMarkdown(path)).toBe(expected);
  });
});

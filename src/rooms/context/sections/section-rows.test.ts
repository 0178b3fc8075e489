import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeDocument, seededNumbers } from "../../../../test/support/markdown-fuzz.ts";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { toSourceContent } from "../sources/source.ts";
import { collectSections, eachSectionRow, formatSectionRows } from "./section-rows.ts";
import { eachSection } from "./sections.ts";

function cut(text: string) {
  const content = toSourceContent(text);
  const hash = nodeCrypto.sha256(content.bytes);
  return collectSections((take) => eachSection(nodeCrypto, "a/b.md", content, hash, take));
}

function parse(rows: string) {
  return collectSections((take) => expect(eachSectionRow(nodeCrypto, "a/b.md", rows, take)).toBe(true));
}

describe("the stored sections of a file", () => {
  it("come back as they were, with sizes in bytes", () => {
    const file = cut('intro \u00e9\n# One\n### Deep \u2028 \u0085 "q" \\\\\n# \u{1f600}\nlast');
    expect(file.sizes[0]).toBe(
      Buffer.byteLength('intro \u00e9\n# One\n### Deep \u2028 \u0085 "q" \\\\\n# \u{1f600}\nlast'),
    );
    expect(file.sizes.at(-1)).toBe(Buffer.byteLength("# \u{1f600}\nlast"));
    expect(parse(formatSectionRows(file))).toEqual(file);
  });

  it("come back for any Markdown", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (seed) => {
        const file = cut(makeDocument(seededNumbers(seed)));
        expect(parse(formatSectionRows(file))).toEqual(file);
      }),
      { seed: 8, numRuns: 500 },
    );
  });

  it("come back with paths that the line before does not lead to", () => {
    const content = toSourceContent("a\nb\nc\n");
    const hash = nodeCrypto.sha256(content.bytes);
    const definitions = [
      { line_start: 2, line_end: 3, path: ["T", "m"] },
      { line_start: 0, line_end: 1, path: ["T"] },
      { line_start: 1, line_end: 2, path: ["S", "deep", "n"] },
      { line_start: 1, line_end: 2, path: ["S", "deep", "a"] },
    ];
    const file = collectSections((take) => eachSection(nodeCrypto, "a/b.md", content, hash, take, definitions));
    expect(file.sections.map(({ heading_path }) => heading_path.join("/"))).toEqual([
      "",
      "T",
      "S/deep/a",
      "S/deep/n",
      "T/m",
    ]);
    const rows = formatSectionRows(file);
    expect(rows.split("\n").map((row) => row.replace(/^.* [0-9a-f]{64} /, ""))).toEqual([
      '""',
      '"T"',
      '["S","deep","a"]',
      '"n"',
      '["T","m"]',
      "",
    ]);
    expect(parse(rows)).toEqual(file);
  });

  it.each([
    "",
    `0 1 2 2 ${"a".repeat(64)} ["one"]\n`,
    `0 1 2 1 ${"a".repeat(64)} [1]\n`,
    `0 1 2 1 ${"a".repeat(64)} [\n`,
    "\n\n",
    "nonsense\n",
    `0 1 2 0 ${"a".repeat(63)} ""\n`,
    `0 1 2 0 ${"a".repeat(64)} "\n`,
    `0 1 2 0 ${"a".repeat(64)} x\n`,
    `0 -1 2 0 ${"a".repeat(64)} ""\n`,
    `0 1 2 2 ${"a".repeat(64)} "deep"\n`,
    `0 1 2 0 ${"a".repeat(64)} ""\n0 1`,
  ])("are refused when damaged: %j", (text) => {
    expect(eachSectionRow(nodeCrypto, "a.md", text, () => undefined)).toBe(false);
  });
});

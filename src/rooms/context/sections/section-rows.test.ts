import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeDocument, seededNumbers } from "../../../../test/support/markdown-fuzz.ts";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { toSourceContent } from "../sources/source.ts";
import { eachSectionRow, formatSectionRows } from "./section-rows.ts";
import { collectSections, eachSection } from "./sections.ts";

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

  it.each([
    "",
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

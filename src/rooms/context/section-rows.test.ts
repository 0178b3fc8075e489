import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeDocument, seededNumbers } from "../../../test/support/markdown-fuzz.ts";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { formatSectionRows, parseSectionRows } from "./section-rows.ts";
import { cutSections } from "./sections.ts";
import { toSourceContent } from "./source.ts";

function cut(text: string) {
  const content = toSourceContent(text);
  return cutSections(nodeCrypto, "a/b.md", content, nodeCrypto.sha256(content.bytes));
}

describe("the stored sections of a file", () => {
  it("come back as they were, with sizes in bytes", () => {
    const file = cut('intro \u00e9\n# One\n### Deep \u2028 \u0085 "q" \\\\\n# \u{1f600}\nlast');
    expect(file.sizes[0]).toBe(
      Buffer.byteLength('intro \u00e9\n# One\n### Deep \u2028 \u0085 "q" \\\\\n# \u{1f600}\nlast'),
    );
    expect(file.sizes.at(-1)).toBe(Buffer.byteLength("# \u{1f600}\nlast"));
    expect(parseSectionRows(nodeCrypto, "a/b.md", formatSectionRows(file))).toEqual(file);
  });

  it("come back for any Markdown", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (seed) => {
        const file = cut(makeDocument(seededNumbers(seed)));
        expect(parseSectionRows(nodeCrypto, "a/b.md", formatSectionRows(file))).toEqual(file);
      }),
      { seed: 8, numRuns: 500 },
    );
  });

  it.each([
    "",
    "nonsense\n",
    `0 1 2 0 ${"a".repeat(63)} ""\n`,
    `0 1 2 0 ${"a".repeat(64)} "\n`,
    `0 1 2 0 ${"a".repeat(64)} x\n`,
    `0 -1 2 0 ${"a".repeat(64)} ""\n`,
    `0 1 2 2 ${"a".repeat(64)} "deep"\n`,
    `0 1 2 0 ${"a".repeat(64)} ""\n0 1`,
  ])("are refused when damaged: %j", (text) => {
    expect(parseSectionRows(nodeCrypto, "a.md", text)).toBeNull();
  });
});

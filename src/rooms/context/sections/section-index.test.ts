import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { formatCanonical } from "../../../core/canonical/index.ts";
import type { Section } from "../contracts/index.ts";
import { compareSections, formatSectionLines } from "./section-index.ts";
import { SectionRecord } from "./section-record.ts";

function section(file_path: string, line_start: number, line_end: number, heading_path: string[]): Section {
  const section_id = createHash("sha256").update(`${file_path}${line_start}`).digest("hex");
  return { section_id, file_path, heading_path, line_start, line_end, content_hash: "0".repeat(64) };
}

describe("lines of SECTION_INDEX", () => {
  it("are canonical JSON, byte for byte", () => {
    const sections = [
      section("a.md", 0, 9_007_199_254_740_991, []),
      section("a.md", 0, 1, [""]),
      section('d\u00e9j\u00e0/\u{1f600} "b\\.md', 3, 4, ["\u0000\u001f\u007f", '\u2028/\\"', "\u{1f600}"]),
      section("a.md", 1, 2, ["__proto__", "a", "b"]),
    ];
    expect(formatSectionLines(sections)).toBe(sections.map((one) => `${formatCanonical(one)}\n`).join(""));
  });

  it("refuse a heading that has no JSON form", () => {
    expect(() => formatSectionLines([section("a.md", 0, 1, ["\ud800"])])).toThrowError(
      expect.objectContaining({ code: "JSON_UNSUPPORTED_VALUE" }),
    );
  });

  it("are sorted by path bytes, start, end descending, depth", () => {
    const ordered = [
      section("B.md", 0, 1, []),
      section("a-b.md", 0, 1, []),
      section("a.md", 0, 9, []),
      section("a.md", 0, 9, ["A"]),
      section("a.md", 0, 5, ["A"]),
      section("a.md", 2, 5, ["A", "B"]),
      section("a/b.md", 0, 1, []),
      section("\uffee.md", 0, 1, []),
      section("\u{1f600}.md", 0, 1, []),
    ];
    const shuffled = [5, 8, 2, 0, 7, 3, 1, 6, 4].map((i) => ordered[i]!);
    expect(shuffled.sort(compareSections)).toEqual(ordered);
  });

  it("hash to what their lines hash to, as a build takes them", () => {
    const sections = [section("a.md", 0, 1, []), section("b.md", 0, 1, ["\u00e9"])];
    const record = new SectionRecord(nodeCrypto);
    for (const one of sections) {
      record.takeNew(one, 0);
      record.endNew(one.file_path, one.content_hash);
    }
    const expected = createHash("sha256").update(formatSectionLines(sections)).digest("hex");
    expect(record.finish().index_hash).toBe(expected);
    const nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    expect(new SectionRecord(nodeCrypto).finish().index_hash).toBe(nothing);
  });
});

import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import type { Section } from "../contracts/index.ts";
import { sectionsOf } from "../sections/sections.ts";
import { toSourceContent } from "../sources/source.ts";
import { resolveSymbol, type SectionLookup } from "./symbol.ts";

const GUIDE = "# Guide\n## Install\n### Linux\n## Use\n## Install\n#\n## A/B\n# C#\n";

const sections = sectionsOf(nodeCrypto, "docs/guide.md", toSourceContent(GUIDE));
const lookup: SectionLookup = {
  findSection: (id) => sections.find(({ section_id }) => section_id === id),
  sectionsOfFile: (path) => (path === "docs/guide.md" ? sections : undefined),
};

function resolve(target_type: "SECTION" | "FILE" | "HEADING", target_ref: string): Section {
  return resolveSymbol({ symbol_id: "@DOCS/X", target_type, target_ref, default_slice_policy: "head(1)" }, lookup);
}

describe("resolving a symbol", () => {
  it.each([
    ["docs/guide.md#Guide", 0, 5],
    ["docs/guide.md#Guide/Install/Linux", 2, 3],
    ["docs/guide.md#Guide/Use", 3, 4],
    ["docs/guide.md#", 5, 7],
    ["docs/guide.md#/A%2FB", 6, 7],
    ["docs/guide.md#C%23", 7, 8],
  ])("finds %s", (ref, line_start, line_end) => {
    expect(resolve("HEADING", ref)).toMatchObject({ line_start, line_end });
  });

  it("finds a file and a section", () => {
    expect(resolve("FILE", "docs/guide.md")).toBe(sections[0]);
    expect(resolve("SECTION", sections[3]!.section_id)).toBe(sections[3]);
  });

  it("takes the first record in index order when two share an id", () => {
    const shared = sectionsOf(nodeCrypto, "a.md", toSourceContent("# A\n"));
    const found = resolveSymbol(
      { symbol_id: "@A/b", target_type: "SECTION", target_ref: shared[1]!.section_id, default_slice_policy: "head(1)" },
      { findSection: (id) => shared.find(({ section_id }) => section_id === id), sectionsOfFile: () => undefined },
    );
    expect(found.heading_path).toEqual([]);
  });

  it("never picks one of several headings", () => {
    expect(() => resolve("HEADING", "docs/guide.md#Guide/Install")).toThrowError(
      expect.objectContaining({
        code: "HEADING_AMBIGUOUS",
        message: expect.stringContaining("lines 1..3, 4..5"),
        details: { file_path: "docs/guide.md", candidates: [sections[2]!.section_id, sections[5]!.section_id] },
      }),
    );
  });

  it.each([
    ["docs/guide.md#Guide/Instal", ["docs/guide.md#Guide/Install"]],
    ["docs/guide.md#guide", ["docs/guide.md#Guide"]],
    ["docs/guide.md#Linux", ["docs/guide.md#Guide/Install/Linux"]],
    ["docs/guide.md#A%2Fb", ["docs/guide.md#/A%2FB"]],
    ["docs/guide.md#Nothing like it at all", []],
  ])("says what is near %s", (ref, nearest) => {
    expect(() => resolve("HEADING", ref)).toThrowError(
      expect.objectContaining({ code: "HEADING_NOT_FOUND", details: { file_path: "docs/guide.md", nearest } }),
    );
  });

  it.each([
    ["FILE", "docs/Guide.md", "FILE_NOT_INDEXED"],
    ["FILE", "./docs/guide.md", "TARGET_SYNTAX"],
    ["HEADING", "other.md#Guide", "FILE_NOT_INDEXED"],
    ["SECTION", "0".repeat(64), "SECTION_NOT_FOUND"],
    ["SECTION", "0".repeat(63), "TARGET_SYNTAX"],
    ["HEADING", "docs/guide.md", "TARGET_SYNTAX"],
  ] as const)("refuses %s %s with %s", (type, ref, code) => {
    expect(() => resolve(type, ref)).toThrowError(expect.objectContaining({ code }));
  });

  it("does not compare long texts letter by letter", () => {
    const long = `docs/guide.md#${"a".repeat(4_000)}`;
    expect(() => resolve("HEADING", long)).toThrowError(expect.objectContaining({ code: "HEADING_NOT_FOUND" }));
  });
});

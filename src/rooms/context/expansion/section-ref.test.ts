import { expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import type { Section } from "../contracts/index.ts";
import { sectionsOf } from "../sections/sections.ts";
import { toSourceContent } from "../sources/source.ts";
import type { SectionLookup } from "../symbols/symbol.ts";
import { formatSectionRef, parseSectionRef, resolveSectionRef } from "./section-ref.ts";

const RULES = "# Rules\n## Limits\n## Tides\n## Tides\n## A/B\n# 100%\n";

const files = new Map<string, Section[]>();
for (const [path, text] of [
  ["docs/rules.md", RULES],
  ["docs/C#.md", "# Notes\n"],
  ["docs/50%.md", "half\n"],
] as const) {
  files.set(path, sectionsOf(nodeCrypto, path, toSourceContent(text)));
}
const code: Section = {
  section_id: "c".repeat(64),
  file_path: "src/a.ts",
  heading_path: ["Parser", "parse"],
  line_start: 3,
  line_end: 9,
  content_hash: "d".repeat(64),
};
files.set("src/a.ts", [{ ...code, section_id: "a".repeat(64), heading_path: [], line_start: 0, line_end: 20 }, code]);

const lookup: SectionLookup = {
  findSection: (id) => [...files.values()].flat().find(({ section_id }) => section_id === id),
  sectionsOfFile: (path) => files.get(path),
};

it.each([
  ["docs/rules.md", 0, 6],
  ["docs/rules.md#Rules", 0, 5],
  ["docs/rules.md#Rules/Limits", 1, 2],
  ["docs/rules.md#Rules/A%2FB", 4, 5],
  ["docs/rules.md#100%25", 5, 6],
  ["docs/C%23.md", 0, 1],
  ["docs/C%23.md#Notes", 0, 1],
  ["docs/50%25.md", 0, 1],
  ["src/a.ts#Parser/parse", 3, 9],
  ["c".repeat(64), 3, 9],
])("the address %s means lines %i to %i", (ref, line_start, line_end) => {
  expect(resolveSectionRef(ref, lookup)).toMatchObject({ line_start, line_end });
});

it.each([
  ["docs/rules.md#Rules/Tides", "HEADING_AMBIGUOUS"],
  ["docs/rules.md#Tides", "HEADING_NOT_FOUND"],
  ["src/a.ts#parse", "HEADING_NOT_FOUND"],
  ["src/b.ts", "FILE_NOT_INDEXED"],
  ["docs/50%.md", "TARGET_SYNTAX"],
  ["docs/C#.md#Notes", "TARGET_SYNTAX"],
  ["../secret", "TARGET_SYNTAX"],
  ["/etc/hosts", "TARGET_SYNTAX"],
  ["", "TARGET_SYNTAX"],
  ["docs/a%00b", "TARGET_SYNTAX"],
  [`docs/${"a".repeat(5000)}`, "TARGET_SYNTAX"],
  ["f".repeat(64), "SECTION_NOT_FOUND"],
])("the address %s is refused with %s", (ref, code_) => {
  expect(() => resolveSectionRef(ref, lookup)).toThrowError(expect.objectContaining({ code: code_ }));
});

it("every section has an address that leads back to it, and to nothing else", () => {
  const written: string[] = [];
  for (const sections of files.values()) {
    for (const section of sections) {
      const ref = formatSectionRef(section, sections);
      written.push(ref);
      expect(resolveSectionRef(ref, lookup).section_id).toBe(section.section_id);
    }
  }
  const tides = files.get("docs/rules.md")!.filter(({ heading_path }) => heading_path[1] === "Tides");
  expect(written).toEqual([
    "docs/rules.md",
    "docs/rules.md#Rules",
    "docs/rules.md#Rules/Limits",
    tides[0]!.section_id,
    tides[1]!.section_id,
    "docs/rules.md#Rules/A%2FB",
    "docs/rules.md#100%25",
    "docs/C%23.md",
    "docs/C%23.md#Notes",
    "docs/50%25.md",
    "src/a.ts",
    "src/a.ts#Parser/parse",
  ]);
});

it("a section whose address would be too long has its id", () => {
  const long = { ...code, heading_path: ["x".repeat(5000)] };
  expect(formatSectionRef(long, [long])).toBe(long.section_id);
});

it("an address is understood without an index", () => {
  expect(parseSectionRef("src/a.ts#Parser/parse")).toEqual({
    type: "HEADING",
    file_path: "src/a.ts",
    parts: ["Parser", "parse"],
  });
});

import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { decodeUtf8, formatCanonical } from "../../../core/canonical/index.ts";
import { findCandidates, placeOf } from "../index/id-table.ts";
import { toSourceContent } from "../sources/source.ts";
import { SectionRecord } from "./section-record.ts";
import { eachSection, sectionsOf } from "./sections.ts";

// Long enough that rows and lines of the index are handed on in many portions.
const LONG = Array.from({ length: 2_000 }, (_, i) => `${"#".repeat(1 + (i % 6))} part ${i} \u00e9\n`).join("");
const FILES = { "a.md": "# Title\ntext\n", "b.txt": "", "c.md": LONG, "d.md": "intro\n# One\n" };

function recordAll(isStored: (path: string) => boolean = () => false) {
  const record = new SectionRecord(nodeCrypto);
  for (const [path, text] of Object.entries(FILES)) {
    const content = toSourceContent(text);
    const hash = nodeCrypto.sha256(content.bytes);
    if (isStored(path)) {
      eachSection(nodeCrypto, path, content, hash, record.takeStored);
      record.endStored();
    } else {
      eachSection(nodeCrypto, path, content, hash, record.takeNew);
      record.endNew(path, hash);
    }
  }
  return { rows: record.rows.list(), sections: record.sections, ...record.finish() };
}

const lists = Object.entries(FILES).map(([path, text]) => sectionsOf(nodeCrypto, path, toSourceContent(text)));
const all = lists.flat();

describe("what a build makes of sections as they come", () => {
  it("is the hash of SECTION_INDEX, whatever portions its lines are hashed in", () => {
    const text = all.map((section) => `${formatCanonical(section)}\n`).join("");
    expect(recordAll().index_hash).toBe(nodeCrypto.sha256(text));
    expect(recordAll((path) => path < "d").index_hash).toBe(nodeCrypto.sha256(text));
  });

  it("is a row for each file that the store lacks, with a line for each section", () => {
    const rows = recordAll((path) => path === "a.md").rows;
    expect(rows.map(({ path }) => path)).toEqual(["b.txt", "c.md", "d.md"]);
    expect(decodeUtf8(rows[0]!.sections)).toBe(`0 0 0 0 ${nodeCrypto.sha256("")} ""\n`);
    expect(decodeUtf8(rows[2]!.sections)).toBe(
      `0 2 12 0 ${nodeCrypto.sha256("intro\n# One\n")} ""\n1 2 6 1 ${nodeCrypto.sha256("# One\n")} "One"\n`,
    );
    const lines = decodeUtf8(rows[1]!.sections)!.trimEnd().split("\n");
    const labels = Array.from({ length: 2_000 }, (_, i) => `"part ${i} \\u00e9"`);
    expect(lines.slice(1).map((line) => line.slice(line.indexOf('"')))).toEqual(labels);
  });

  it("is a table that finds every section, and their number without ids that are shared", () => {
    const { table, sections } = recordAll();
    expect(sections).toBe(new Set(all.map(({ section_id }) => section_id)).size);
    for (const [file, list] of lists.entries()) {
      for (const [ordinal, { section_id }] of list.entries()) {
        expect(findCandidates(table, section_id).map((n) => placeOf(table, n))).toContainEqual({ file, ordinal });
      }
    }
  });
});

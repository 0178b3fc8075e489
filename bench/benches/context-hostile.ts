import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { encodeUtf8 } from "../../src/core/canonical/index.ts";
import { SectionRecord } from "../../src/rooms/context/sections/section-record.ts";
import { eachSection } from "../../src/rooms/context/sections/sections.ts";
import { decodeSource } from "../../src/rooms/context/sources/source.ts";
import { HOSTILE_MARKDOWN } from "../../test/support/hostile-markdown.ts";
import type { Bench } from "../harness.ts";

/** What counts is the growth: sixteen times the text may not cost more than sixteen times the time, and a little. */
function hostile(name: string, what: string, sizes: readonly number[], make: (size: number) => string[]): Bench {
  return {
    name,
    what: `the sections of ${what}: rows for the store, table of ids, hash of the index`,
    baseline: "SHA-256 of the same bytes",
    onAsking: true,
    corpus: "made of one unit again and again; all other hostile texts are counted in headings-cost.test.ts",
    sizes,
    maxGrowth: 1.1,
    goal: { kind: "time", atMost: 1000 },
    async prepare(size) {
      const files = make(size).map(encodeUtf8);
      return {
        ours: () => recordAll(files),
        baseline: () => files.reduce((sum, bytes) => sum + nodeCrypto.sha256(bytes).length, 0),
      };
    },
  };
}

/** All that a build does with files it has read, until rows, table and hash are ready to be stored. */
function recordAll(files: readonly Uint8Array[]): unknown {
  const record = new SectionRecord(nodeCrypto);
  for (const [i, bytes] of files.entries()) {
    const path = `${i}.md`;
    const content = decodeSource(bytes, path);
    const hash = nodeCrypto.sha256(content.bytes);
    eachSection(nodeCrypto, path, content, hash, record.takeNew);
    record.endNew(path, hash);
  }
  return { ...record.finish(), rows: record.rows.list() };
}

export const contextHostileLine = hostile(
  "context-hostile-line",
  "one line of N characters",
  [250_000, 4_000_000],
  (size) => ["x".repeat(size)],
);

export const contextHostileBackticks = hostile(
  "context-hostile-backticks",
  "a heading of N backticks, and one of N in runs that never match",
  [65_536, 1_048_576],
  (size) => [`# ${"`".repeat(size)}`, HOSTILE_MARKDOWN["runs of backticks, each longer"]!(size)],
);

export const contextHostileHeadings = hostile(
  "context-hostile-headings",
  "N headings of one level, and N of all levels in turn",
  [6_250, 100_000],
  (size) => ["# a\n".repeat(size), Array.from({ length: size }, (_, i) => `${"#".repeat(1 + (i % 6))} a\n`).join("")],
);

export const contextHostileLists = hostile(
  "context-hostile-lists",
  "N list markers in each other, and the same with N lines below them",
  [625, 10_000],
  (size) => [`${"- ".repeat(size)}x\n`, `${"- ".repeat(size)}x\n${"\n".repeat(size)}# h\n${"y\n".repeat(size)}`],
);

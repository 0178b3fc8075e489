import { encodeUtf8, formatCanonical, type JsonValue } from "../../src/core/canonical/index.ts";
import type { Bench } from "../harness.ts";
import { seededIntegers, seededWords } from "../seed.ts";

/** Writing canonical JSON sorts keys, escapes non-ASCII and checks every value; JSON.stringify does none of it. */
export const canonicalJson: Bench = {
  name: "canonical-json",
  what: "formatCanonical of N records, as bytes",
  baseline: "JSON.stringify of the same value, as bytes",
  corpus: "seeded records of 12 members, nested once, a tenth of the texts not ASCII",
  sizes: [1_000, 10_000],
  goal: { kind: "time", atMost: 6 },
  async prepare(size) {
    const records = makeRecords(size);
    return {
      ours: () => encodeUtf8(formatCanonical(records)),
      baseline: () => encodeUtf8(JSON.stringify(records)),
    };
  },
};

function makeRecords(count: number): JsonValue {
  const next = seededIntegers(20_250_102);
  return Array.from({ length: count }, (_, i) => ({
    section_id: `sec_${i.toString(16).padStart(16, "0")}`,
    file_path: `notes/${seededWords(next, 2).replace(" ", "/")}.md`,
    heading_path: [seededWords(next, 2), next(10) === 0 ? "caf\u00e9 \u2013 men\u00fc" : seededWords(next, 3)],
    line_start: next(10_000),
    line_end: next(10_000),
    weight: next(1_000) / 7,
    hidden: next(2) === 0,
    parent: null,
    body: { text: seededWords(next, 20), hash: "0".repeat(64), bytes: next(100_000), lines: next(500) },
    time: "2025-01-02T03:04:05.000Z",
  }));
}

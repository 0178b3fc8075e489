import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { encodeUtf8 } from "../../src/core/canonical/index.ts";
import { formatSectionLines } from "../../src/rooms/context/sections/section-index.ts";
import { sectionsOf } from "../../src/rooms/context/sections/sections.ts";
import { decodeSource } from "../../src/rooms/context/sources/source.ts";
import type { Bench } from "../harness.ts";
import { makePages } from "../markdown-corpus.ts";
import { listHashed } from "../section-hashes.ts";

/** The part of a cold index that is not reading: decoding, headings, hashes of all sections, lines of the index. */
export const contextScan: Bench = {
  name: "context-scan",
  onAsking: true,
  what: "sections and index lines of N Markdown files of 4.1 kB, about nine headings each, in memory",
  baseline: "the SHA-256 calls alone that the contract asks for: each section's bytes and its address",
  corpus: "seeded prose with headings, lists and code, 41 MB at 10,000 files",
  sizes: [2_500, 10_000],
  maxGrowth: 1.1,
  goal: { kind: "time", atMost: 3.5 },
  async prepare(size) {
    const files = makeFiles(size);
    const hashed = files.flatMap(({ path, bytes }) => listHashed(path, bytes));
    return {
      ours: () => {
        const hasher = nodeCrypto.hasher();
        for (const { path, bytes } of files) {
          hasher.update(formatSectionLines(sectionsOf(nodeCrypto, path, decodeSource(bytes, path))));
        }
        return hasher.digest();
      },
      baseline: () => {
        let length = 0;
        for (const data of hashed) length += nodeCrypto.sha256(data).length;
        return length;
      },
    };
  },
};

function makeFiles(count: number): { readonly path: string; readonly bytes: Uint8Array }[] {
  return Array.from(makePages(count), ({ path, text }) => ({ path, bytes: encodeUtf8(text) }));
}

import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { encodeUtf8 } from "../../src/core/canonical/index.ts";
import { toLines } from "../../src/core/text/index.ts";
import { findHeadings } from "../../src/rooms/context/headings.ts";
import { formatSectionLines } from "../../src/rooms/context/section-index.ts";
import { sectionsOf } from "../../src/rooms/context/sections.ts";
import { decodeSource } from "../../src/rooms/context/source.ts";
import { HOSTILE_MARKDOWN } from "../../test/support/hostile-markdown.ts";
import type { Bench } from "../harness.ts";
import { makePages } from "../markdown-corpus.ts";

/** The part of a cold index that is not reading: decoding, headings, hashes of all sections, lines of the index. */
export const contextScan: Bench = {
  name: "context-scan",
  what: "sections and index lines of N Markdown files of 4.1 kB, about nine headings each, in memory",
  baseline: "the SHA-256 calls alone that the contract asks for: each section's bytes and its address",
  corpus: "seeded prose with headings, lists and code, 41 MB at 10,000 files",
  sizes: [2_500, 10_000],
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

/** What has to be hashed for a file: the bytes of every section that is not the whole file again, and its address. */
function listHashed(path: string, bytes: Uint8Array): (Uint8Array | string)[] {
  const content = decodeSource(bytes, path);
  const { starts } = toLines(content.text);
  const sections = sectionsOf(nodeCrypto, path, content);
  const distinct = new Map(sections.map((section) => [section.section_id, section]));
  return [...distinct.values()].flatMap(({ line_start, line_end, content_hash }) => [
    bytes.subarray(starts[line_start], starts[line_end]),
    `${path}:${line_start}:${line_end}:${content_hash}`,
  ]);
}

/** Every hostile text after the other; what counts is that the cost grows with their length, not with its square. */
export const contextHostile: Bench = {
  name: "context-hostile",
  what: "headings of every hostile text, N characters each",
  baseline: "SHA-256 of the same bytes",
  corpus: "deep lists, brackets, backticks, emphasis, tags, definitions, 100,000 headings and the like",
  sizes: [100_000, 400_000],
  maxGrowth: 1.1,
  goal: { kind: "time", atMost: 200 },
  async prepare(size) {
    const texts = Object.values(HOSTILE_MARKDOWN).map((make) => make(size));
    const bytes = texts.map(encodeUtf8);
    return {
      ours: () => texts.reduce((lines, text) => lines + findHeadings(text).lines, 0),
      baseline: () => bytes.reduce((length, text) => length + nodeCrypto.sha256(text).length, 0),
    };
  },
};

function makeFiles(count: number): { readonly path: string; readonly bytes: Uint8Array }[] {
  return Array.from(makePages(count), ({ path, text }) => ({ path, bytes: encodeUtf8(text) }));
}

import { nodeCrypto } from "../src/adapters/crypto/node-crypto.ts";
import { toLines } from "../src/core/text/index.ts";
import { sectionsOf } from "../src/rooms/context/sections/sections.ts";
import { decodeSource } from "../src/rooms/context/sources/source.ts";

/** What has to be hashed for a file: the bytes of every section that is not the whole file again, and its address. */
export function listHashed(path: string, bytes: Uint8Array): (Uint8Array | string)[] {
  const content = decodeSource(bytes, path);
  const { starts } = toLines(content.text);
  const sections = sectionsOf(nodeCrypto, path, content);
  const distinct = new Map(sections.map((section) => [section.section_id, section]));
  return [...distinct.values()].flatMap(({ line_start, line_end, content_hash }) => [
    bytes.subarray(starts[line_start], starts[line_end]),
    `${path}:${line_start}:${line_end}:${content_hash}`,
  ]);
}

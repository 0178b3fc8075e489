import { compareCodePoints, formatString } from "../../core/canonical/index.ts";
import type { SyncCrypto } from "../../core/ports.ts";
import type { Section } from "./contracts.ts";

/** Index order: path by UTF-8 bytes, then start, then end descending, then the length of the heading path. */
export function compareSections(a: Section, b: Section): number {
  return (
    compareCodePoints(a.file_path, b.file_path) ||
    a.line_start - b.line_start ||
    b.line_end - a.line_end ||
    a.heading_path.length - b.heading_path.length
  );
}

/** Sections as lines of SECTION_INDEX, in the order given: canonical JSON, each line ended by LF. */
export function formatSectionLines(sections: readonly Section[]): string {
  let text = "";
  let path = "";
  let pathText = '""';
  for (const section of sections) {
    if (section.file_path !== path) {
      path = section.file_path;
      pathText = formatString(path);
    }
    text +=
      `{"content_hash":"${section.content_hash}","file_path":${pathText},` +
      `"heading_path":${formatTexts(section.heading_path)},"line_end":${section.line_end},` +
      `"line_start":${section.line_start},"section_id":"${section.section_id}"}\n`;
  }
  return text;
}

/** The hash of SECTION_INDEX, from its lines in index order, as they come. */
export function hashIndex(crypto: SyncCrypto, chunks: Iterable<string>): string {
  const hasher = crypto.hasher();
  for (const chunk of chunks) hasher.update(chunk);
  return hasher.digest();
}

function formatTexts(texts: readonly string[]): string {
  let list = "[";
  for (let i = 0; i < texts.length; i++) list += i === 0 ? formatString(texts[i]!) : `,${formatString(texts[i]!)}`;
  return `${list}]`;
}

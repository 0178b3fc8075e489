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
  const headings = new HeadingTexts();
  let text = "";
  let path: string | null = null;
  let middle = "";
  for (let i = 0; i < sections.length; i++) {
    const section = sections[i]!;
    if (section.file_path !== path) {
      path = section.file_path;
      middle = `","file_path":${formatString(path)},"heading_path":[`;
    }
    text +=
      `{"content_hash":"${section.content_hash}${middle}${headings.format(section.heading_path)}],"line_end":` +
      `${section.line_end},"line_start":${section.line_start},"section_id":"${section.section_id}"}\n`;
  }
  return text;
}

/** Heading paths as JSON without brackets. Sections come in the order of the document, so outer headings repeat. */
class HeadingTexts {
  readonly #path: string[] = [];
  readonly #texts: string[] = [];

  format(path: readonly string[]): string {
    const depth = path.length;
    if (depth === 0) return "";
    let same = 0;
    while (same < depth - 1 && this.#path[same] === path[same]) same++;
    for (let i = same; i < depth; i++) {
      const text = formatString(path[i]!);
      this.#path[i] = path[i]!;
      this.#texts[i] = i === 0 ? text : `${this.#texts[i - 1]!},${text}`;
    }
    this.#path.length = depth;
    return this.#texts[depth - 1]!;
  }
}

/** The hash of SECTION_INDEX, from its lines in index order, as they come. */
export function hashIndex(crypto: SyncCrypto, chunks: Iterable<string>): string {
  const hasher = crypto.hasher();
  for (const chunk of chunks) hasher.update(chunk);
  return hasher.digest();
}

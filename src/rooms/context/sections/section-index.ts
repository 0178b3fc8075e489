import { compareCodePoints, formatString } from "../../../core/canonical/index.ts";
import type { Section } from "../contracts/index.ts";

/**
 * Index order: path by UTF-8 bytes, then start, then end descending, then the length of the heading path.
 *
 * @example
 * const bytes = new TextEncoder().encode("# Tides\n## Low\n");
 * const sections = [...sectionsOf("b.md", bytes), ...sectionsOf("a.md", bytes)].sort(compareSections);
 * sections[0]?.file_path; // => "a.md"
 */
export function compareSections(a: Section, b: Section): number {
  return (
    compareCodePoints(a.file_path, b.file_path) ||
    a.line_start - b.line_start ||
    b.line_end - a.line_end ||
    a.heading_path.length - b.heading_path.length
  );
}

/**
 * Sections as lines of SECTION_INDEX, in the order given: canonical JSON, each line ended by LF.
 *
 * @example
 * const sections = sectionsOf("tides.md", new TextEncoder().encode("# Tides\n"));
 * formatSectionLines(sections).split("\n").length; // => 3
 */
export function formatSectionLines(sections: readonly Section[]): string {
  const lines = new SectionLines();
  let text = "";
  for (const section of sections) text += lines.format(section);
  return text;
}

/** Makes lines of SECTION_INDEX one by one; what neighbours have in common is written once. */
export class SectionLines {
  readonly #headings = new HeadingTexts();
  #path: string | null = null;
  #middle = "";

  format(section: Section): string {
    if (section.file_path !== this.#path) {
      this.#path = section.file_path;
      this.#middle = `","file_path":${formatString(section.file_path)},"heading_path":[`;
    }
    return (
      `{"content_hash":"${section.content_hash}${this.#middle}${this.#headings.format(section.heading_path)}],` +
      `"line_end":${section.line_end},"line_start":${section.line_start},"section_id":"${section.section_id}"}\n`
    );
  }
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

import { codePointLength, isHash } from "../../../core/canonical/index.ts";
import type { Section } from "../contracts/index.ts";
import { formatHeadingRef, LONGEST_TARGET_REF, parseFileRef } from "../sections/heading-ref.ts";
import { parseTarget, resolveTarget, type SectionLookup, type Target } from "../symbols/symbol.ts";

/**
 * What a written address means: `docs/a.md` a file, `docs/a.md#Rules/Limits` or `src/a.ts#Parser/parse` a section of it,
 * 64 hex digits a section by its id. `%`, `#` and control characters of names are written as escapes (`%23`), and so is a
 * slash inside a heading (`%2F`). TARGET_SYNTAX where it is none of these. Whether the target exists is for the index to say.
 */
export function parseSectionRef(ref: string): Target {
  if (isHash(ref)) return { type: "SECTION", section_id: ref };
  if (ref.includes("#")) return parseTarget({ target_type: "HEADING", target_ref: ref });
  return parseTarget({ target_type: "FILE", target_ref: parseFileRef(ref) });
}

/** The one section that an address means, or why there is none: see `parseSectionRef` and `resolveTarget`. */
export function resolveSectionRef(ref: string, lookup: SectionLookup): Section {
  return resolveTarget(parseSectionRef(ref), lookup, ref);
}

/**
 * The address by which a section of a file is found again: its file, its heading path, or its id where the heading path is
 * not its alone or too long to be written. `sections` are all sections of the file. Cost: linear in them.
 */
export function formatSectionRef(section: Section, sections: readonly Section[]): string {
  const { file_path, heading_path, section_id } = section;
  const ref = formatHeadingRef(file_path, heading_path);
  if (codePointLength(ref) > LONGEST_TARGET_REF) return section_id;
  if (heading_path.length === 0) return ref.slice(0, -1);
  const isSame = (other: Section) =>
    other.heading_path.length === heading_path.length &&
    other.heading_path.every((text, i) => text === heading_path[i]);
  return sections.filter(isSame).length === 1 ? ref : section_id;
}

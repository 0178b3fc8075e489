import { VerbatimError } from "../../../core/errors/index.ts";
import { showPath } from "../../../core/paths/index.ts";
import { findNearest } from "../../../core/text/index.ts";
import type { Section, SymbolRecord } from "../contracts/index.ts";
import { formatHeadingRef } from "../sections/heading-ref.ts";
import { parseTarget, type Target } from "../symbols/symbol.ts";

/** What resolving needs of an index. */
export interface SectionLookup {
  /** The first record in index order with an id. */
  findSection(section_id: string): Section | undefined;
  /** All sections of a file in index order; undefined when the file is not in the index. */
  sectionsOfFile(file_path: string): readonly Section[] | undefined;
}

// Longer texts are not mistyped versions of each other, and comparing them costs the product of their lengths.
const LONGEST_COMPARED = 128;

/**
 * The section a symbol points to: see `resolveTarget`.
 *
 * @example
 * const sections = sectionsOf("tides.md", new TextEncoder().encode("# Tides\n## Low\n"));
 * const lookup: SectionLookup = {
 *   findSection: (id) => sections.find(({ section_id }) => section_id === id),
 *   sectionsOfFile: (path) => (path === "tides.md" ? sections : undefined),
 * };
 * const symbol = parseSymbol({
 *   symbol_id: "@TIDES/LOW",
 *   target_type: "HEADING",
 *   target_ref: "tides.md#Tides/Low",
 *   default_slice_policy: "head(1)",
 * });
 * resolveSymbol(symbol, lookup).line_start; // => 1
 */
export function resolveSymbol(symbol: SymbolRecord, lookup: SectionLookup): Section {
  return resolveTarget(parseTarget(symbol), lookup, symbol.symbol_id);
}

/**
 * The one section a target means, or SECTION_NOT_FOUND, FILE_NOT_INDEXED, HEADING_NOT_FOUND (with the nearest texts)
 * or HEADING_AMBIGUOUS (with the candidates). Never picks one of several.
 */
export function resolveTarget(target: Target, lookup: SectionLookup, label = "The target"): Section {
  if (target.type === "SECTION") {
    const section = lookup.findSection(target.section_id);
    if (section !== undefined) return section;
    throw new VerbatimError("SECTION_NOT_FOUND", {
      message: `${label} pins the section ${target.section_id}, which is not in the index`,
      details: { section_id: target.section_id },
    });
  }
  const { file_path } = target;
  const sections = lookup.sectionsOfFile(file_path);
  const whole = sections?.[0];
  if (sections === undefined || whole === undefined) {
    throw new VerbatimError("FILE_NOT_INDEXED", {
      message: `${label} points to ${showPath(file_path)}, which is not in the index`,
      where: file_path,
      details: { file_path },
    });
  }
  return target.type === "FILE" ? whole : findHeading(target.parts, sections, file_path, label);
}

function findHeading(
  parts: readonly string[],
  sections: readonly Section[],
  file_path: string,
  label: string,
): Section {
  const found = sections.filter(({ heading_path }) => isSamePath(heading_path, parts));
  const [section] = found;
  if (section === undefined) throw headingNotFound(parts, sections, file_path, label);
  if (found.length === 1) return section;
  const ranges = found.map(({ line_start, line_end }) => `${line_start}..${line_end}`).join(", ");
  throw new VerbatimError("HEADING_AMBIGUOUS", {
    message: `${label} matches ${found.length} sections of ${showPath(file_path)}: lines ${ranges}`,
    where: file_path,
    details: { file_path, candidates: found.map(({ section_id }) => section_id) },
  });
}

function headingNotFound(
  parts: readonly string[],
  sections: readonly Section[],
  file_path: string,
  label: string,
): VerbatimError {
  const wanted = parts.join("/");
  const refs = new Map<string, string>();
  for (const { heading_path } of sections) {
    const text = heading_path.join("/");
    if (heading_path.length > 0 && text.length <= LONGEST_COMPARED)
      refs.set(text, formatHeadingRef(file_path, heading_path));
  }
  const close = wanted.length <= LONGEST_COMPARED ? findNearest(wanted, refs.keys()) : [];
  // A last part that fits is the usual mistake: the whole path is needed.
  const last = parts.at(-1);
  const sameEnd = sections.filter(({ heading_path }) => heading_path.length > 0 && heading_path.at(-1) === last);
  const nearest = new Set([
    ...sameEnd.slice(0, 3).map(({ heading_path }) => formatHeadingRef(file_path, heading_path)),
    ...close.map((text) => refs.get(text)!),
  ]);
  const hint = nearest.size === 0 ? "" : `; nearest: ${[...nearest].slice(0, 3).join(", ")}`;
  return new VerbatimError("HEADING_NOT_FOUND", {
    message: `${label} matches no heading of ${showPath(file_path)}${hint}`,
    where: file_path,
    details: { file_path, nearest: [...nearest].slice(0, 3) },
  });
}

function isSamePath(path: readonly string[], parts: readonly string[]): boolean {
  return path.length === parts.length && path.every((text, i) => text === parts[i]);
}

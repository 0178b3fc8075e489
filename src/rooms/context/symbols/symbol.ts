import { codePointLength, isHash, isJsonObject } from "../../../core/canonical/index.ts";
import { isSymbolId, sourcePath } from "../../../core/contracts/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { showPath } from "../../../core/paths/index.ts";
import { findNearest, parseSlice } from "../../../core/text/index.ts";
import { type Section, type SymbolRecord, TARGET_TYPES } from "../contracts/index.ts";
import type { IndexView } from "../index/index-view.ts";
import type { ContextReader, LastTarget, SymbolRow } from "../ports.ts";
import { formatHeadingRef, LONGEST_TARGET_REF, parseHeadingRef, targetSyntax } from "../sections/heading-ref.ts";

/** What a symbol points to, once its reference is understood. */
export type Target =
  | { readonly type: "SECTION"; readonly section_id: string }
  | { readonly type: "FILE"; readonly file_path: string }
  | { readonly type: "HEADING"; readonly file_path: string; readonly parts: readonly string[] };

const FIELDS = ["symbol_id", "target_type", "target_ref", "default_slice_policy"] as const;

/**
 * Checks a symbol id, or throws SYMBOL_SYNTAX.
 *
 * @example
 * parseSymbolId("@TIDES/LOW"); // => "@TIDES/LOW"
 * parseSymbolId("TIDES"); // throws SYMBOL_SYNTAX
 */
export function parseSymbolId(value: unknown): string {
  if (typeof value === "string" && isSymbolId(value)) return value;
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : `a value of type ${typeof value}`;
  throw new VerbatimError("SYMBOL_SYNTAX", { message: `${shown} is not a symbol id`, where: "/symbol_id" });
}

/**
 * Reads a Symbol (Catalytic Chat Contract): exactly its four fields, each of the right form, the first wrong one in
 * their order is reported: SYMBOL_INVALID, SYMBOL_SYNTAX, TARGET_SYNTAX or a code of slices. The reference of a
 * heading comes out in canonical form. Whether the target exists and the slice fits is for the index to say.
 *
 * @example
 * const symbol = parseSymbol({
 *   symbol_id: "@TIDES/LOW",
 *   target_type: "HEADING",
 *   target_ref: "docs/tides.md#Tides/Low",
 *   default_slice_policy: "head(5)",
 * });
 * symbol.target_type; // => "HEADING"
 */
export function parseSymbol(value: unknown): SymbolRecord {
  if (!isJsonObject(value)) throw invalidSymbol("", "a symbol must be a JSON object");
  for (const field of FIELDS) if (!Object.hasOwn(value, field)) throw invalidSymbol(`/${field}`, `${field} is missing`);
  for (const field of Object.keys(value)) {
    if (!FIELDS.some((known) => known === field)) throw invalidSymbol(`/${field}`, "a symbol does not have this field");
  }
  const symbol_id = parseSymbolId(value["symbol_id"]);
  const target_type = TARGET_TYPES.find((type) => type === value["target_type"]);
  if (target_type === undefined) throw invalidSymbol("/target_type", "target_type must be SECTION, FILE or HEADING");
  const { target_ref: ref, default_slice_policy } = value;
  if (typeof ref !== "string") throw invalidSymbol("/target_ref", "target_ref must be a string");
  parseTarget({ target_type, target_ref: ref });
  if (typeof default_slice_policy !== "string") {
    throw invalidSymbol("/default_slice_policy", "default_slice_policy must be a slice");
  }
  parseSlice(default_slice_policy);
  const target_ref = target_type === "HEADING" ? parseHeadingRef(ref).canonical : ref;
  return { symbol_id, target_type, target_ref, default_slice_policy };
}

/** Understands the reference of a symbol, or throws TARGET_SYNTAX. */
export function parseTarget(symbol: Pick<SymbolRecord, "target_type" | "target_ref">): Target {
  const { target_type, target_ref } = symbol;
  switch (target_type) {
    case "SECTION":
      if (!isHash(target_ref)) throw targetSyntax(target_ref, "is not a section id of 64 lower-case hex digits");
      return { type: "SECTION", section_id: target_ref };
    case "HEADING": {
      const { file_path, parts } = parseHeadingRef(target_ref);
      requireSourcePath(target_ref, file_path);
      return { type: "HEADING", file_path, parts };
    }
    default:
      if (target_ref === "") throw targetSyntax(target_ref, "does not name a file");
      if (codePointLength(target_ref) > LONGEST_TARGET_REF) {
        throw targetSyntax(target_ref, `is longer than ${LONGEST_TARGET_REF} characters`);
      }
      requireSourcePath(target_ref, target_ref);
      return { type: "FILE", file_path: target_ref };
  }
}

/** A path that no source file can have is not one of an index that lacks it. */
function requireSourcePath(target_ref: string, path: string): void {
  if (path.isWellFormed() && sourcePath.safeParse(path).success) return;
  throw targetSyntax(
    target_ref,
    "is not a source path: it must be relative to the root, with / between names, no . or .. segments and no control characters",
  );
}

function invalidSymbol(where: string, message: string): VerbatimError {
  return new VerbatimError("SYMBOL_INVALID", { message, where });
}

const PAGE = 1000;

/** The row of a symbol; SYMBOL_SYNTAX, or SYMBOL_UNKNOWN with the nearest ids. */
export async function requireSymbol(context: ContextReader, id: string): Promise<SymbolRow> {
  const row = await context.symbol(parseSymbolId(id));
  if (row !== null) return row;
  const ids = (await listSymbols(context)).map(({ symbol }) => symbol.symbol_id);
  const nearest = findNearest(id, ids);
  throw new VerbatimError("SYMBOL_UNKNOWN", {
    message: `there is no symbol ${id}${nearest.length === 0 ? "" : `; nearest: ${nearest.join(", ")}`}`,
    details: { symbol_id: id, nearest },
  });
}

/** All symbols by code point of their ids. */
export async function listSymbols(context: ContextReader): Promise<SymbolRow[]> {
  const rows: SymbolRow[] = [];
  for (let after = ""; ; ) {
    const page = await context.symbolsAfter(after, PAGE);
    rows.push(...page);
    if (page.length < PAGE) return rows;
    after = page.at(-1)!.symbol.symbol_id;
  }
}

/** The section a symbol's target means in a view; a pin that no longer holds says where it last pointed. */
export async function resolvePin(
  context: ContextReader,
  view: IndexView,
  target: Target,
  { symbol, last }: SymbolRow,
): Promise<Section> {
  if (target.type === "SECTION" && last !== null) {
    const section = await view.findSection(context, target.section_id);
    if (section === undefined) throw stalePin(symbol.symbol_id, target.section_id, last);
    return section;
  }
  return view.resolve(context, target, symbol.symbol_id);
}

function stalePin(id: string, sectionId: string, last: LastTarget): VerbatimError {
  const heading = last.heading_path.length === 0 ? "the whole file" : last.heading_path.join("/");
  const where = `${heading}, lines ${last.line_start}..${last.line_end}`;
  return new VerbatimError("SECTION_NOT_FOUND", {
    message: `${id} pins a section of ${last.file_path} (${where}) whose content has changed`,
    where: last.file_path,
    fix: {
      cli: `To pin the new content: verbatim symbol repin ${id}`,
      others: "Pin the symbol again to accept the new content.",
    },
    details: { section_id: sectionId, last },
  });
}

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
      message: isOwnAddress(label, file_path)
        ? `${showPath(file_path)} is not in the index`
        : `${label} points to ${showPath(file_path)}, which is not in the index`,
      where: file_path,
      details: { file_path },
    });
  }
  return target.type === "FILE" ? whole : findHeading(target.parts, sections, file_path, label);
}

/** Whether what was asked for is the path itself, and not a symbol that leads there. */
function isOwnAddress(label: string, file_path: string): boolean {
  return label === file_path || label.startsWith(`${file_path}#`);
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

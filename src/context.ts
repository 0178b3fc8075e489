/**
 * The context room: sections, symbols, slices, expansions, budgets, search. `openContext` gives its operations in a
 * workspace, typed; everything else is pure.
 */
import { nodeCrypto } from "./adapters/crypto/node-crypto.ts";
import { openLibraryRoom, type RoomOptions } from "./app/library-room.ts";
import type { Section } from "./rooms/context/contracts/index.ts";
import { sectionsOf as cut } from "./rooms/context/sections/sections.ts";
import { decodeSource } from "./rooms/context/sources/source.ts";

export type { RoomOptions as ContextOptions } from "./app/library-room.ts";
export {
  type Budgets,
  chargeBudgets,
  parseSlice,
  type Slice,
  sliceText,
} from "./core/text/index.ts";
export type { Expansion, Section, SymbolRecord } from "./rooms/context/contracts/index.ts";
export { resolveSymbol, type SectionLookup } from "./rooms/context/expansion/resolution.ts";
export { parseSearchQuery, type SearchQuery, type SearchTerm } from "./rooms/context/search/search-query.ts";
export { formatHeadingRef, type HeadingRef, parseHeadingRef } from "./rooms/context/sections/heading-ref.ts";
export { findHeadings, type Heading, type Outline } from "./rooms/context/sections/headings.ts";
export { compareSections, formatSectionLines } from "./rooms/context/sections/section-index.ts";
export { compileGlob, type Glob } from "./rooms/context/sources/glob.ts";
export { parseSymbol, parseSymbolId } from "./rooms/context/symbols/symbol.ts";

/** The sections of one file in index order, from its bytes: SOURCE_NOT_UTF8 when they are not text. */
export function sectionsOf(file_path: string, bytes: Uint8Array): Section[] {
  return cut(nodeCrypto, file_path, decodeSource(bytes, file_path));
}

/**
 * The room in the workspace around a folder. Nothing is created before an operation must write. Close it, or use
 * `await using`.
 *
 * @example
 * await using context = openContext("path/to/repository");
 * await context.buildIndex({});
 * const { results } = await context.search({ query: "tides" });
 */
export function openContext(folder: string, options: RoomOptions = {}) {
  const { app, bind, ends } = openLibraryRoom(folder, options);
  return {
    buildIndex: bind("context.index-build"),
    verifyIndex: bind("context.index-verify"),
    indexStatus: bind("context.index-status"),
    explainPath: bind("context.index-explain"),
    exportIndex: bind("context.index-export"),
    listSections: bind("context.section-list"),
    showSection: bind("context.section-show"),
    addSymbol: bind("context.symbol-add"),
    replaceSymbol: bind("context.symbol-replace"),
    removeSymbol: bind("context.symbol-remove"),
    showSymbol: bind("context.symbol-show"),
    listSymbols: bind("context.symbol-list"),
    checkSymbols: bind("context.symbol-check"),
    repinSymbol: bind("context.symbol-repin"),
    importSymbols: bind("context.symbol-import"),
    /** All symbols as canonical JSON Lines, without their line feeds. */
    exportSymbols: () => app.lines("context.symbol-export", {}),
    expand: bind("context.expand"),
    search: bind("context.search"),
    ...ends,
  };
}

/**
 * The context room: sections, symbols, slices, expansions, budgets, search. `openContext` gives its operations in a
 * workspace, typed; everything else is pure.
 *
 * @packageDocumentation
 */

import { nodeCrypto } from "./app/compose/crypto.ts";
import { openLibraryRoom, type RoomOptions } from "./app/library.ts";
import { sectionsOf as cut, decodeSource, type Section } from "./rooms/context/index.ts";

export type { RoomOptions as ContextOptions } from "./app/library.ts";
export {
  type Budgets,
  chargeBudgets,
  parseSlice,
  type Slice,
  sliceText,
} from "./core/text/index.ts";
export {
  compareSections,
  compileGlob,
  type Expansion,
  findHeadings,
  formatHeadingRef,
  formatSectionLines,
  type Glob,
  type Heading,
  type HeadingRef,
  type Outline,
  parseHeadingRef,
  parseSearchQuery,
  parseSymbol,
  parseSymbolId,
  resolveSymbol,
  type SearchQuery,
  type SearchTerm,
  type Section,
  type SectionLookup,
  type SymbolRecord,
} from "./rooms/context/index.ts";

/**
 * The sections of one file in index order, from its bytes: SOURCE_NOT_UTF8 when they are not text.
 *
 * @example
 * const bytes = new TextEncoder().encode("# Tides\n\n## Low\n\nAt noon.\n");
 * sectionsOf("docs/tides.md", bytes).map(({ heading_path }) => heading_path.join("/")); // => ["", "Tides", "Tides/Low"]
 */
export function sectionsOf(file_path: string, bytes: Uint8Array): Section[] {
  return cut(nodeCrypto, file_path, decodeSource(bytes, file_path));
}

/**
 * The room in the workspace around a folder. Nothing is created before an operation must write. Close it, or
 * declare it with `await using`.
 *
 * @example
 * const context = openContext("path/to/repository");
 * await context.buildIndex({});
 * const { results } = await context.search({ query: "tides" });
 * await context.close();
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

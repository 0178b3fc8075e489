// The front door of this room: everything the app may use of it. Nothing inside the room imports this file.

export { compileGlob, type Glob } from "../../core/paths/index.ts";
export { CONTEXT_AREAS } from "./conformance.ts";
export { CONTEXT_CONTRACTS, type Expansion, type Section, type SymbolRecord } from "./contracts/index.ts";
export { cutRef } from "./expansion/expansion.ts";

export { buildIndex } from "./index/index-build.ts";
export { findDefaultSources } from "./index/index-survey.ts";
export { ViewCache } from "./index/index-view.ts";
export { CONTEXT_OPERATIONS } from "./operations/index.ts";
export type { ContextPorts } from "./operations/ports.ts";
export { type BuildLock, CODE_GRAMMARS, type ContextReader, type ContextWriter } from "./ports.ts";
export { parseSearchQuery, type SearchQuery, type SearchTerm } from "./search/search-query.ts";
export { formatHeadingRef, type HeadingRef, parseHeadingRef } from "./sections/heading-ref.ts";
export { findHeadings, type Heading, type Outline } from "./sections/headings.ts";
export { compareSections, formatSectionLines } from "./sections/section-index.ts";
export { sectionsOf } from "./sections/sections.ts";
export { ContentCache, decodeSource } from "./sources/source.ts";
export {
  parseSymbol,
  parseSymbolId,
  parseTarget,
  requireSymbol,
  resolvePin,
  resolveSymbol,
  type SectionLookup,
} from "./symbols/symbol.ts";

import { VerbatimError } from "../../../core/errors/index.ts";
import { findNearest } from "../../../core/text/index.ts";
import type { Section } from "../contracts/index.ts";
import type { IndexView } from "../index/index-view.ts";
import type { ContextReader, LastTarget, SymbolRow } from "../ports.ts";
import { parseSymbolId, type Target } from "./symbol.ts";

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

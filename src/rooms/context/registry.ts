import { formatCanonical, type JsonValue, parseJson } from "../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { applySlice } from "../../core/text/index.ts";
import type { SymbolRecord } from "./contracts.ts";
import { type ExpansionPorts, findTarget, resolveNow } from "./expansion.ts";
import type { IndexView } from "./index-view.ts";
import type { ContextReader, LastTarget, SymbolRow } from "./ports.ts";
import { parseSymbol, parseTarget } from "./symbol.ts";

export type RegistryPorts = Pick<ExpansionPorts, "store" | "crypto" | "actor" | "views" | "contents">;

const PAGE = 1000;

/** Adds a symbol whose target resolves and whose slice fits now; the same symbol again changes nothing. */
export async function addSymbol(
  ports: RegistryPorts,
  value: unknown,
): Promise<{ symbol: SymbolRecord; existing: boolean }> {
  const symbol = parseSymbol(value);
  const row = await ports.store.read(({ context }) => checkNow(ports, context, symbol));
  return ports.store.transact(async ({ context, ledger }) => {
    const current = await context.symbol(symbol.symbol_id);
    if (current !== null) {
      if (formatCanonical(current.symbol) === formatCanonical(symbol)) return { symbol, existing: true };
      throw new VerbatimError("SYMBOL_EXISTS", {
        message: `${symbol.symbol_id} is defined already: ${formatCanonical(current.symbol)}`,
        fix: `verbatim symbol replace ${symbol.symbol_id}`,
        details: { symbol: current.symbol },
      });
    }
    await context.putSymbol(row);
    await ledger.append("context", "next", [{ kind: "SYMBOL_ADDED", actor: ports.actor, body: symbol }]);
    return { symbol, existing: false };
  });
}

/** Replaces the definition of a symbol. */
export async function replaceSymbol(
  ports: RegistryPorts,
  value: unknown,
): Promise<{ symbol: SymbolRecord; existing: boolean }> {
  const symbol = parseSymbol(value);
  const row = await ports.store.read(({ context }) => checkNow(ports, context, symbol));
  return ports.store.transact(async ({ context, ledger }) => {
    const old = (await requireSymbol(context, symbol.symbol_id)).symbol;
    const existing = formatCanonical(old) === formatCanonical(symbol);
    await context.putSymbol(row);
    if (!existing) {
      await ledger.append("context", "next", [
        { kind: "SYMBOL_REPLACED", actor: ports.actor, body: { new: symbol, old } },
      ]);
    }
    return { symbol, existing };
  });
}

/** Removes a symbol. */
export function removeSymbol(ports: RegistryPorts, id: string): Promise<SymbolRecord> {
  return ports.store.transact(async ({ context, ledger }) => {
    const { symbol } = await requireSymbol(context, id);
    await context.removeSymbol(id);
    await ledger.append("context", "next", [{ kind: "SYMBOL_REMOVED", actor: ports.actor, body: symbol }]);
    return symbol;
  });
}

/** The row of a symbol, or SYMBOL_UNKNOWN. */
export async function requireSymbol(context: ContextReader, id: string): Promise<SymbolRow> {
  const { symbol } = await findTarget(context, id);
  if (symbol === null) throw new VerbatimError("SYMBOL_SYNTAX", { message: "a section id is not a symbol id" });
  return symbol;
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

export interface SymbolProblem {
  readonly symbol_id: string;
  readonly code: string;
  readonly message: string;
}

/** Every symbol that would fail if it were expanded now. */
export async function checkSymbols(ports: RegistryPorts): Promise<SymbolProblem[]> {
  return ports.store.read(async ({ context }) => {
    const problems: SymbolProblem[] = [];
    for (const row of await listSymbols(context)) {
      try {
        await checkNow(ports, context, row.symbol, row);
      } catch (thrown) {
        if (!isVerbatimError(thrown) || thrown.exit === 3) throw thrown;
        problems.push({ symbol_id: row.symbol.symbol_id, code: thrown.code, message: thrown.message });
      }
    }
    return problems;
  });
}

/** Pins the section that now stands where the symbol last pointed, or the given one. */
export async function repinSymbol(ports: RegistryPorts, id: string, to: string | undefined) {
  const found = await ports.store.read(async ({ context }) => {
    const row = await requireSymbol(context, id);
    if (row.symbol.target_type !== "SECTION") {
      throw new VerbatimError("SYMBOL_INVALID", {
        message: `${id} does not pin a section`,
        fix: `verbatim symbol show ${id}`,
      });
    }
    if (to !== undefined) return { symbol: row.symbol, sections: [to] };
    const view = await ports.views.open(context);
    return { symbol: row.symbol, sections: await findRepins(context, view, row) };
  });
  const [only] = found.sections;
  if (only === undefined || found.sections.length > 1) {
    throw new VerbatimError("HEADING_AMBIGUOUS", {
      message: `${found.sections.length} sections stand where ${id} pointed`,
      fix: `verbatim symbol repin ${id} --to SECTION_ID`,
      details: { candidates: found.sections },
    });
  }
  return replaceSymbol(ports, { ...found.symbol, target_ref: only });
}

async function findRepins(context: ContextReader, view: IndexView, { last }: SymbolRow): Promise<string[]> {
  if (last === null) return [];
  const sections = (await view.load(context, last.file_path)) ?? [];
  const same = sections.filter(
    ({ heading_path }) => formatCanonical(heading_path) === formatCanonical(last.heading_path),
  );
  return [...new Set(same.map(({ section_id }) => section_id))];
}

/** Imports canonical JSON Lines of symbols: all of them or none. Known equal ones are counted, others are SYMBOL_EXISTS. */
export async function importSymbols(
  ports: RegistryPorts,
  bytes: Uint8Array,
  file: string,
): Promise<{ added: number; existing: number }> {
  const symbols = parseLines(bytes, file);
  const rows = await ports.store.read(async ({ context }) => {
    const checked: SymbolRow[] = [];
    for (const symbol of symbols) checked.push(await checkNow(ports, context, symbol));
    return checked;
  });
  return ports.store.transact(async ({ context, ledger }) => {
    const added: SymbolRow[] = [];
    for (const row of rows) {
      const current = await context.symbol(row.symbol.symbol_id);
      if (current === null) {
        await context.putSymbol(row);
        added.push(row);
      } else if (formatCanonical(current.symbol) !== formatCanonical(row.symbol)) {
        throw new VerbatimError("SYMBOL_EXISTS", {
          message: `${row.symbol.symbol_id} is defined otherwise already; nothing was imported`,
          details: { symbol: current.symbol },
        });
      }
    }
    const entries = added.map(({ symbol }) => ({
      kind: "SYMBOL_ADDED",
      actor: ports.actor,
      body: symbol as JsonValue,
    }));
    if (entries.length > 0) await ledger.append("context", "next", entries);
    return { added: added.length, existing: rows.length - added.length };
  });
}

function parseLines(bytes: Uint8Array, file: string): SymbolRecord[] {
  const symbols: SymbolRecord[] = [];
  const seen = new Set<string>();
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, start);
    const stop = end === -1 ? bytes.length : end;
    const symbol = parseSymbol(parseJson(bytes.subarray(start, stop), { file: `${file}:${line}` }));
    if (seen.has(symbol.symbol_id)) {
      throw new VerbatimError("SYMBOL_EXISTS", {
        message: `${symbol.symbol_id} is there twice`,
        where: `${file}:${line}`,
      });
    }
    seen.add(symbol.symbol_id);
    symbols.push(symbol);
    start = stop + 1;
  }
  return symbols;
}

/** Checks that the target resolves and the slice fits, as expanding would, and remembers where it points. */
async function checkNow(
  ports: RegistryPorts,
  context: ContextReader,
  symbol: SymbolRecord,
  row: SymbolRow | null = null,
): Promise<SymbolRow> {
  const view = await ports.views.open(context);
  const section = await resolveNow(context, view, parseTarget(symbol), row, symbol.symbol_id);
  const lines = ports.contents.open(view, section);
  applySlice(
    { lines, first: section.line_start, last: section.line_end },
    symbol.default_slice_policy,
    symbol.symbol_id,
  );
  const { file_path, heading_path, line_start, line_end } = section;
  const last: LastTarget = { file_path, heading_path, line_start, line_end };
  return { symbol, last };
}

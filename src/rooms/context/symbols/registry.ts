import { formatCanonical } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { NewEntry } from "../../../core/ports.ts";
import { applySlice } from "../../../core/text/index.ts";
import type { Section, SymbolRecord } from "../contracts/index.ts";
import { CONTEXT_RECORDS } from "../contracts/records.ts";
import type { ExpansionPorts } from "../expansion/expansion.ts";
import type { IndexView } from "../index/index-view.ts";
import type { ContextReader, SymbolRow } from "../ports.ts";
import { listSymbols, parseSymbol, parseTarget, requireSymbol, resolvePin } from "./symbol.ts";

export type RegistryPorts = Pick<ExpansionPorts, "store" | "crypto" | "actor" | "views" | "contents">;

/** A symbol after a change; `existing` says that it was already there, exactly so. */
export interface Defined {
  readonly symbol: SymbolRecord;
  readonly existing: boolean;
}

/** Adds a symbol whose target resolves and whose slice fits now; the same symbol again changes nothing. */
export async function addSymbol(ports: RegistryPorts, value: unknown): Promise<Defined> {
  const symbol = parseSymbol(value);
  const { added } = await addSymbols(ports, [symbol]);
  return { symbol, existing: added === 0 };
}

/** Whether a symbol is already there, exactly so; another definition is SYMBOL_EXISTS. */
async function isThere(context: ContextReader, symbol: SymbolRecord): Promise<boolean> {
  const current = await context.symbol(symbol.symbol_id);
  if (current === null) return false;
  if (formatCanonical(current.symbol) === formatCanonical(symbol)) return true;
  const { target_type, target_ref, default_slice_policy } = current.symbol;
  throw new VerbatimError("SYMBOL_EXISTS", {
    message: `${symbol.symbol_id} is already defined: ${target_type} ${target_ref} ${default_slice_policy}`,
    fix: `To change it: verbatim symbol replace ${symbol.symbol_id}`,
    details: { symbol: current.symbol },
  });
}

/** Replaces the definition of a symbol. */
export async function replaceSymbol(ports: RegistryPorts, value: unknown): Promise<Defined> {
  const [row] = await checkSymbols(ports, [parseSymbol(value)]);
  const { symbol } = row!;
  return ports.store.transact(async ({ context, ledger }) => {
    const old = (await requireSymbol(context, symbol.symbol_id)).symbol;
    const existing = formatCanonical(old) === formatCanonical(symbol);
    await context.putSymbol(row!);
    if (!existing) {
      const entry = CONTEXT_RECORDS.make("SYMBOL_REPLACED", ports.actor, { new: symbol, old });
      await ledger.append("context", "next", [entry]);
    }
    return { symbol, existing };
  });
}

/** Removes a symbol. */
export function removeSymbol(ports: RegistryPorts, id: string): Promise<SymbolRecord> {
  return ports.store.transact(async ({ context, ledger }) => {
    const { symbol } = await requireSymbol(context, id);
    await context.removeSymbol(id);
    await ledger.append("context", "next", [CONTEXT_RECORDS.make("SYMBOL_REMOVED", ports.actor, symbol)]);
    return symbol;
  });
}

/**
 * Adds symbols: all of them or none. Those that are already there, exactly so, are counted and not looked at further:
 * one whose target went away meanwhile stays as it is.
 */
export async function addSymbols(
  ports: RegistryPorts,
  symbols: readonly SymbolRecord[],
): Promise<{ added: number; existing: number }> {
  const rows = await checkSymbols(ports, await findNew(ports, symbols));
  return ports.store.transact(async ({ context, ledger }) => {
    const added: NewEntry[] = [];
    for (const row of rows) {
      // Someone else may have added it since.
      if (await isThere(context, row.symbol)) continue;
      await context.putSymbol(row);
      added.push(CONTEXT_RECORDS.make("SYMBOL_ADDED", ports.actor, row.symbol));
    }
    if (added.length > 0) await ledger.append("context", "next", added);
    return { added: added.length, existing: symbols.length - added.length };
  });
}

function findNew({ store }: RegistryPorts, symbols: readonly SymbolRecord[]): Promise<SymbolRecord[]> {
  return store.read(async ({ context }) => {
    const unknown: SymbolRecord[] = [];
    for (const symbol of symbols) if (!(await isThere(context, symbol))) unknown.push(symbol);
    return unknown;
  });
}

/** Requires of every symbol that its target resolves and its slice fits now, and remembers where it points. */
async function checkSymbols(ports: RegistryPorts, symbols: readonly SymbolRecord[]): Promise<SymbolRow[]> {
  const { view, sections } = await ports.store.read(async ({ context }) => {
    const opened = await ports.views.open(context);
    const found: Section[] = [];
    for (const symbol of symbols)
      found.push(await resolvePin(context, opened, parseTarget(symbol), { symbol, last: null }));
    return { view: opened, sections: found };
  });
  return symbols.map((symbol, i) => {
    checkSlice(ports, view, symbol, sections[i]!);
    const { file_path, heading_path, line_start, line_end } = sections[i]!;
    return { symbol, last: { file_path, heading_path, line_start, line_end } };
  });
}

function checkSlice(ports: RegistryPorts, view: IndexView, symbol: SymbolRecord, section: Section): void {
  const lines = ports.contents.open(view, section);
  const target = { lines, first: section.line_start, last: section.line_end };
  applySlice(target, symbol.default_slice_policy, symbol.symbol_id);
}

interface SymbolProblem {
  readonly symbol_id: string;
  readonly code: string;
  readonly message: string;
}

/** Every symbol that would fail if it were expanded now. */
export async function findSymbolProblems(ports: RegistryPorts): Promise<SymbolProblem[]> {
  const looked = await ports.store.read(async ({ context }) => {
    const rows = await listSymbols(context);
    const results: { row: SymbolRow; view?: IndexView; section?: Section; problem?: SymbolProblem }[] = [];
    for (const row of rows) results.push({ row, ...(await look(ports, context, row)) });
    return results;
  });
  return looked.flatMap(({ row, view, section, problem }) => {
    if (problem !== undefined) return [problem];
    return catchProblem(row, () => checkSlice(ports, view!, row.symbol, section!)) ?? [];
  });
}

async function look(ports: RegistryPorts, context: ContextReader, row: SymbolRow) {
  try {
    const view = await ports.views.open(context);
    return { view, section: await resolvePin(context, view, parseTarget(row.symbol), row) };
  } catch (thrown) {
    return { problem: toProblem(row, thrown) };
  }
}

function catchProblem(row: SymbolRow, check: () => void): SymbolProblem | null {
  try {
    check();
    return null;
  } catch (thrown) {
    return toProblem(row, thrown);
  }
}

/** What the contract says no to is a problem of the symbol; anything else is a failure of ours. */
function toProblem({ symbol }: SymbolRow, thrown: unknown): SymbolProblem {
  if (!isVerbatimError(thrown) || thrown.exit !== 1 || thrown.code === "STORE_CORRUPT") throw thrown;
  return { symbol_id: symbol.symbol_id, code: thrown.code, message: thrown.message };
}

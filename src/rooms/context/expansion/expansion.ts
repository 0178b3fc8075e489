import { codePointLength, encodeUtf8, isHash } from "../../../core/canonical/index.ts";
import { isSymbolId } from "../../../core/contracts/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { ContentStore, Ids, SyncCrypto } from "../../../core/ports.ts";
import {
  applySlice,
  type Breach,
  BUDGETS,
  BudgetMeter,
  type Budgets,
  cutLines,
  type LineText,
  mapBudgets,
  parseSlice,
  splitSlice,
} from "../../../core/text/index.ts";
import type { Expansion, Section } from "../contracts/index.ts";
import { CONTEXT_RECORDS } from "../contracts/records.ts";
import type { IndexView, ViewCache } from "../index/index-view.ts";
import type { ContextReader, ContextStore, SymbolRow } from "../ports.ts";
import type { ContentCache } from "../sources/source.ts";
import { completeId, isShortId } from "../symbols/short-id.ts";
import { parseTarget, requireSymbol, resolvePin, type Target } from "../symbols/symbol.ts";
import { parseSectionRef } from "./section-ref.ts";

export interface ExpansionPorts {
  readonly store: ContextStore;
  readonly content: ContentStore;
  readonly crypto: SyncCrypto;
  readonly ids: Ids;
  readonly actor: string;
  readonly views: ViewCache;
  readonly contents: ContentCache;
  /** Throws when the surface cannot carry an answer; asked before anything is stored. */
  assertDeliverable?(output: unknown): void;
  /** Payloads of expansions that this process has recorded; they need not be stored again. */
  readonly known: Set<string>;
}

/** A ref that was understood: the section it means and the slice that will be taken; null leaves it to the target. */
interface ResolvedRef {
  /** What is recorded: the symbol's id, or that of the section. */
  readonly ref: string;
  /** The address as it was written, for whoever is told about it. */
  readonly asked?: string;
  readonly slice: string | null;
  readonly section: Section;
}

/** What a ref means right now: the exact text, and where it is from. */
interface Cut extends ResolvedRef {
  readonly slice: string;
  readonly content: string;
  readonly bytes: Uint8Array;
  readonly content_hash: string;
}

interface Expanded {
  readonly expansion: Expansion;
  readonly section: Section;
  readonly content: string;
  readonly bytes: number;
}

interface ExpandRequest {
  readonly refs: readonly string[];
  /** For all refs that have none of their own (default: the symbol's, or a short one for an address). */
  readonly slice?: string | undefined;
  readonly run_id?: string | undefined;
  readonly budgets: Budgets;
}

// Beyond this many the oldest payloads are asked for again, which costs time and nothing else.
const MOST_KNOWN = 100_000;

/**
 * Expands refs: all are resolved, then cut and charged in order, then stored and recorded. A breach or any error
 * stores nothing. Cost per ref: one stat, one hash of the slice; a file is read when it is not cached.
 */
export async function expandRefs(ports: ExpansionPorts, request: ExpandRequest) {
  const { refs, slice, budgets } = request;
  const { view, resolved } = await resolveRefs(ports, refs, slice);
  const { cuts, used } = cutWithin(ports, view, resolved, budgets);
  const run_id = request.run_id ?? ports.ids.uuid();
  const expansions = cuts.map((cut) => toExpansion(run_id, cut));
  const expanded: Expanded[] = cuts.map((cut, i) => ({
    expansion: expansions[i]!,
    section: cut.section,
    content: cut.content,
    bytes: cut.bytes.length,
  }));
  const done = { run_id, expansions: expanded, budget: { used, limits: budgets } };
  ports.assertDeliverable?.(done);
  await storePayloads(ports, cuts);
  await ports.store.transact(({ ledger }) =>
    ledger.append(
      "context",
      "next",
      expansions.map((expansion) => CONTEXT_RECORDS.make("EXPANSION", ports.actor, expansion)),
    ),
  );
  remember(ports.known, cuts);
  return done;
}

/** The sections and slices that refs mean in the index as it is now. Reads no file. */
async function resolveRefs(
  ports: Pick<ExpansionPorts, "store" | "views">,
  refs: readonly string[],
  slice: string | undefined,
): Promise<{ view: IndexView; resolved: ResolvedRef[] }> {
  if (slice !== undefined) parseSlice(slice);
  return ports.store.read(async ({ context }) => {
    const view = await ports.views.open(context);
    const asked = new Map(refs.map((ref) => [ref, parseAskedRef(ref)]));
    const symbols = await loadSymbols(context, [...asked.values()]);
    const known = new Map<string, ResolvedRef>();
    for (const [ref, one] of asked) known.set(ref, await resolveRef(context, view, one, symbols, slice));
    return { view, resolved: refs.map((ref) => known.get(ref)!) };
  });
}

/** All symbols among the refs in one question; one that is missing is found out when it is its turn. */
async function loadSymbols(context: ContextReader, asked: readonly AskedRef[]): Promise<Map<string, SymbolRow>> {
  const ids = new Set(asked.flatMap((one) => (one.kind === "symbol" ? [one.symbol_id] : [])));
  const rows = ids.size === 0 ? [] : await context.symbols([...ids].filter(isSymbolId));
  return new Map(rows.map((row) => [row.symbol.symbol_id, row]));
}

async function resolveRef(
  context: ContextReader,
  view: IndexView,
  asked: AskedRef,
  symbols: ReadonlyMap<string, SymbolRow>,
  forAll: string | undefined,
): Promise<ResolvedRef> {
  const slice = asked.slice ?? forAll ?? null;
  switch (asked.kind) {
    case "symbol": {
      const row = symbols.get(asked.symbol_id) ?? (await requireSymbol(context, asked.symbol_id));
      const target = parseTarget(row.symbol);
      const section = view.findLoaded(target) ?? (await resolvePin(context, view, target, row));
      return { ref: asked.symbol_id, slice: slice ?? row.symbol.default_slice_policy, section };
    }
    case "id": {
      const { digits } = asked;
      if (slice === null)
        throw new VerbatimError("SLICE_REQUIRED", { message: `the section ${digits} needs a slice`, where: digits });
      // What is recorded must say by itself which section it was, so a short id is completed first.
      const section_id = isHash(digits) ? digits : await completeId(context, view, digits);
      const target = { type: "SECTION", section_id } as const;
      const section = view.findLoaded(target) ?? (await view.resolve(context, target, section_id));
      return { ref: section_id, slice, section };
    }
    case "address": {
      const section = view.findLoaded(asked.target) ?? (await view.resolve(context, asked.target, asked.address));
      // The contract knows symbols and sections: the record names the section that the address meant.
      return { ref: section.section_id, asked: asked.address, slice, section };
    }
  }
}

/** What one ref would be, and what it costs; nothing is stored, recorded or charged. */
export async function lookAt(
  ports: Pick<ExpansionPorts, "store" | "views" | "crypto" | "contents">,
  ref: string,
  slice: string | undefined,
): Promise<Pick<Cut, "ref" | "slice" | "section" | "content" | "bytes" | "content_hash">> {
  const { view, resolved } = await resolveRefs(ports, [ref], slice);
  return cutRef(ports, view, resolved[0]!);
}

/** Cuts the refs in order and charges each; nothing after a breach is cut. */
function cutWithin(
  ports: Pick<ExpansionPorts, "crypto" | "contents">,
  view: IndexView,
  resolved: readonly ResolvedRef[],
  budgets: Budgets,
): { cuts: Cut[]; used: Budgets } {
  const meter = new BudgetMeter(
    resolved.map(({ ref }) => ref),
    budgets,
  );
  const cuts: Cut[] = [];
  // One step: a file is looked at once, and the same ref has the same content.
  const looked = new Set<string>();
  const made = new Map<ResolvedRef, Cut>();
  for (const one of resolved) {
    const cut = made.get(one) ?? cutRef(ports, view, one, looked);
    made.set(one, cut);
    cuts.push(cut);
    // What follows a breach is not charged, so it is not read either, and its own faults do not matter.
    const breach = meter.charge({ section_id: cut.section.section_id, bytes: cut.bytes.length });
    if (breach !== null) throw budgetError(breach, one.asked ?? one.ref);
  }
  const { totals } = meter;
  return { cuts, used: mapBudgets((budget) => Number(totals[budget])) };
}

/**
 * Cuts the slice of a ref out of its file, without storing anything. `looked` are the files that were found unchanged
 * in the same step.
 */
export function cutRef(
  ports: Pick<ExpansionPorts, "crypto" | "contents">,
  view: IndexView,
  { ref, asked, slice, section }: ResolvedRef,
  looked: Set<string> = new Set(),
): Cut {
  const lines = ports.contents.open(view, section, looked);
  const { line_start: first, line_end: last } = section;
  const taken = slice ?? defaultSlice(lines, first, last);
  const content = applySlice({ lines, first, last }, taken, asked ?? ref);
  const bytes = encodeUtf8(content);
  return { ref, slice: taken, section, content, bytes, content_hash: ports.crypto.sha256(bytes) };
}

/** The contract object of a cut. */
function toExpansion(run_id: string, cut: Cut): Expansion {
  return {
    run_id,
    symbol_or_section_id: cut.ref,
    slice: cut.slice,
    content_hash: cut.content_hash,
    payload_ref: `sha256:${cut.content_hash}`,
  };
}

/** Puts every payload into the content store once. */
async function storePayloads(ports: Pick<ExpansionPorts, "content" | "known">, cuts: readonly Cut[]): Promise<void> {
  const stored = new Set<string>();
  for (const { content_hash, bytes } of cuts) {
    if (ports.known.has(content_hash) || stored.has(content_hash)) continue;
    await ports.content.put(bytes);
    stored.add(content_hash);
  }
}

/** Once the ledger references a payload nobody collects it. */
function remember(known: Set<string>, cuts: readonly Cut[]): void {
  for (const { content_hash } of cuts) known.add(content_hash);
  for (const oldest of known) {
    if (known.size <= MOST_KNOWN) return;
    known.delete(oldest);
  }
}

function budgetError(breach: Breach, ref: string): VerbatimError {
  const list = breach.breaches.map(({ budget, used, limit }) => `${budget}: ${used} used, ${limit} allowed`).join("; ");
  const flags = breach.breaches
    .map(({ budget, used }) => `--${BUDGETS[budget].field.replaceAll("_", "-")} ${used}`)
    .join(" ");
  const limits = breach.breaches.map(({ budget, used }) => `${BUDGETS[budget].field} to ${used}`).join(", ");
  return new VerbatimError(breach.code, {
    message: `${list} (at ${ref}, number ${breach.ordinal}); nothing was returned`,
    where: ref,
    fix: { cli: `Ask for less, or raise the limit with ${flags}.`, others: `Ask for less, or raise ${limits}.` },
    details: { ordinal: breach.ordinal, breaches: breach.breaches },
  });
}

/** What someone asked for by name: a symbol, a section by its id or the start of it, or a written address. */
type AskedRef = { readonly slice: string | null } & (
  | { readonly kind: "symbol"; readonly symbol_id: string }
  | { readonly kind: "id"; readonly digits: string }
  | { readonly kind: "address"; readonly address: string; readonly target: Target }
);

/**
 * Reads a ref as people and models write it: `@CANON/RULES`, `0f3a...`, `docs/a.md`, `src/a.ts#Parser/parse`, each with a
 * slice of its own after a space where one is wanted. A space that belongs to a name that ends like a slice is `%20`.
 */
export function parseAskedRef(text: string): AskedRef {
  const space = text.lastIndexOf(" ");
  const hasSlice = space > 0 && splitSlice(text.slice(space + 1)) !== null;
  const ref = hasSlice ? text.slice(0, space) : text;
  const slice = hasSlice ? text.slice(space + 1) : null;
  if (ref.startsWith("@")) return { kind: "symbol", symbol_id: ref, slice };
  if (isHash(ref) || isShortId(ref)) return { kind: "id", digits: ref, slice };
  return { kind: "address", address: ref, target: parseSectionRef(ref), slice };
}

/** What an address gives when nobody says how much of it: at most this many lines and characters. */
export const DEFAULT_LINES = 80;
export const DEFAULT_CHARS = 6_000;

/**
 * The slice that an address without one has: the whole target where it is short, else its first lines, else its first
 * characters. What is recorded is this slice, so an expansion is bounded on its face like any other.
 */
export function defaultSlice(lines: LineText, first: number, last: number): string {
  const most = Math.min(last - first, DEFAULT_LINES);
  let count = 0;
  for (let chars = 0; count < most; count++) {
    const line = cutLines(lines, first + count, first + count + 1);
    // A line of more units than that has more characters than fit, and is not counted through.
    chars += line.length > 2 * DEFAULT_CHARS ? line.length : codePointLength(line);
    if (chars > DEFAULT_CHARS) break;
  }
  if (count > 0) return `lines[0:${count}]`;
  // An empty target has no valid slice; the one that is asked for then says so.
  return most === 0 ? "lines[0:1]" : `chars[0:${DEFAULT_CHARS}]`;
}

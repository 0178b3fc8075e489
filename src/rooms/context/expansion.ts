import { encodeUtf8, isHash, type JsonValue } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import type { ContentStore, Ids, SyncCrypto } from "../../core/ports.ts";
import {
  applySlice,
  type Breach,
  type Budgets,
  chargeBudgets,
  findNearest,
  parseSlice,
} from "../../core/text/index.ts";
import type { ContentCache } from "./content-cache.ts";
import type { Expansion, Section } from "./contracts.ts";
import type { IndexView, ViewCache } from "./index-view.ts";
import type { ContextReader, ContextStore, LastTarget, SymbolRow } from "./ports.ts";
import { resolveTarget } from "./resolution.ts";
import { parseSymbolId, parseTarget, type Target } from "./symbol.ts";

export interface ExpansionPorts {
  readonly store: ContextStore;
  readonly content: ContentStore;
  readonly crypto: SyncCrypto;
  readonly ids: Ids;
  readonly actor: string;
  readonly views: ViewCache;
  readonly contents: ContentCache;
  /** Payloads this process has stored or found stored; they need not be written again. */
  readonly known: Set<string>;
}

/** What an address means right now: the exact text, and where it is from. */
export interface Cut {
  readonly ref: string;
  readonly slice: string;
  readonly section: Section;
  readonly content: string;
  readonly bytes: Uint8Array;
  readonly content_hash: string;
}

export interface Expanded {
  readonly expansion: Expansion;
  readonly section: Section;
  readonly content: string;
  readonly bytes: number;
}

export interface ExpandRequest {
  readonly refs: readonly string[];
  /** For all refs; a symbol has its own otherwise. */
  readonly slice?: string | undefined;
  readonly run_id?: string | undefined;
  readonly budgets: Budgets;
}

/**
 * Expands refs: everything is resolved, cut and charged first, then stored and recorded. A breach or any error stores
 * nothing. Cost per ref: one stat, one hash of the slice; the file is read when it is not cached.
 */
export async function expandRefs(ports: ExpansionPorts, request: ExpandRequest) {
  const { refs, slice, budgets } = request;
  const cuts = await ports.store.read(async ({ context }) => {
    const view = await ports.views.open(context);
    const made: Cut[] = [];
    for (const ref of refs) made.push(await cutRef(ports, context, view, ref, slice));
    return made;
  });
  const symbols = refs.filter((ref) => ref.startsWith("@"));
  const charges = cuts.map(({ section, bytes }) => ({ section_id: section.section_id, bytes: bytes.length }));
  const { cumulative, breach } = chargeBudgets(symbols, charges, budgets);
  if (breach !== null) throw budgetError(breach, refs[breach.ordinal - 1]!);
  const run_id = request.run_id ?? ports.ids.uuid();
  await storePayloads(ports, cuts);
  const expansions = cuts.map((cut) => toExpansion(run_id, cut));
  await ports.store.transact(({ ledger }) =>
    ledger.append(
      "context",
      "next",
      expansions.map((expansion) => ({ kind: "EXPANSION", actor: ports.actor, body: expansion as JsonValue })),
    ),
  );
  const expanded: Expanded[] = cuts.map((cut, i) => ({
    expansion: expansions[i]!,
    section: cut.section,
    content: cut.content,
    bytes: cut.bytes.length,
  }));
  return { run_id, expansions: expanded, budget: cumulative.at(-1) ?? null };
}

/** Resolves a ref and cuts its slice, without storing anything. */
export async function cutRef(
  ports: Pick<ExpansionPorts, "crypto" | "contents">,
  context: ContextReader,
  view: IndexView,
  ref: string,
  asked: string | undefined,
): Promise<Cut> {
  const { target, symbol } = await findTarget(context, ref);
  const slice = asked ?? symbol?.symbol.default_slice_policy;
  if (slice === undefined)
    throw new VerbatimError("SLICE_REQUIRED", { message: `the section ${ref} needs an explicit slice` });
  parseSlice(slice);
  const section = await resolveNow(context, view, target, symbol, ref);
  const lines = ports.contents.open(view, section);
  const content = applySlice({ lines, first: section.line_start, last: section.line_end }, slice, ref);
  const bytes = encodeUtf8(content);
  return { ref, slice, section, content, bytes, content_hash: ports.crypto.sha256(bytes) };
}

/** What a ref points to: a section id to itself, a symbol to its target; SYMBOL_UNKNOWN with the nearest ids. */
export async function findTarget(
  context: ContextReader,
  ref: string,
): Promise<{ target: Target; symbol: SymbolRow | null }> {
  if (isHash(ref)) return { target: { type: "SECTION", section_id: ref }, symbol: null };
  const id = parseSymbolId(ref);
  const symbol = await context.symbol(id);
  if (symbol === null) throw await unknownSymbol(context, id);
  return { target: parseTarget(symbol.symbol), symbol };
}

/** The section a target means in a view; a pin that no longer holds says where it last pointed. */
export async function resolveNow(
  context: ContextReader,
  view: IndexView,
  target: Target,
  symbol: SymbolRow | null,
  label: string,
): Promise<Section> {
  await view.prepare(context, target);
  if (target.type === "SECTION" && symbol?.last != null && view.findSection(target.section_id) === undefined) {
    throw stalePin(symbol.symbol.symbol_id, target.section_id, symbol.last);
  }
  return resolveTarget(target, view, label);
}

function stalePin(id: string, sectionId: string, last: LastTarget): VerbatimError {
  const where = `${last.heading_path.length === 0 ? "the whole file" : last.heading_path.join("/")}, lines ${last.line_start}..${last.line_end}`;
  return new VerbatimError("SECTION_NOT_FOUND", {
    message: `${id} pins a section of ${last.file_path} (${where}) whose content has changed`,
    where: last.file_path,
    fix: `To pin the new content: verbatim symbol repin ${id}`,
    details: { section_id: sectionId, last },
  });
}

async function unknownSymbol(context: ContextReader, id: string): Promise<VerbatimError> {
  const ids: string[] = [];
  for (let after = ""; ; ) {
    const page = await context.symbolsAfter(after, 1000);
    ids.push(...page.map(({ symbol }) => symbol.symbol_id));
    if (page.length < 1000) break;
    after = ids.at(-1)!;
  }
  const nearest = findNearest(id, ids);
  const hint = nearest.length === 0 ? "" : `; nearest: ${nearest.join(", ")}`;
  return new VerbatimError("SYMBOL_UNKNOWN", {
    message: `there is no symbol ${id}${hint}`,
    details: { symbol_id: id, nearest },
  });
}

export function toExpansion(run_id: string, cut: Cut): Expansion {
  return {
    run_id,
    symbol_or_section_id: cut.ref,
    slice: cut.slice,
    content_hash: cut.content_hash,
    payload_ref: `sha256:${cut.content_hash}`,
  };
}

/** Puts every payload into the content store once. */
export async function storePayloads(
  ports: Pick<ExpansionPorts, "content" | "known">,
  cuts: readonly Cut[],
): Promise<void> {
  for (const { content_hash, bytes } of cuts) {
    if (ports.known.has(content_hash)) continue;
    await ports.content.put(bytes);
    ports.known.add(content_hash);
  }
}

const FLAGS = {
  max_symbols: "--max-symbols",
  max_sections: "--max-sections",
  max_bytes_expanded: "--max-bytes",
  max_expands_per_step: "--max-expands",
} as const;

function budgetError(breach: Breach, ref: string): VerbatimError {
  const first = breach.breaches[0]!;
  const list = breach.breaches.map(({ budget, used, limit }) => `${budget}: ${used} used, ${limit} allowed`).join("; ");
  return new VerbatimError(breach.code, {
    message: `${list} (at ${ref}, number ${breach.ordinal}); nothing was read out`,
    fix: `Ask for less, or raise the limit with ${FLAGS[first.budget]} ${first.used}.`,
    details: { ordinal: breach.ordinal, breaches: breach.breaches },
  });
}

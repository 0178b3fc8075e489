import { VerbatimError } from "../../../core/errors/index.ts";
import type { Author, Cast, Channel, Scope } from "../cast.ts";
import type { LedgerEntry } from "../check/context.ts";
import { isAllowed, type View } from "../gate.ts";
import { invalidCursor, readCursor } from "../ids.ts";
import type { EntryRange, ShownRow, WorldReader, WorldRow } from "../ports.ts";
import { type Numbers, toFilter, toNumbers } from "./audience.ts";
import { castOf, keyOf, parseState, type WorldState } from "./state.ts";
import type { WorldPorts } from "./world-ports.ts";

/** A world at one moment, as one transaction saw it. */
export interface OpenWorld {
  readonly number: number;
  readonly row: WorldRow;
  readonly state: WorldState;
  readonly cast: Cast;
  readonly numbers: Numbers;
}

/** Loads a world; WORLD_NOT_FOUND when there is none. */
export async function loadWorld(tables: WorldReader, worldId: string): Promise<OpenWorld> {
  const row = await tables.find(worldId);
  if (row === null) throw new VerbatimError("WORLD_NOT_FOUND", { where: worldId });
  return openRow(tables, row);
}

/** The same for a row at hand. */
export async function openRow(tables: WorldReader, row: WorldRow): Promise<OpenWorld> {
  const state = parseState(row.state);
  const people = await tables.people(row.number);
  const cast = castOf(state, people);
  return { number: row.number, row, state, cast, numbers: toNumbers(cast, people) };
}

// A world has few distinct audiences, and every line that is read has one.
const audiences = new Map<string, readonly string[]>();
const KEEP_AUDIENCES = 4096;

function parseAudience(text: string): readonly string[] {
  const known = audiences.get(text);
  if (known !== undefined) return known;
  const parsed = JSON.parse(text) as readonly string[];
  if (audiences.size >= KEEP_AUDIENCES) audiences.clear();
  audiences.set(text, parsed);
  return parsed;
}

/** A row as the ledger entry it is. */
export function toLedgerEntry(row: ShownRow): LedgerEntry {
  return {
    entry_id: row.entry_id,
    bundle_id: row.bundle_id,
    request_id: row.request_id,
    created_at_world: row.created_at,
    author: { author_id: row.author_id, author_class: row.author_class as Author["author_class"] },
    visibility: { scope: row.scope as Scope, visible_to: parseAudience(row.audience) },
    channel: row.channel as Channel,
    text: row.text,
    wseq: row.wseq,
  };
}

/** The entries of a range that a view may see. The store narrows, the gate decides. */
export async function readVisible(
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  range: Partial<EntryRange> & { readonly limit: number },
): Promise<LedgerEntry[]> {
  const filter = toFilter(world.numbers, view);
  const whole = { after: 0, before: world.state.next_wseq, newest: false };
  const rows = await tables.visible(world.number, filter, { ...whole, ...range });
  return gated(world, view, rows);
}

/** Rows a view may see, as ledger entries. */
export function gated(world: OpenWorld, view: View, rows: readonly ShownRow[]): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (const row of rows) {
    const entry = toLedgerEntry(row);
    if (isAllowed(world.cast, view, entry)) entries.push(entry);
  }
  return entries;
}

/** The number of the entry a cursor names for a viewer; CURSOR_INVALID for everything that does not hold. */
export async function resolveCursor(
  ports: Pick<WorldPorts, "crypto">,
  tables: WorldReader,
  world: OpenWorld,
  viewer: string,
  cursor: string,
  where?: string,
): Promise<number> {
  const entryId = readCursor(ports.crypto, keyOf(world.state), viewer, cursor);
  if (entryId === null) throw invalidCursor(where);
  const [entry] = gated(world, { kind: "viewer", id: viewer }, await tables.entriesById(world.number, [entryId]));
  if (entry === undefined) throw invalidCursor(where);
  return entry.wseq;
}

/** The view of a viewer over HTTP, CLI or library; an unknown one is PERSON_UNKNOWN. */
export function viewerView(world: OpenWorld, viewer: string, where = "/viewer"): View {
  if (viewer !== world.cast.operator_id && !world.cast.people.has(viewer)) {
    throw new VerbatimError("PERSON_UNKNOWN", { message: `${viewer} is nobody in this world`, where });
  }
  return { kind: "viewer", id: viewer };
}

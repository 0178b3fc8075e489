import { VerbatimError } from "../../../core/errors/index.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import type { Scope } from "../contracts/visibility.ts";
import { castOf, keyOf, parseState, type WorldState } from "../history/state.ts";
import { invalidCursor, readCursor } from "../ids.ts";
import { isAllowed, type View } from "../knowledge/gate.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { type Numbers, parseAudience, toFilter, toNumbers } from "../people/audience.ts";
import type { Author, Cast, Channel } from "../people/cast.ts";
import type { EntryRange, ShownRow, WorldReader, WorldRow } from "../ports.ts";

/** A world at one moment, as one transaction saw it. */
export interface OpenWorld {
  readonly number: number;
  readonly row: WorldRow;
  readonly state: WorldState;
  readonly cast: Cast;
  readonly numbers: Numbers;
}

/** What deciding who may see something needs of a world. */
export interface VisibleWorld {
  readonly number: number;
  readonly state: Pick<WorldState, "next_wseq">;
  readonly cast: Cast;
  readonly numbers: Numbers;
}

/** Loads a world; WORLD_NOT_FOUND when there is none. */
export async function loadWorld(tables: WorldReader, worldId: string): Promise<OpenWorld> {
  const found = tables.find(worldId);
  // SQLite has answered already, and every transaction begins with this.
  const row = found instanceof Promise ? await found : found;
  if (row === null) throw new VerbatimError("WORLD_NOT_FOUND", { where: worldId });
  return openRow(row);
}

/** The same for a row at hand. */
export function openRow(row: WorldRow): OpenWorld {
  const state = parseState(row);
  const { names, numbers } = parsePeople(row, state.settings.operator_id);
  return { number: row.number, row, state, cast: castOf(state, names), numbers };
}

interface People {
  readonly text: string;
  readonly operator_id: string;
  readonly names: ReadonlyMap<string, string>;
  readonly numbers: Numbers;
}

// Everything that is read of a world begins with who is who; the same text is the same people.
const latest = new Map<string, People>();
const KEEP_PEOPLE = 64;

function parsePeople({ world_id, people: text }: WorldRow, operator_id: string): People {
  const known = latest.get(world_id);
  if (known?.text === text && known.operator_id === operator_id) return known;
  const rows = (JSON.parse(text) as [number, string, string][]).map(([number, person_id, display_name]) => ({
    number,
    person_id,
    display_name,
  }));
  const people = {
    text,
    operator_id,
    names: new Map(rows.map(({ person_id, display_name }) => [person_id, display_name])),
    numbers: toNumbers({ operator_id }, rows),
  };
  if (latest.size >= KEEP_PEOPLE && known === undefined) latest.delete(latest.keys().next().value!);
  latest.set(world_id, people);
  return people;
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
  tables: Pick<WorldReader, "range" | "visible">,
  world: VisibleWorld,
  view: View,
  range: Partial<EntryRange> & { readonly limit: number },
): Promise<LedgerEntry[]> {
  const whole: EntryRange = { after: 0, before: world.state.next_wseq, newest: false, ...range };
  if (whole.before - whole.after <= 1) return [];
  // Most views see most lines, and reading a few too many costs less than looking for those that are visible.
  const look = whole.limit + Math.ceil(whole.limit / 4);
  const rows = await tables.range(world.number, { ...whole, limit: look });
  const seen = gated(world, view, rows);
  if (seen.length >= whole.limit) return whole.newest ? seen.slice(-whole.limit) : seen.slice(0, whole.limit);
  if (rows.length < look) return seen;
  const rest = { ...whole, limit: whole.limit - seen.length };
  const unread = whole.newest ? { ...rest, before: rows[0]!.wseq } : { ...rest, after: rows.at(-1)!.wseq };
  const filter = toFilter(world.numbers, view);
  const found = gated(world, view, await tables.visible(world.number, filter, unread));
  return whole.newest ? [...found, ...seen] : [...seen, ...found];
}

/** Rows a view may see, as ledger entries. */
export function gated(world: Pick<OpenWorld, "cast">, view: View, rows: readonly ShownRow[]): LedgerEntry[] {
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
  const own = readCursor(ports.crypto, keyOf(world.state), viewer, cursor);
  const inherited = own === null ? await readInherited(ports, tables, world, viewer, cursor) : null;
  const entryId = own ?? inherited?.entry_id ?? null;
  if (entryId === null) throw invalidCursor(where);
  const [entry] = gated(world, { kind: "viewer", id: viewer }, await tables.entriesById(world.number, [entryId]));
  if (entry === undefined || entry.wseq > (inherited?.upto_wseq ?? entry.wseq)) throw invalidCursor(where);
  return entry.wseq;
}

/** A cursor that was made in a world whose rows this one shares: a reader of a version keeps the place. */
async function readInherited(
  { crypto }: Pick<WorldPorts, "crypto">,
  tables: WorldReader,
  world: OpenWorld,
  viewer: string,
  cursor: string,
): Promise<{ readonly entry_id: string; readonly upto_wseq: number } | null> {
  for (const [ancestor, upto_wseq] of JSON.parse(world.row.lineage) as [number, number, number][]) {
    const id = await tables.idOf(ancestor);
    const row = id === null ? null : await tables.find(id);
    const entry_id = row === null ? null : readCursor(crypto, keyOf(parseState(row)), viewer, cursor);
    if (entry_id !== null) return { entry_id, upto_wseq };
  }
  return null;
}

/** The view of a viewer over HTTP, CLI or library; an unknown one is PERSON_UNKNOWN. */
export function viewerView(world: OpenWorld, viewer: string, where = "/viewer"): View {
  if (viewer !== world.cast.operator_id && !world.cast.people.has(viewer)) {
    throw new VerbatimError("PERSON_UNKNOWN", { message: `there is no person ${viewer} in this world`, where });
  }
  return { kind: "viewer", id: viewer };
}

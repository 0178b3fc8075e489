import { VerbatimError } from "../../../core/errors/index.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import type { CapsulePack, RetrievalResultPack } from "../contracts/packs.ts";
import type { Pocket, StreamEntry } from "../contracts/projection-output.ts";
import { isForEverybody } from "../contracts/visibility.ts";
import { keyOf } from "../history/state.ts";
import { makeCursor } from "../ids.ts";
import { CAPSULE_BYTES } from "../knowledge/capsule.ts";
import { makeCapsule } from "../knowledge/capsules.ts";
import type { View } from "../knowledge/gate.ts";
import { readMarks } from "../knowledge/marks.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { byTime, filterCalendar, readPocket } from "../people/pocket.ts";
import type { WorldReader } from "../ports.ts";
import { PACK_BYTES, type SearchQuery } from "../retrieval/search.ts";
import { searchWorld } from "../retrieval/world-search.ts";
import { formatInstant } from "../time/instant.ts";
import { toStreamEntry } from "./projection.ts";
import { gated, loadWorld, type OpenWorld, readVisible, resolveCursor, viewerView } from "./reading.ts";

interface PageQuery {
  readonly viewer: string | null;
  readonly after: string | null;
  readonly before: string | null;
  /** Entry in whose middle the page is. */
  readonly around?: string | null;
  readonly limit: number;
  /** Who reads: the owner is shown audiences, an operator request ids, a player its own (default: the owner). */
  readonly reader?: Reader;
}

export type Reader = "owner" | "operator" | "player" | "viewer";

/** What stands beside an entry of a page. */
interface EntryMeta {
  readonly entry_id: string;
  readonly cursor: string;
  readonly author_id: string;
  readonly author_class: string;
  readonly bundle_id: string;
  readonly scope: string;
  readonly visible_to: readonly string[];
  readonly corrects: string | null;
  readonly corrected_by: readonly string[];
  /** How many other texts an imported line had; for the owner, who may read them. */
  readonly swipes: number;
  readonly request_id: string | null;
}

interface Page {
  readonly viewer: string;
  readonly entries: readonly StreamEntry[];
  /** In the order of the entries. */
  readonly meta: readonly EntryMeta[];
  readonly cursor_before: string | null;
  readonly cursor_after: string | null;
  readonly has_more_before: boolean;
  readonly has_more_after: boolean;
  readonly pocket: Pocket;
}

/** A page of what a viewer may see. Without a cursor the newest. */
export async function readPage(ports: WorldPorts, worldId: string, query: PageQuery): Promise<Page> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const viewer = query.viewer ?? world.cast.operator_id;
    const view = viewerView(world, viewer);
    const resolve = async (cursor: string, where: string) =>
      resolveCursor(ports, tx.world, world, viewer, cursor, where);
    const after = query.after === null ? null : await resolve(query.after, "/after");
    const before = query.before === null ? null : await resolve(query.before, "/before");
    const { shown, hasAfter, hasBefore } =
      query.around == null
        ? await readPart(tx.world, world, view, { after, before, limit: query.limit })
        : await readAround(tx.world, world, view, query.around, query.limit);
    const cursor = (entry: LedgerEntry | undefined): string | null =>
      entry === undefined ? null : makeCursor(ports.crypto, keyOf(world.state), viewer, entry.entry_id);
    return {
      viewer,
      entries: shown.map((entry) => toStreamEntry(world.cast, entry)),
      meta: await readMeta(tx.world, world, viewer, query.reader ?? "owner", shown, (entry) => cursor(entry)!),
      cursor_before: cursor(shown[0]) ?? query.before ?? query.after,
      cursor_after: cursor(shown.at(-1)) ?? query.after ?? query.before,
      has_more_before: hasBefore,
      has_more_after: hasAfter,
      pocket: await readPocket(ports, tx.world, world, view),
    };
  });
}

interface Part {
  readonly shown: readonly LedgerEntry[];
  readonly hasBefore: boolean;
  readonly hasAfter: boolean;
}

async function readPart(
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  { after, before, limit }: { readonly after: number | null; readonly before: number | null; readonly limit: number },
): Promise<Part> {
  const range = {
    after: after ?? 0,
    before: before ?? world.state.next_wseq,
    limit: limit + 1,
    newest: after === null,
  };
  const found = await readVisible(tables, world, view, range);
  const more = found.length > limit;
  const shown = after === null ? found.slice(-limit) : found.slice(0, limit);
  return { shown, hasBefore: after === null ? more : true, hasAfter: after === null ? before !== null : more };
}

/** A page with a line in its middle; half of its lines come before that. */
async function readAround(
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  entryId: string,
  limit: number,
): Promise<Part> {
  const [middle] = gated(world, view, await tables.entriesById(world.number, [entryId]));
  if (middle === undefined) throw new VerbatimError("ENTRY_NOT_FOUND", { where: "/around" });
  const half = Math.floor(limit / 2);
  const before = await readVisible(tables, world, view, { before: middle.wseq, limit: half + 1, newest: true });
  const after = await readVisible(tables, world, view, { after: middle.wseq - 1, limit: limit - half + 1 });
  const shown = [...(half === 0 ? [] : before.slice(-half)), ...after.slice(0, limit - half)];
  return { shown, hasBefore: before.length > half, hasAfter: after.length > limit - half };
}

/** What stands beside entries. Nobody but the owner learns who else has a line; whose request it was, only some do. */
async function readMeta(
  tables: WorldReader,
  world: OpenWorld,
  viewer: string,
  reader: Reader,
  entries: readonly LedgerEntry[],
  toCursor: (entry: LedgerEntry) => string,
): Promise<EntryMeta[]> {
  const { corrects, corrected_by, swipes } = await readMarks(tables, world);
  return entries.map((entry) => {
    const { entry_id, author, bundle_id, visibility, request_id } = entry;
    const isOwn = reader === "player" && request_id.startsWith(`${viewer}.`);
    const knowsRequest = reader === "owner" || reader === "operator" || isOwn;
    const narrow = isForEverybody(visibility.scope) ? [] : [viewer];
    return {
      entry_id,
      cursor: toCursor(entry),
      author_id: author.author_id,
      author_class: author.author_class,
      bundle_id,
      scope: visibility.scope,
      visible_to: reader === "owner" ? visibility.visible_to : narrow,
      corrects: corrects.get(entry_id) ?? null,
      corrected_by: corrected_by.get(entry_id) ?? [],
      swipes: reader === "owner" ? (swipes.get(entry.wseq)?.count ?? 0) : 0,
      request_id: knowsRequest ? request_id : null,
    };
  });
}

/** One committed entry; hidden and unknown are the same. A viewer sees of the audience only itself. */
export async function readEntry(
  ports: WorldPorts,
  worldId: string,
  entryId: string,
  viewer: string | null,
  audience = false,
): Promise<Omit<LedgerEntry, "wseq">> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const view = viewerView(world, viewer ?? world.cast.operator_id);
    const [entry] = gated(world, view, await tx.world.entriesById(world.number, [entryId]));
    if (entry === undefined) throw new VerbatimError("ENTRY_NOT_FOUND", { where: "/entry_id" });
    const { wseq: _, visibility, ...rest } = entry;
    if (audience) return { ...rest, visibility };
    const visible_to = isForEverybody(visibility.scope) ? [] : [viewer ?? world.cast.operator_id];
    return { ...rest, visibility: { scope: visibility.scope, visible_to } };
  });
}

/** Searches as a viewer. */
export async function search(
  ports: WorldPorts,
  worldId: string,
  viewer: string | null,
  query: SearchQuery,
): Promise<RetrievalResultPack> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const view = viewerView(world, viewer ?? world.cast.operator_id);
    if (query.person_id !== null) viewerView(world, query.person_id, "/person");
    const head = { tool_request_id: "tr:0001", request_id: "search" };
    return searchWorld(ports, tx.world, world, view, query, { head, max_bytes: PACK_BYTES });
  });
}

/** The capsule of a person as a viewer may see it. */
export async function readCapsule(
  ports: WorldPorts,
  worldId: string,
  person: string,
  viewer: string | null,
): Promise<CapsulePack> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const view = viewerView(world, viewer ?? world.cast.operator_id);
    viewerView(world, person, "/person");
    return makeCapsule(ports, tx.world, world, view, person, CAPSULE_BYTES, worldTime(ports, world));
  });
}

/** The pocket of a viewer. */
export async function readViewerPocket(ports: WorldPorts, worldId: string, viewer: string | null): Promise<Pocket> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const view = viewerView(world, viewer ?? world.cast.operator_id);
    return readPocket(ports, tx.world, world, view);
  });
}

interface CalendarEntry {
  readonly item_id: string;
  readonly state: string;
  readonly title: string;
  readonly time: string | null;
  readonly location: string | null;
  readonly notes: string | null;
}

/** The calendar items a viewer may see, with the ids under which they can be closed. */
export async function readCalendar(
  ports: WorldPorts,
  worldId: string,
  viewer: string | null,
): Promise<readonly CalendarEntry[]> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const view = viewerView(world, viewer ?? world.cast.operator_id);
    const visible = filterCalendar(world, view, await tx.world.calendar(world.number));
    return visible
      .toSorted((a, b) => byTime(a.row, b.row))
      .map(({ row: { item_id, state }, item: { title, time, location, notes } }) => {
        return { item_id, state, title, time, location, notes };
      });
  });
}

/** The world's clock, printed. */
export function worldTime(ports: Pick<WorldPorts, "zones">, world: OpenWorld): string {
  return formatInstant(ports.zones, world.state.clock_ms, world.state.zone);
}

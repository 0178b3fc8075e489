import { VerbatimError } from "../../../core/errors/index.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import type { CapsulePack, RetrievalResultPack } from "../contracts/packs.ts";
import type { Pocket, StreamEntry } from "../contracts/projection-output.ts";
import { isForEverybody } from "../contracts/visibility.ts";
import { keyOf } from "../history/state.ts";
import { makeCursor } from "../ids.ts";
import { CAPSULE_BYTES } from "../knowledge/capsule.ts";
import { makeCapsule } from "../knowledge/capsules.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { byTime, filterCalendar, readPocket } from "../people/pocket.ts";
import { PACK_BYTES, type SearchQuery } from "../retrieval/search.ts";
import { searchWorld } from "../retrieval/world-search.ts";
import { formatInstant } from "../time/instant.ts";
import { toStreamEntry } from "./projection.ts";
import { gated, loadWorld, type OpenWorld, readVisible, resolveCursor, viewerView } from "./reading.ts";

interface PageQuery {
  readonly viewer: string | null;
  readonly after: string | null;
  readonly before: string | null;
  readonly limit: number;
}

interface Page {
  readonly viewer: string;
  readonly entries: readonly StreamEntry[];
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
    const range = {
      after: after ?? 0,
      before: before ?? world.state.next_wseq,
      limit: query.limit + 1,
      newest: after === null,
    };
    const found = await readVisible(tx.world, world, view, range);
    const more = found.length > query.limit;
    const shown = after === null ? found.slice(-query.limit) : found.slice(0, query.limit);
    const cursor = (entry: LedgerEntry | undefined): string | null =>
      entry === undefined ? null : makeCursor(ports.crypto, keyOf(world.state), viewer, entry.entry_id);
    return {
      viewer,
      entries: shown.map((entry) => toStreamEntry(world.cast, entry)),
      cursor_before: cursor(shown[0]) ?? query.before ?? query.after,
      cursor_after: cursor(shown.at(-1)) ?? query.after ?? query.before,
      has_more_before: after === null ? more : true,
      has_more_after: after === null ? before !== null : more,
      pocket: await readPocket(ports, tx.world, world, view),
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

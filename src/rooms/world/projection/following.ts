import { VerbatimError } from "../../../core/errors/index.ts";
import type { Pocket, StreamEntry } from "../contracts/projection-output.ts";
import { keyOf } from "../history/state.ts";
import { makeCursor } from "../ids.ts";
import type { View } from "../knowledge/gate.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { readPocket } from "../people/pocket.ts";
import type { BeatStatus, Hub } from "./hub.ts";
import { toStreamEntry } from "./projection.ts";
import { loadWorld, readVisible, resolveCursor, viewerView } from "./reading.ts";
import { readSurroundings, type Surroundings, type SurroundingsEvent, toEvents } from "./surroundings.ts";
import type { Reader } from "./views.ts";

type FollowEvent =
  | { readonly event: "entry"; readonly id: string; readonly data: StreamEntry }
  | { readonly event: "pocket"; readonly data: Pocket }
  | { readonly event: "status"; readonly data: BeatStatus }
  | SurroundingsEvent
  | { readonly event: "reset"; readonly data: Record<string, never> }
  /** Nothing happened for a while; a reader that wants to stop can do so now. */
  | { readonly event: "tick"; readonly data: Record<string, never> };

const FOLLOW_PAGE = 200;
/** How often other processes' commits are looked for. */
const LOOK_MS = 500;

/** Everything a viewer is shown from a cursor on, for ever. Only what was committed; model text is never in it. */
export async function* followWorld(
  ports: WorldPorts,
  hub: Hub,
  worldId: string,
  query: {
    readonly viewer: string | null;
    readonly after: string | null;
    /** Whether to begin with the first line when there is no cursor. */
    readonly whole: boolean;
    readonly status: boolean;
    readonly ticks: boolean;
    /** Who follows (default: the owner). */
    readonly reader?: Reader;
  },
): AsyncGenerator<FollowEvent> {
  const start = await startFollowing(ports, worldId, query);
  if (start === null) {
    yield { event: "reset", data: {} };
    return;
  }
  let { wseq, pocket, around } = start;
  const reader = query.reader ?? "owner";
  const statuses: BeatStatus[] = [];
  let wake: () => void = () => undefined;
  const stop = hub.listen(worldId, (status) => {
    // A player learns how its own requests are doing, and nobody else's.
    const isFor = status !== null && query.status && (reader !== "player" || status.speaker === start.viewer);
    if (isFor) statuses.push(status);
    if (status === null || isFor) wake();
  });
  try {
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      yield* statuses.splice(0).map((data) => ({ event: "status", data }) as const);
      const seen = await readSince(ports, worldId, start, wseq, around, reader);
      yield* seen.events;
      wseq = seen.wseq;
      around = seen.around;
      const now = JSON.stringify(seen.pocket);
      if (now !== pocket) yield { event: "pocket", data: seen.pocket };
      pocket = now;
      if (seen.more) continue;
      if (query.ticks) yield { event: "tick", data: {} };
      const alarm = new AbortController();
      await Promise.race([woken, ports.pace.sleep(LOOK_MS, alarm.signal)]);
      alarm.abort();
    }
  } finally {
    stop();
  }
}

interface Start {
  readonly wseq: number;
  readonly pocket: string;
  readonly view: View;
  readonly viewer: string;
  readonly around: Surroundings;
}

async function startFollowing(
  ports: WorldPorts,
  worldId: string,
  query: {
    readonly viewer: string | null;
    readonly after: string | null;
    readonly whole: boolean;
    readonly reader?: Reader;
  },
): Promise<Start | null> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const viewer = query.viewer ?? world.cast.operator_id;
    const view = viewerView(world, viewer);
    const pocket = JSON.stringify(await readPocket(ports, tx.world, world, view));
    const around = await readSurroundings(ports, tx, world, query.reader ?? "owner");
    const start = { pocket, view, viewer, around };
    if (query.after === null) return { ...start, wseq: query.whole ? 0 : world.state.next_wseq - 1 };
    try {
      return { ...start, wseq: await resolveCursor(ports, tx.world, world, viewer, query.after) };
    } catch (thrown) {
      if (thrown instanceof VerbatimError && thrown.code === "CURSOR_INVALID") return null;
      throw thrown;
    }
  });
}

async function readSince(
  ports: WorldPorts,
  worldId: string,
  { view, viewer }: Pick<Start, "view" | "viewer">,
  after: number,
  before: Surroundings,
  reader: Reader,
): Promise<{ events: FollowEvent[]; wseq: number; pocket: Pocket; around: Surroundings; more: boolean }> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const entries = await readVisible(tx.world, world, view, { after, limit: FOLLOW_PAGE });
    const key = keyOf(world.state);
    const events = entries.map(
      (entry): FollowEvent => ({
        event: "entry",
        id: makeCursor(ports.crypto, key, viewer, entry.entry_id),
        data: toStreamEntry(world.cast, entry),
      }),
    );
    const more = entries.length === FOLLOW_PAGE;
    const wseq = more ? entries.at(-1)!.wseq : world.state.next_wseq - 1;
    const around = await readSurroundings(ports, tx, world, reader);
    events.push(...(await toEvents(tx, world, before, around)));
    return { events, wseq, pocket: await readPocket(ports, tx.world, world, view), around, more };
  });
}

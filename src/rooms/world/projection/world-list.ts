import { compareCodePoints } from "../../../core/canonical/index.ts";
import { keptOf, parseState, storyOf, streamOf, type WorldState } from "../history/state.ts";
import { invalidCursor, makeNext, readNext, type WorldKey } from "../ids.ts";
import type { WorldPorts, WorldReadTransaction } from "../operations/ports.ts";
import { nameOf } from "../people/cast.ts";
import { toExcerpt } from "../retrieval/excerpt.ts";
import { formatInstant } from "../time/instant.ts";
import { loadWorld, type OpenWorld, readVisible, viewerView } from "./reading.ts";

export interface WorldQuery {
  /** Part of the title. */
  readonly q: string;
  readonly order: "activity" | "title";
  /** Whether versions are listed as well. */
  readonly versions: boolean;
  readonly limit: number;
  readonly after: string | null;
  /** The one story, and as whom, of a caller that has no other. */
  readonly story: string | null;
  readonly viewer: string | null;
  /** The owner is shown every clock. */
  readonly clocks: boolean;
}

export interface ListedWorld {
  readonly state: WorldState;
  readonly kept_world_id: string;
  readonly viewer: string;
  readonly people: number;
  readonly present: readonly string[];
  readonly world_time: string | null;
  readonly last: {
    readonly entry_id: string;
    readonly channel: string;
    readonly author_label: string | null;
    readonly excerpt: string;
    readonly created_at_world: string;
  } | null;
  /** When the newest line that the caller may see was recorded. */
  readonly last_activity: string | null;
}

const EXCERPT = { max_bytes: 200, lead_bytes: 0 } as const;

/** Worlds that a caller may open, page by page, each with its newest line that the caller may see. */
export async function listWorlds(
  ports: Pick<WorldPorts, "store" | "crypto" | "zones" | "graphemes">,
  query: WorldQuery,
): Promise<{ readonly worlds: readonly ListedWorld[]; readonly next: string | null }> {
  return ports.store.read(async (tx) => {
    const rows = (await tx.world.list()).map((row) => parseState(row));
    const byId = new Map(rows.map((state) => [state.world_id, state]));
    const keptIn = (state: WorldState): string => {
      const root = byId.get(storyOf(state));
      return root === undefined ? state.world_id : keptOf(root);
    };
    const wanted = query.q.toLowerCase();
    const fitting = rows.filter(
      (state) =>
        (query.versions || keptIn(state) === state.world_id) &&
        (query.story === null || storyOf(state) === query.story) &&
        state.settings.title.toLowerCase().includes(wanted),
    );
    const times = new Map(
      query.order === "activity" ? (await tx.world.lastRecords()).map(({ world_id, time }) => [world_id, time]) : [],
    );
    const timeOf = ({ world_id }: WorldState): string => times.get(world_id) ?? "";
    const ordered = fitting.sort((a, b) =>
      query.order === "title"
        ? compareCodePoints(a.settings.title, b.settings.title) || compareCodePoints(a.world_id, b.world_id)
        : compareCodePoints(timeOf(b), timeOf(a)) || compareCodePoints(a.world_id, b.world_id),
    );
    const key: WorldKey = { world_id: "", key: new TextEncoder().encode(await tx.ledger.ledgerId()) };
    const scope = ["worlds", query.q, query.order, String(query.versions), query.story ?? "", query.viewer ?? ""];
    const last = query.after === null ? null : readNext(ports.crypto, key, scope, query.after);
    const at = last === null ? -1 : ordered.findIndex(({ world_id }) => world_id === last);
    if (query.after !== null && at < 0) throw invalidCursor("/after");
    const page = ordered.slice(at + 1, at + 1 + query.limit);
    const worlds: ListedWorld[] = [];
    for (const state of page) {
      worlds.push(await toListed(ports, tx, await loadWorld(tx.world, state.world_id), keptIn(state), query));
    }
    const end = page.at(-1);
    const hasMore = at + 1 + page.length < ordered.length;
    const next = hasMore && end !== undefined ? makeNext(ports.crypto, key, scope, end.world_id) : null;
    return { worlds, next };
  });
}

async function toListed(
  ports: Pick<WorldPorts, "zones" | "graphemes">,
  tx: WorldReadTransaction,
  world: OpenWorld,
  kept_world_id: string,
  query: Pick<WorldQuery, "viewer" | "clocks">,
): Promise<ListedWorld> {
  const { cast, state } = world;
  const viewer = query.viewer ?? cast.operator_id;
  const [newest] = await readVisible(tx.world, world, viewerView(world, viewer), { limit: 1, newest: true });
  const { clock_hidden, available } = state.settings.pocket;
  const isHidden = !query.clocks && (clock_hidden || !available);
  return {
    state,
    kept_world_id,
    viewer,
    people: cast.people.size,
    present: cast.present,
    world_time: isHidden ? null : formatInstant(ports.zones, state.clock_ms, state.zone),
    last:
      newest === undefined
        ? null
        : {
            entry_id: newest.entry_id,
            channel: newest.channel,
            author_label: newest.channel === "PEOPLE" ? nameOf(cast, newest.author.author_id) : null,
            excerpt: toExcerpt(ports.graphemes, newest.text, EXCERPT),
            created_at_world: newest.created_at_world,
          },
    last_activity: newest === undefined ? null : await recordedAt(tx, world, newest.wseq),
  };
}

/** When the record of a line was written, whichever stream of the lineage it is in; null for what an export brought. */
async function recordedAt(tx: WorldReadTransaction, world: OpenWorld, wseq: number): Promise<string | null> {
  const lineage = await tx.world.lineage(world.number);
  const owner = lineage.find(({ upto_wseq }) => wseq <= upto_wseq)?.ancestor ?? world.number;
  const ownerId = await tx.world.idOf(owner);
  const [row] = await tx.world.scan(world.number, wseq - 1, 1);
  if (ownerId === null || row === undefined) return null;
  const [record] = await tx.ledger.readStream(streamOf(ownerId), row.position, 1);
  return record?.body.includes(row.entry_id) === true ? record.time : null;
}

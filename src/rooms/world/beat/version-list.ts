import type { Visibility } from "../contracts/visibility.ts";
import { type LineageRecord, readRecord, toRecord } from "../history/lineage.ts";
import { parseState, storyOf, streamOf } from "../history/state.ts";
import { isAllowed } from "../knowledge/gate.ts";
import type { WorldPorts, WorldReadTransaction } from "../operations/ports.ts";
import { type Cast, nameOf } from "../people/cast.ts";
import { loadWorld } from "../projection/reading.ts";
import { toExcerpt } from "../retrieval/excerpt.ts";
import { type BeatBody, findBeat, unknownBeat } from "./find-beat.ts";
import type { Sender } from "./speaker.ts";
import { groupOf, isKept, keptPath, knowsBeat } from "./versions.ts";

const EXCERPT = { max_bytes: 200, lead_bytes: 0 } as const;

export interface ListedVersion {
  readonly version_no: number;
  readonly world_id: string;
  readonly request_id: string;
  /** Null for one whose beat was not lived yet. */
  readonly result: string | null;
  readonly code: string | null;
  readonly made_at: string;
  readonly kept: boolean;
  /** Whether there are beats after it. */
  readonly goes_on: boolean;
  /** The first line that answers, as far as the caller may see it. */
  readonly first: {
    readonly entry_id: string;
    readonly author_label: string | null;
    readonly channel: string;
    readonly excerpt: string;
  } | null;
}

/** The versions of a beat, the one that was lived first among them. */
export async function listVersions(
  ports: WorldPorts,
  worldId: string,
  of: string | null,
  sender: Sender,
): Promise<{ readonly of: string; readonly versions: readonly ListedVersion[] }> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const beat = await findBeat(tx, worldId, of, knowsBeat(world.cast, sender));
    if (beat === null) throw unknownBeat();
    const group = groupOf(beat);
    const story = storyOf(world.state);
    const path = await keptPath(tx, story);
    const rows = await tx.world.versions(story, group.of);
    const original = await readBeat(tx, group.parent.world_id, group.parent.position + 1);
    const viewer = sender.role === "owner" ? null : world.cast.operator_id;
    const show = (place: Place, record: LineageRecord | null) => toListed(ports, tx, world.cast, viewer, place, record);
    const versions: ListedVersion[] = [];
    if (original !== null) {
      const { world_id, position } = group.parent;
      const kept = isKept(path, world_id, position + 1);
      const place = { version_no: 1, world_id, request_id: group.of, kept };
      versions.push(await show(place, original));
    }
    for (const { version_no, world_id, request_id } of rows) {
      const place = { version_no, world_id, request_id, kept: isKept(path, world_id, 1) };
      versions.push(await show(place, await readBeat(tx, world_id, 1)));
    }
    return { of: group.of, versions };
  });
}

type Place = Pick<ListedVersion, "version_no" | "world_id" | "request_id" | "kept">;

async function readBeat(tx: WorldReadTransaction, worldId: string, position: number): Promise<LineageRecord | null> {
  const [entry] = await tx.ledger.readStream(streamOf(worldId), position, 1);
  return entry === undefined || entry.kind !== "WORLD_BEAT" ? null : toRecord(entry, worldId, null);
}

async function toListed(
  ports: Pick<WorldPorts, "graphemes">,
  tx: WorldReadTransaction,
  cast: Cast,
  viewer: string | null,
  place: Place,
  record: LineageRecord | null,
): Promise<ListedVersion> {
  const { version_no, world_id, request_id, kept } = place;
  if (record === null) {
    const [planted] = await tx.ledger.readStream(streamOf(world_id), 0, 1);
    const nothing = { result: null, code: null, goes_on: false, first: null };
    return { version_no, world_id, request_id, made_at: planted!.time, kept, ...nothing };
  }
  const body = readRecord(record).body as BeatBody;
  const row = await tx.world.find(world_id);
  const newest = row === null ? 0 : parseState(row).next_beat - 1;
  const spoke = body.spoke ?? body.write_bundle?.entries[0]?.channel === "USER";
  const lines = (body.write_bundle?.entries ?? []).slice(spoke ? 1 : 0);
  const seen = lines.find(({ visibility }) => viewer === null || sees(cast, viewer, visibility));
  return {
    version_no,
    world_id,
    request_id,
    result: body.result ?? null,
    code: body.code ?? null,
    made_at: record.entry.time,
    kept,
    goes_on: newest > (body.beat_no ?? newest),
    first:
      seen === undefined
        ? null
        : {
            entry_id: seen.entry_id!,
            author_label: seen.channel === "PEOPLE" ? nameOf(cast, seen.author.author_id) : null,
            channel: seen.channel,
            excerpt: toExcerpt(ports.graphemes, seen.text, EXCERPT),
          },
  };
}

function sees(cast: Cast, id: string, visibility: Visibility): boolean {
  return isAllowed(cast, { kind: "viewer", id }, { visibility });
}

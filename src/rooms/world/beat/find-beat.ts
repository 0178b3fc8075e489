import { VerbatimError } from "../../../core/errors/index.ts";
import type { LedgerReader } from "../../../core/ports.ts";
import type { WorldRecordBody } from "../contracts/records.ts";
import { type LineageRecord, readRecord, toRecord } from "../history/lineage.ts";
import { parseState, streamOf, type VersionOf, type WorldState } from "../history/state.ts";
import type { WorldReadTransaction } from "../operations/ports.ts";
import { readHeaders } from "./invocation.ts";

export type BeatBody = WorldRecordBody<"WORLD_BEAT">;

/** A beat where its record is: in a world's own stream, or in that of an ancestor. */
export interface FoundBeat {
  readonly world_id: string;
  readonly position: number;
  readonly time: string;
  readonly body: BeatBody;
  /** Where it is a version: of what, and behind which record it was planted. */
  readonly version: {
    readonly of: VersionOf;
    readonly parent: { readonly world_id: string; readonly position: number };
  } | null;
}

/** Whether a beat is one that whoever asks may know of. */
type Knows = (beat: FoundBeat) => Promise<boolean>;

/** A beat of a world's past by its request id, or the newest; null where there is none that its caller may know of. */
export async function findBeat(
  tx: WorldReadTransaction,
  worldId: string,
  requestId: string | null,
  knows: Knows,
): Promise<FoundBeat | null> {
  let at: { readonly world_id: string; readonly position: number } | null = {
    world_id: worldId,
    position: Number.MAX_SAFE_INTEGER,
  };
  while (at !== null) {
    const row = await tx.world.find(at.world_id);
    if (row === null) return null;
    const state = parseState(row);
    const upto: number = at.position;
    if (requestId === null) {
      for await (const record of beatsBackwards(tx.ledger, at.world_id, upto)) {
        const beat = toFound(record, state);
        if (await knows(beat)) return beat;
      }
    } else {
      // In a version its beat goes by the id of the first one as well.
      const own = state.story?.of === requestId && upto > 0 ? state.story.request_id : requestId;
      const record = await findNamed(tx, row.number, at.world_id, upto, own);
      if (record !== null) {
        const beat = toFound(record, state);
        return (await knows(beat)) ? beat : null;
      }
    }
    at = state.parent;
  }
  return null;
}

/** The refusal of a beat that is not there for whoever asks. */
export function unknownBeat(): VerbatimError {
  return new VerbatimError("INVOCATION_NOT_FOUND", { where: "/of" });
}

function toFound(record: LineageRecord, state: WorldState): FoundBeat {
  const { world_id, position, entry } = record;
  const body = readRecord(record).body as BeatBody;
  const { story, parent } = state;
  const isVersion = story !== undefined && parent !== null && story.request_id === body.request_id;
  return { world_id, position, time: entry.time, body, version: isVersion ? { of: story, parent } : null };
}

async function findNamed(
  tx: WorldReadTransaction,
  number: number,
  worldId: string,
  upto: number,
  requestId: string,
): Promise<LineageRecord | null> {
  const stored = await tx.world.invocation(number, requestId);
  const place = stored?.status === "DONE" && stored.headers !== null ? readHeaders(stored.headers).beat : null;
  if (place !== null && place.position <= upto) {
    const [entry] = await tx.ledger.readStream(streamOf(worldId), place.position, 1);
    const record = entry === undefined ? null : toRecord(entry, worldId, null);
    if (record?.kind === "WORLD_BEAT" && record.body["request_id"] === requestId) return record;
  }
  // A beat without an answer here, or one that was written before answers said where their beat is.
  if (stored?.status !== "DONE") return null;
  for await (const record of beatsBackwards(tx.ledger, worldId, upto)) {
    if (record.body["request_id"] === requestId) return record;
  }
  return null;
}

const PAGE = 64;

/** The beats of a stream up to a record, newest first. */
export async function* beatsBackwards(
  ledger: LedgerReader,
  worldId: string,
  upto: number,
): AsyncGenerator<LineageRecord> {
  const head = await ledger.head(streamOf(worldId));
  let end = Math.min(upto, head?.position ?? -1) + 1;
  while (end > 0) {
    const from = Math.max(0, end - PAGE);
    const page = await ledger.readStream(streamOf(worldId), from, end - from);
    for (const entry of page.reverse()) if (entry.kind === "WORLD_BEAT") yield toRecord(entry, worldId, null);
    end = from;
  }
}

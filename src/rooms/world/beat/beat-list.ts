import { type LineageRecord, readRecord } from "../history/lineage.ts";
import { keyOf, parseState, storyOf, type WorldState } from "../history/state.ts";
import { invalidCursor, makeNext, readNext } from "../ids.ts";
import { isAllowed } from "../knowledge/gate.ts";
import type { WorldPorts, WorldReadTransaction } from "../operations/ports.ts";
import type { Cast } from "../people/cast.ts";
import { loadWorld } from "../projection/reading.ts";
import { formatInstant } from "../time/instant.ts";
import { parseCall } from "./calls.ts";
import { type BeatBody, beatsBackwards } from "./find-beat.ts";
import type { Sender } from "./speaker.ts";
import { knowsBeat } from "./versions.ts";

export interface ListedBeat {
  readonly request_id: string;
  readonly speaker: string;
  readonly kind: "BEAT" | "LINE";
  readonly result: string | null;
  readonly code: string | null;
  readonly at: string;
  readonly world_time: string;
  readonly bundle_id: string | null;
  readonly entry_ids: readonly string[];
  /** How many times it was lived, the first one included. */
  readonly versions: number;
  readonly calls?: number;
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly rehydrated?: boolean;
  readonly lint?: readonly string[];
}

export interface BeatQuery {
  readonly speaker: string | null;
  readonly limit: number;
  readonly after: string | null;
}

/** Beats of a world, newest first, those of its past included; an operator is shown what it may know of. */
export async function listBeats(
  ports: Pick<WorldPorts, "store" | "crypto" | "zones">,
  worldId: string,
  query: BeatQuery,
  sender: Sender,
): Promise<{ readonly beats: readonly ListedBeat[]; readonly next: string | null }> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const { cast, state } = world;
    const key = keyOf(state);
    const scope = ["beats", sender.role, query.speaker ?? ""];
    const last = query.after === null ? null : readNext(ports.crypto, key, scope, query.after);
    if (query.after !== null && last === null) throw invalidCursor("/after");
    const knows = knowsBeat(cast, sender);
    const beats: ListedBeat[] = [];
    let isBehind = last === null;
    for await (const record of beatsOfLineage(tx, worldId)) {
      const body = readRecord(record).body as BeatBody;
      const speaker = body.speaker ?? cast.operator_id;
      if (!isBehind) {
        isBehind = body.request_id === last;
        continue;
      }
      if (query.speaker !== null && speaker !== query.speaker) continue;
      const found = {
        world_id: record.world_id,
        position: record.position,
        time: record.entry.time,
        body,
        version: null,
      };
      if (!(await knows(found))) continue;
      if (beats.length === query.limit) {
        return { beats, next: makeNext(ports.crypto, key, scope, beats.at(-1)!.request_id) };
      }
      beats.push(await toListed(ports, tx, world.number, state, cast, sender, record, body));
    }
    return { beats, next: null };
  });
}

/** Beats of a world and of its ancestors, newest first. */
async function* beatsOfLineage(tx: WorldReadTransaction, worldId: string): AsyncGenerator<LineageRecord> {
  let at: WorldState["parent"] = { world_id: worldId, position: Number.MAX_SAFE_INTEGER };
  while (at !== null) {
    const row = await tx.world.find(at.world_id);
    if (row === null) return;
    yield* beatsBackwards(tx.ledger, at.world_id, at.position);
    at = parseState(row).parent;
  }
}

async function toListed(
  ports: Pick<WorldPorts, "zones">,
  tx: WorldReadTransaction,
  number: number,
  state: WorldState,
  cast: Cast,
  sender: Sender,
  { entry }: LineageRecord,
  body: BeatBody,
): Promise<ListedBeat> {
  const view = { kind: "viewer", id: cast.operator_id } as const;
  const isOwner = sender.role === "owner";
  const lines = (body.write_bundle?.entries ?? []).filter((line) => isOwner || isAllowed(cast, view, line));
  const versions = await tx.world.versions(storyOf(state), body.request_id);
  const shown: ListedBeat = {
    request_id: body.request_id,
    speaker: body.speaker ?? cast.operator_id,
    kind: body.ran_writer === false ? "LINE" : "BEAT",
    result: body.result ?? null,
    code: body.code ?? null,
    at: entry.time,
    world_time: formatInstant(ports.zones, body.clock_after_ms, body.zone),
    bundle_id: lines.length === 0 ? null : (body.write_bundle?.bundle_id ?? null),
    entry_ids: lines.map(({ entry_id }) => entry_id!),
    versions: versions.length + 1,
  };
  if (!isOwner) return shown;
  const calls = (await tx.world.calls(number, body.request_id, MOST_CALLS)).map(parseCall);
  const sum = (pick: (call: (typeof calls)[number]) => number | null): number | null => {
    const known = calls.map(pick).filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((a, b) => a + b, 0);
  };
  return {
    ...shown,
    calls: calls.length,
    input_tokens: sum((call) => call.reported_input_tokens),
    output_tokens: sum((call) => call.reported_output_tokens),
    rehydrated: body.packs.some(({ kind }) => kind === "rehydration"),
    lint: [...new Set(calls.flatMap(({ lint }) => lint))],
  };
}

const MOST_CALLS = 500;

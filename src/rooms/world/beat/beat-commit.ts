import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { Envelope } from "../contracts/envelope.ts";
import type { ProjectionOutput } from "../contracts/projection-output.ts";
import { WORLD_RECORDS } from "../contracts/records.ts";
import { WRITER_ENGINE } from "../contracts/tool-request.ts";
import { writeRows } from "../history/commit.ts";
import { keepImage } from "../history/image.ts";
import { makeRows } from "../history/make-rows.ts";
import { streamOf } from "../history/state.ts";
import type { Frame } from "../knowledge/frames.ts";
import type { ChosenTurns } from "../knowledge/turns.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";
import { type OpenWorld, openRow } from "../projection/reading.ts";
import type { ClockMove } from "../time/clock.ts";
import type { BeatOutcome } from "../writer/beat-loop.ts";
import { toWriteBundle } from "./bundle.ts";
import { KEEP_CALLS, toCallRows } from "./calls.ts";
import { type InvocationLease, requireLease } from "./claims.ts";
import { toDone, type ValidInvocation } from "./invocation.ts";
import { makeOutcome } from "./outcome.ts";
import { toSpokenLine } from "./speaker.ts";
import type { Writing } from "./writing.ts";

/** What a beat came to. */
export interface BeatWork {
  readonly move: ClockMove;
  readonly frames: readonly Frame[];
  readonly turns: ChosenTurns | null;
  readonly writing: Writing;
  readonly outcome: BeatOutcome;
}

/** Writes a beat and its answer in one transaction and gives the bytes of the answer. */
export async function commitBeat(
  ports: WorldPorts,
  checked: ValidInvocation,
  lease: InvocationLease,
  work: BeatWork,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const { world_id, envelope, body_sha256, cursor, speaker } = checked;
  const { move, frames, turns, writing, outcome } = work;
  const write = async (tx: WorldWriteTransaction): Promise<string> => {
    const row = await tx.world.hold(world_id);
    const stored = await requireLease(tx, row, lease);
    const before = openRow(row!);
    const spoken = toSpokenLine(before.cast, checked, envelope.operator.input_text);
    const bundle = toWriteBundle(ports.crypto, before.state, {
      request_id: envelope.request_id,
      created_at_world: move.world_time,
      proposed_by: toProposer(envelope, outcome),
      lines: [...(spoken === null ? [] : [spoken]), ...outcome.lines],
    });
    const record = {
      beat_no: before.state.next_beat,
      request_id: envelope.request_id,
      body_sha256,
      clock_before_ms: before.state.clock_ms,
      clock_after_ms: move.clock_ms,
      zone: move.zone,
      paused: move.paused,
      present: [...before.state.present],
      scene_no: before.state.scene_no,
      speaker: speaker.id,
      spoke: spoken !== null,
      corrects: checked.corrects?.entry_id ?? null,
      ran_writer: checked.runs_writer,
      write_bundle: bundle,
      due: [...move.due],
      packs: frames.flatMap(({ made }) => made),
      anchors: frames.flatMap(({ anchor }) => anchor ?? []),
      rehydration: frames.flatMap(({ rehydration }) => rehydration ?? []),
      script_used: [...writing.scriptUsed],
      passes: outcome.passes.map(({ plan, result, error, raw }) => ({
        actor: plan.actor,
        result,
        code: error?.code ?? null,
        where: error?.where ?? null,
        output_sha256: raw === null ? null : ports.crypto.sha256(raw.toWellFormed()),
      })),
      lore: frames.flatMap(({ plan, parts }) => toSent(plan.actor, parts.told.lore)),
      pins: frames.flatMap(({ plan, parts }) => toSent(plan.actor, parts.told.pinned)),
      ...(turns === null ? {} : { turns: { kind: turns.kind, chosen: [...turns.chosen] } }),
      result: outcome.result,
      code: outcome.error?.code ?? null,
    };
    const head = await tx.ledger.head(streamOf(world_id));
    const position = (head?.position ?? -1) + 1;
    const rows = makeRows(ports.crypto, before, [{ record: { kind: "WORLD_BEAT", body: record }, position }]);
    const after: OpenWorld = { ...before, state: rows.effects.state };
    const parts = {
      request_id: envelope.request_id,
      viewer: speaker.viewer,
      mode: "BEAT",
      cursor,
      bundle,
    } as const;
    const output: ProjectionOutput = await makeOutcome(ports, tx.world, before, after, parts);
    const text = JSON.stringify(output);
    const sealed = { ...record, outcome_sha256: ports.crypto.sha256(text) };
    const entry = WORLD_RECORDS.make("WORLD_BEAT", ports.actor, sealed);
    await tx.ledger.append(streamOf(world_id), position, [entry]);
    const keeping = keepImage(tx.world, row!, before.state, position);
    if (keeping !== undefined) await keeping;
    await writeRows(tx.world, before, rows);
    await keepCalls(tx, lease.number, writing);
    await tx.world.putInvocation(lease.number, toDone(stored, text, headers, { position, viewer: speaker.viewer }));
    await tx.world.setLock(lease.number, null, 0);
    return text;
  };
  return ports.store.transact(write).catch(refuseEdit);
}

/** Keeps the model calls of a beat for the inspector. */
export async function keepCalls(tx: WorldWriteTransaction, world: number, writing: Writing): Promise<void> {
  await tx.world.addCalls(world, await toCallRows(tx.world, world, writing.calls), KEEP_CALLS);
}

/** The database's guards speak about history here. */
function refuseEdit(thrown: unknown): never {
  if (!isVerbatimError(thrown) || thrown.code !== "STORE_REFUSED") throw thrown;
  throw new VerbatimError("APPEND_ONLY", { message: thrown.message, cause: thrown });
}

/** What a pass was sent besides what was lived, by the ids of its lines. */
function toSent(actor: string, lines: readonly { readonly entry_id: string }[]) {
  return lines.length === 0 ? [] : [{ actor, entry_ids: lines.map(({ entry_id }) => entry_id) }];
}

function toProposer(envelope: Envelope, outcome: BeatOutcome): { engine: string; actor: string } {
  const wrote = outcome.passes.filter(({ lines }) => lines.length > 0);
  if (wrote.length === 0) return { engine: "ENGINE_1_INVOCATION", actor: envelope.invoker.invoker_id };
  return { engine: WRITER_ENGINE, actor: wrote.length > 1 ? "WORLD" : wrote[0]!.plan.actor };
}

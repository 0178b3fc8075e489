import type { Capsules } from "../knowledge/capsules.ts";
import { type Frame, makeFrame, planPasses, requireFits, type Said } from "../knowledge/frames.ts";
import { isAllowed } from "../knowledge/gate.ts";
import { type ChosenTurns, chooseTurns } from "../knowledge/turns.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { nameOf, WORLD } from "../people/cast.ts";
import { withPlayers } from "../people/players.ts";
import { loadWorld, type OpenWorld } from "../projection/reading.ts";
import type { Settings } from "../settings.ts";
import { type ClockMove, moveClock, repeatMove } from "../time/clock.ts";
import { isStopRequested } from "./claims.ts";
import type { ValidInvocation } from "./invocation.ts";
import { requireHere, toSpokenLine } from "./speaker.ts";
import { rulesOf } from "./writing.ts";

interface Prepared {
  readonly world: OpenWorld;
  readonly move: ClockMove;
  readonly frames: readonly Frame[];
  readonly turns: ChosenTurns | null;
  readonly stopped: boolean;
  readonly runs_writer: boolean;
}

/** Whether every player who is here has sent something since a writer last ran. */
function isRoundFull({ cast, state }: OpenWorld, speaker: string): boolean {
  const sent = new Set([...(state.round ?? []), speaker]);
  return [...(cast.players ?? [])].every((id) => !cast.present.includes(id) || sent.has(id));
}

/** Settings with one of their writers for all passes. */
function withWriter(settings: Settings, name: string | null): Settings {
  const writer = name === null ? undefined : settings.writers?.[name];
  return writer === undefined ? settings : { ...settings, writer, casting: {} };
}

/** The speaker's words as passes are sent them: a pass that may not have the line hears silence. */
function toSaid(world: OpenWorld, checked: ValidInvocation, speaker: string): Said {
  const { cast } = world;
  const { input_text } = checked.envelope.operator;
  const line = toSpokenLine(cast, checked, input_text);
  const name = speaker === WORLD ? null : nameOf(cast, speaker);
  return {
    whole: { name, text: input_text },
    heardBy: (view) =>
      line === null || isAllowed(cast, view, line)
        ? { name, text: input_text }
        : { name: cast.operator_name, text: "" },
  };
}

/** Clock and frames, before any writer is called. `elapsed_ms` is the real time since time last began to count. */
export async function prepareBeat(
  ports: WorldPorts,
  capsules: Capsules,
  checked: ValidInvocation,
  elapsed_ms: number,
): Promise<Prepared> {
  const { envelope, world_id, speaker } = checked;
  return ports.store.read(async (tx) => {
    const before = await withPlayers(tx.world, await loadWorld(tx.world, world_id), ports.clock.now());
    const { time, pause_time } = envelope.declared_overrides;
    const { clock_ms, zone, paused, settings } = before.state;
    const items = await tx.world.calendar(before.number);
    const { again } = checked;
    const move =
      again === undefined
        ? moveClock(
            ports.zones,
            { clock_ms, zone, paused, policy: settings.time_policy },
            { kind: "BEAT", ...time, pause_time, elapsed_ms },
            items,
          )
        : repeatMove(ports.zones, clock_ms, again.clock, items);
    const due = new Set(move.due);
    const moved = { ...before.state, clock_ms: move.clock_ms, zone: move.zone };
    const world: OpenWorld = { ...before, state: { ...moved, settings: withWriter(settings, again?.writer ?? null) } };
    requireHere(world.cast, checked);
    const runs = checked.runs_writer && (!checked.round || isRoundFull(world, speaker.id));
    const runs_writer = runs && (checked.again?.lines ?? null) === null;
    const said = toSaid(world, checked, speaker.id);
    const heard = said.heardBy({ kind: "room", present: world.cast.present }).text;
    const turns = runs_writer && settings.cast === "turns" ? await chooseTurns(tx.world, world, heard) : null;
    const request = {
      request_id: envelope.request_id,
      world_time: move.world_time,
      said,
      turns,
      rules: rulesOf(world, ports).text,
      capsules,
      // What becomes due with this beat is an opportunity of this beat already.
      calendar: items.map((row) => (due.has(row.item_id) ? { ...row, state: "DUE" as const } : row)),
    };
    const passes = runs_writer ? planPasses(world, turns) : [];
    if (runs_writer) requireFits(ports, world, request);
    const frames: Frame[] = [];
    for (const pass of passes) frames.push(await makeFrame(ports, tx.world, world, pass, request));
    // Someone may have pressed Stop while this beat waited for its turn.
    const stopped = isStopRequested(await tx.world.invocation(before.number, envelope.request_id));
    return { world, move, frames, turns, stopped, runs_writer: runs };
  });
}

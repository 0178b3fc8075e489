import type { Capsules } from "../knowledge/capsules.ts";
import { type Frame, makeFrame, planPasses, requireFits } from "../knowledge/frames.ts";
import { type ChosenTurns, chooseTurns } from "../knowledge/turns.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { loadWorld, type OpenWorld } from "../projection/reading.ts";
import { type ClockMove, moveClock } from "../time/clock.ts";
import { isStopRequested } from "./claims.ts";
import type { ValidInvocation } from "./invocation.ts";
import { rulesOf } from "./writing.ts";

interface Prepared {
  readonly world: OpenWorld;
  readonly move: ClockMove;
  readonly frames: readonly Frame[];
  readonly turns: ChosenTurns | null;
  readonly stopped: boolean;
}

/** Clock and frames, before any writer is called. `elapsed_ms` is the real time since time last began to count. */
export async function prepareBeat(
  ports: WorldPorts,
  capsules: Capsules,
  checked: ValidInvocation,
  elapsed_ms: number,
): Promise<Prepared> {
  const { envelope, world_id } = checked;
  return ports.store.read(async (tx) => {
    const before = await loadWorld(tx.world, world_id);
    const { time, pause_time } = envelope.declared_overrides;
    const { clock_ms, zone, paused, settings } = before.state;
    const items = await tx.world.calendar(before.number);
    const move = moveClock(
      ports.zones,
      { clock_ms, zone, paused, policy: settings.time_policy },
      { kind: "BEAT", ...time, pause_time, elapsed_ms },
      items,
    );
    const due = new Set(move.due);
    const world: OpenWorld = { ...before, state: { ...before.state, clock_ms: move.clock_ms, zone: move.zone } };
    const said = envelope.operator.input_text;
    const turns = settings.cast === "turns" ? await chooseTurns(tx.world, world, said) : null;
    const request = {
      request_id: envelope.request_id,
      world_time: move.world_time,
      operator_text: said,
      turns,
      rules: rulesOf(world, ports).text,
      capsules,
      // What becomes due with this beat is an opportunity of this beat already.
      calendar: items.map((row) => (due.has(row.item_id) ? { ...row, state: "DUE" as const } : row)),
    };
    requireFits(ports, world, request);
    const frames: Frame[] = [];
    for (const pass of planPasses(world, turns)) frames.push(await makeFrame(ports, tx.world, world, pass, request));
    // Someone may have pressed Stop while this beat waited for its turn.
    const stopped = isStopRequested(await tx.world.invocation(before.number, envelope.request_id));
    return { world, move, frames, turns, stopped };
  });
}

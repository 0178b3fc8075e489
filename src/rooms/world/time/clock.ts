import { assertNever, VerbatimError } from "../../../core/errors/index.ts";
import type { Zones } from "../ports.ts";
import { formatInstant, parseWritten, requireRange, requireZone, toInstant } from "./instant.ts";

/** How time moves when nobody declares it. */
export type TimePolicy =
  | { readonly kind: "explicit" }
  | { readonly kind: "step"; readonly step_ms: number }
  | { readonly kind: "rate"; readonly rate_milli: number; readonly max_elapsed_ms?: number };

const MAX_ELAPSED_MS = 3_600_000;

export interface ClockState {
  readonly clock_ms: number;
  readonly zone: string;
  readonly paused: boolean;
  readonly policy: TimePolicy;
}

/** What an invocation says about time. */
export interface ClockDeclaration {
  readonly kind: "BEAT" | "NO_OP";
  readonly declared_world_time: string | null;
  readonly timezone: string | null;
  readonly pause_time: boolean | null;
  /** Monotonic real milliseconds since the last of previous beat, resume, process start. */
  readonly elapsed_ms: number;
}

/** A calendar item as the clock sees it, in order of creation. */
export interface ScheduledItem {
  readonly item_id: string;
  readonly state: string;
  readonly time_ms: number | null;
}

export interface ClockMove {
  readonly clock_ms: number;
  readonly zone: string;
  readonly paused: boolean;
  readonly world_time: string;
  /** Items that become due, by time and creation. */
  readonly due: readonly string[];
}

const ZONE_WHERE = "/declared_overrides/time/timezone";
const WHERE = "/declared_overrides/time/declared_world_time";

/** The clock after an invocation. Time moves only when someone says so, and never back. */
export function moveClock(
  zones: Zones,
  state: ClockState,
  declared: ClockDeclaration,
  items: readonly ScheduledItem[],
): ClockMove {
  if (declared.kind === "NO_OP") return toMove(zones, state.clock_ms, state.zone, state.paused, []);
  const zone = declared.timezone === null ? state.zone : requireZone(zones, declared.timezone, ZONE_WHERE);
  const paused = declared.pause_time ?? state.paused;
  const clock = nextClock(zones, state, declared, zone, paused);
  return toMove(zones, clock, zone, paused, findDue(items, state.clock_ms, clock));
}

/** The clock as it once was after a beat: no policy moves it another time. */
export function repeatMove(
  zones: Zones,
  from_ms: number,
  { clock_ms, zone, paused }: Pick<ClockState, "clock_ms" | "zone" | "paused">,
  items: readonly ScheduledItem[],
): ClockMove {
  return toMove(zones, clock_ms, zone, paused, findDue(items, from_ms, clock_ms));
}

function nextClock(zones: Zones, state: ClockState, declared: ClockDeclaration, zone: string, paused: boolean): number {
  if (declared.declared_world_time !== null) {
    const written = parseWritten(declared.declared_world_time, WHERE, "optional");
    const ms = toInstant(zones, written, zone, WHERE);
    if (ms >= state.clock_ms) return ms;
    throw new VerbatimError("TIME_NOT_MONOTONIC", {
      message: `the declared time is ${formatInstant(zones, ms, zone)}, but the clock says ${formatInstant(zones, state.clock_ms, state.zone)}`,
      where: WHERE,
    });
  }
  if (state.paused || paused) return state.clock_ms;
  return requireRange(state.clock_ms + advance(state.policy, declared.elapsed_ms), WHERE);
}

function advance(policy: TimePolicy, elapsedMs: number): number {
  switch (policy.kind) {
    case "explicit":
      return 0;
    case "step":
      return policy.step_ms;
    case "rate":
      // Host clocks jump and people go away: neither may carry the world further than the setting says.
      return Math.floor(
        (Math.min(Math.max(elapsedMs, 0), policy.max_elapsed_ms ?? MAX_ELAPSED_MS) * policy.rate_milli) / 1000,
      );
    default:
      return assertNever(policy);
  }
}

function findDue(items: readonly ScheduledItem[], from: number, to: number): string[] {
  return items
    .filter(({ state, time_ms }) => state === "SCHEDULED" && time_ms !== null && time_ms > from && time_ms <= to)
    .sort((a, b) => a.time_ms! - b.time_ms!)
    .map(({ item_id }) => item_id);
}

function toMove(zones: Zones, ms: number, zone: string, paused: boolean, due: readonly string[]): ClockMove {
  return { clock_ms: ms, zone, paused, world_time: formatInstant(zones, ms, zone), due };
}

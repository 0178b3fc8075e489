import { formatCanonical, type JsonObject, sortedByCodePoint, toJson } from "../../../core/canonical/index.ts";
import { keptOf, parseState, storyOf } from "../history/state.ts";
import type { WorldPorts, WorldReadTransaction } from "../operations/ports.ts";
import { formatInstant } from "../time/instant.ts";
import type { OpenWorld } from "./reading.ts";
import type { Reader } from "./views.ts";

/** What a follower is told besides lines, pocket and status, as it is at one moment. */
export interface Surroundings {
  readonly people: {
    readonly people: readonly { readonly person_id: string; readonly display_name: string }[];
    readonly operator: { readonly operator_id: string; readonly name: string };
  };
  readonly presence: { readonly present: readonly string[]; readonly scene_no: number };
  readonly time: {
    readonly world_time: string | null;
    readonly timezone: string | null;
    readonly paused: boolean | null;
  };
  readonly kept: { readonly kept_world_id: string };
  /** Versions of its story, for the operator and the owner. */
  readonly versions: readonly { readonly of: string; readonly version_no: number }[];
  /** Settings by name, for the owner. */
  readonly settings: JsonObject;
  /** Number of the newest model call, for the owner. */
  readonly last_call: number;
}

export type SurroundingsEvent =
  | { readonly event: "people"; readonly data: Surroundings["people"] }
  | { readonly event: "presence"; readonly data: Surroundings["presence"] }
  | { readonly event: "time"; readonly data: Surroundings["time"] }
  | { readonly event: "kept"; readonly data: Surroundings["kept"] }
  | { readonly event: "version"; readonly data: { readonly of: string; readonly version_no: number } }
  | { readonly event: "settings"; readonly data: { readonly changed: readonly string[] } }
  | { readonly event: "call"; readonly data: { readonly call_id: string; readonly request_id: string } };

/** What is around a viewer; only what its role may know. */
export async function readSurroundings(
  ports: Pick<WorldPorts, "zones">,
  tx: WorldReadTransaction,
  world: OpenWorld,
  reader: Reader,
): Promise<Surroundings> {
  const { cast, state } = world;
  const { available, clock_hidden } = state.settings.pocket;
  const isHidden = clock_hidden || !available;
  const story = storyOf(state);
  const rootRow = story === state.world_id ? null : await tx.world.find(story);
  const root = rootRow === null ? state : parseState(rootRow);
  const knowsVersions = reader === "owner" || reader === "operator";
  return {
    people: {
      people: [...cast.people].map(([person_id, display_name]) => ({ person_id, display_name })),
      operator: { operator_id: cast.operator_id, name: cast.operator_name },
    },
    presence: { present: [...cast.present], scene_no: state.scene_no },
    time: isHidden
      ? { world_time: null, timezone: null, paused: null }
      : {
          world_time: formatInstant(ports.zones, state.clock_ms, state.zone),
          timezone: state.zone,
          paused: state.paused,
        },
    kept: { kept_world_id: keptOf(root) },
    versions: knowsVersions
      ? (await tx.world.versions(story, null)).map(({ of_request_id: of, version_no }) => ({ of, version_no }))
      : [],
    settings: reader === "owner" ? toJson({ ...state.settings }) : {},
    last_call: reader === "owner" ? await tx.world.lastCall(world.number) : 0,
  };
}

const SHOWN = ["people", "presence", "time", "kept"] as const;
/** Calls that a follower is told of at once at most. */
const MOST_CALLS = 64;

/** What changed around a viewer. Nothing is told where nothing changed for it. */
export async function toEvents(
  tx: WorldReadTransaction,
  world: OpenWorld,
  before: Surroundings,
  after: Surroundings,
): Promise<SurroundingsEvent[]> {
  const events: SurroundingsEvent[] = [];
  for (const event of SHOWN) {
    if (JSON.stringify(before[event]) === JSON.stringify(after[event])) continue;
    events.push({ event, data: after[event] } as SurroundingsEvent);
  }
  if (before.versions.length !== after.versions.length) {
    const known = new Set(before.versions.map(({ of, version_no }) => `${of} ${version_no}`));
    for (const data of after.versions) {
      if (!known.has(`${data.of} ${data.version_no}`)) events.push({ event: "version", data });
    }
  }
  if (before.settings !== after.settings) {
    const names = [...new Set([...Object.keys(before.settings), ...Object.keys(after.settings)])];
    const text = (all: JsonObject, name: string) => formatCanonical({ value: all[name] ?? null });
    const changed = sortedByCodePoint(
      names.filter((name) => text(before.settings, name) !== text(after.settings, name)),
    );
    if (changed.length > 0) events.push({ event: "settings", data: { changed } });
  }
  if (after.last_call > before.last_call) {
    const limit = Math.min(MOST_CALLS, after.last_call - before.last_call);
    const calls = await tx.world.calls(world.number, null, limit);
    for (const { call_id, request_id } of calls.reverse())
      events.push({ event: "call", data: { call_id, request_id } });
  }
  return events;
}

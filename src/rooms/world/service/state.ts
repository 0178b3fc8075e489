import { formatCanonical } from "../../../core/canonical/index.ts";
import { fromHex } from "../../../core/hex.ts";
import type { Cast } from "../cast.ts";
import type { WorldKey } from "../ids.ts";
import type { PersonRow } from "../ports.ts";
import type { Settings } from "../settings.ts";

/** A pack that stands in the frame of one view: numbers of the entries it quotes. */
export interface StoredPack {
  readonly kind: "anchor" | "rehydration";
  readonly text: readonly number[];
  readonly replay: readonly number[];
}

/** What a world is at one position of its stream. Derived from the records, nothing else. */
export interface WorldState {
  readonly world_id: string;
  readonly world_key: string;
  readonly parent: { readonly world_id: string; readonly position: number } | null;
  readonly settings: Settings;
  readonly clock_ms: number;
  readonly zone: string;
  readonly paused: boolean;
  readonly present: readonly string[];
  readonly scene_no: number;
  /** wseq of the first entry of the scene, there already or not. */
  readonly scene_from: number;
  readonly next_wseq: number;
  readonly next_bundle: number;
  readonly next_beat: number;
  readonly next_person: number;
  readonly next_item: number;
  readonly next_message: number;
  /** Packs of the current scene by view. */
  readonly packs: Readonly<Record<string, StoredPack>>;
  /** Lines of the writer's script that were used. */
  readonly script_used: readonly number[];
}

/** The state as the store keeps it. */
export function formatState(state: WorldState): string {
  return formatCanonical(state);
}

// A beat reads the state of its world several times; the same text is the same state.
const parsed = new Map<string, WorldState>();
const KEEP_PARSED = 64;

/** The state from what the store kept. Our own canonical text has nothing that a plain parser could lose. */
export function parseState(text: string): WorldState {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const state = JSON.parse(text) as WorldState;
  if (parsed.size >= KEEP_PARSED) parsed.delete(parsed.keys().next().value!);
  parsed.set(text, state);
  return state;
}

/** Name of a world's stream in the ledger. */
export function streamOf(worldId: string): string {
  return `world/${worldId}`;
}

/** The key of a world's ids. */
export function keyOf(state: WorldState): WorldKey {
  return { world_id: state.world_id, key: fromHex(state.world_key) ?? new Uint8Array() };
}

/** Who is who now. */
export function castOf(state: WorldState, people: readonly PersonRow[]): Cast {
  const { operator_id, operator_name, visibility_default, writer_lint } = state.settings;
  return {
    operator_id,
    operator_name,
    people: new Map(people.map(({ person_id, display_name }) => [person_id, display_name])),
    present: state.present,
    visibility_default,
    writer_lint,
  };
}

import { formatCanonical } from "../../../core/canonical/index.ts";
import { fromHex } from "../../../core/hex.ts";
import type { Cast } from "../cast.ts";
import type { WorldKey } from "../ids.ts";
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

// Most of a state stays as it was from beat to beat; the text of a part is made once.
const partTexts = new WeakMap<object, string>();

/** The state as the store keeps it: its canonical JSON, put together from its parts. */
export function formatState(state: WorldState): string {
  let text = "";
  for (const key of STATE_KEYS) {
    const part = state[key];
    text += `${text === "" ? "{" : ","}"${key}":`;
    if (typeof part !== "object" || part === null) {
      text += formatCanonical(part);
      continue;
    }
    let known = partTexts.get(part);
    if (known === undefined) {
      known = formatCanonical(part);
      partTexts.set(part, known);
    }
    text += known;
  }
  return `${text}}`;
}

/** Members of a state in the order of canonical JSON; a record, so that none can be left out. */
const STATE_MEMBERS: Readonly<Record<keyof WorldState, true>> = {
  clock_ms: true,
  next_beat: true,
  next_bundle: true,
  next_item: true,
  next_message: true,
  next_person: true,
  next_wseq: true,
  packs: true,
  parent: true,
  paused: true,
  present: true,
  scene_from: true,
  scene_no: true,
  script_used: true,
  settings: true,
  world_id: true,
  world_key: true,
  zone: true,
};
const STATE_KEYS = Object.keys(STATE_MEMBERS) as readonly (keyof WorldState)[];

// A beat reads the state of its world several times; the same text is the same state.
const parsed = new Map<string, WorldState>();
const KEEP_PARSED = 64;

/** The state from what the store kept. Our own canonical text has nothing that a plain parser could lose. */
export function parseState(text: string): WorldState {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const state = JSON.parse(text) as WorldState;
  rememberState(text, state);
  return state;
}

/** Spares the next reader of a text the work of parsing it. */
export function rememberState(text: string, state: WorldState): void {
  if (parsed.size >= KEEP_PARSED) parsed.delete(parsed.keys().next().value!);
  parsed.set(text, state);
}

/** Name of a world's stream in the ledger. */
export function streamOf(worldId: string): string {
  return `world/${worldId}`;
}

/** The key of a world's ids. */
export function keyOf({ world_id, world_key }: WorldState): WorldKey {
  let key = keys.get(world_key);
  if (key === undefined) {
    key = fromHex(world_key) ?? new Uint8Array();
    if (keys.size >= KEEP_PARSED) keys.delete(keys.keys().next().value!);
    keys.set(world_key, key);
  }
  return { world_id, key };
}

const keys = new Map<string, Uint8Array>();

/** Who is who now. */
export function castOf(state: WorldState, people: Cast["people"]): Cast {
  const { operator_id, operator_name, visibility_default, writer_lint } = state.settings;
  return {
    operator_id,
    operator_name,
    people,
    present: state.present,
    visibility_default,
    writer_lint,
  };
}

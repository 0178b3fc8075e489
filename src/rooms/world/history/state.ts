import { formatCanonical } from "../../../core/canonical/index.ts";
import { fromHex } from "../../../core/hex.ts";
import type { WorldKey } from "../ids.ts";
import type { Cast } from "../people/cast.ts";
import type { WorldRow } from "../ports.ts";
import type { Settings } from "../settings.ts";

/** A pack that stands in the frame of one view: numbers of the entries it quotes. */
export interface StoredPack {
  readonly kind: "anchor" | "rehydration";
  readonly text: readonly number[];
  readonly replay: readonly number[];
  /** What a line of it may cost, where it is less than usual. */
  readonly cap?: number;
}

/** A version: the beat, by its first request id, that it lives again under a request id of its own. */
export interface VersionOf {
  readonly story_id: string;
  readonly of: string;
  readonly version_no: number;
  readonly request_id: string;
}

/** What a world is at one position of its stream. Derived from the records, nothing else. */
export interface WorldState {
  readonly world_id: string;
  readonly world_key: string;
  readonly parent: { readonly world_id: string; readonly position: number } | null;
  /** Which beat of which story this is a version of; absent for a world that is no version. */
  readonly story?: VersionOf;
  /** People who have sent something since a writer last ran. */
  readonly round?: readonly string[];
  /** Versions that were kept in this story, the kept one last; absent where it was always the root. */
  readonly kept?: readonly string[];
  readonly settings: Settings;
  readonly clock_ms: number;
  readonly zone: string;
  readonly paused: boolean;
  readonly present: readonly string[];
  readonly scene_no: number;
  /** wseq of the first entry of the scene, already there or not. */
  readonly scene_from: number;
  readonly next_wseq: number;
  readonly next_bundle: number;
  readonly next_beat: number;
  readonly next_person: number;
  readonly next_item: number;
  readonly next_message: number;
  /** Whose turn it is in the next beat, where somebody said so. */
  readonly next_turn?: readonly string[];
  /** Who had the last turn of a beat of turns. */
  readonly last_turn?: string;
  /** How many marks were ever set; absent in a world that has none. */
  readonly marks?: number;
  /** Packs of the current scene by view. */
  readonly packs: Readonly<Record<string, StoredPack>>;
  /** Lines of the writer's script that were used. */
  readonly script_used: readonly number[];
}

// Most of a state stays as it was from beat to beat; the text of a part is made once.
const partTexts = new WeakMap<object, string>();
const steadyTexts = new WeakMap<object, { readonly state: WorldState; readonly text: string }>();

/** The state as the store keeps it: its canonical JSON, put together from its parts. */
export function formatState(state: WorldState): string {
  let text = "";
  for (let i = 0; i < FIRST_STEADY; i++) {
    const part = state[STATE_KEYS[i]!];
    if (part !== undefined) text += STATE_LABELS[i]! + formatPart(part);
  }
  return text + formatSteady(state);
}

/** The members from `packs` on: from beat to beat they are the same objects, so their text is too. */
function formatSteady(state: WorldState): string {
  const known = steadyTexts.get(state.settings);
  if (known !== undefined && isSteady(known.state, state)) return known.text;
  let text = "";
  for (let i = FIRST_STEADY; i < STATE_KEYS.length; i++) {
    const part = state[STATE_KEYS[i]!];
    if (part !== undefined) text += STATE_LABELS[i]! + formatPart(part);
  }
  text += "}";
  steadyTexts.set(state.settings, { state, text });
  return text;
}

function isSteady(a: WorldState, b: WorldState): boolean {
  for (let i = FIRST_STEADY; i < STATE_KEYS.length; i++) if (a[STATE_KEYS[i]!] !== b[STATE_KEYS[i]!]) return false;
  return true;
}

function formatPart(part: WorldState[keyof WorldState]): string {
  if (typeof part === "number") return String(part);
  if (typeof part !== "object" || part === null) return formatCanonical(part);
  let known = partTexts.get(part);
  if (known === undefined) {
    known = formatCanonical(part);
    partTexts.set(part, known);
  }
  return known;
}

/** Members of a state in the order of canonical JSON; a record, so that none can be left out. */
const STATE_MEMBERS: Readonly<Record<keyof WorldState, true>> = {
  clock_ms: true,
  kept: true,
  last_turn: true,
  marks: true,
  next_beat: true,
  next_bundle: true,
  next_item: true,
  next_message: true,
  next_person: true,
  next_turn: true,
  next_wseq: true,
  packs: true,
  parent: true,
  paused: true,
  present: true,
  round: true,
  scene_from: true,
  scene_no: true,
  script_used: true,
  settings: true,
  story: true,
  world_id: true,
  world_key: true,
  zone: true,
};
const STATE_KEYS = Object.keys(STATE_MEMBERS) as readonly (keyof WorldState)[];
const FIRST_STEADY = STATE_KEYS.indexOf("packs");
const STATE_LABELS = STATE_KEYS.map((key, i) => `${i === 0 ? "{" : ","}"${key}":`);

// A beat reads the state of its world several times; the same text is the same state.
const latest = new Map<string, { readonly text: string; readonly state: WorldState }>();
const KEEP_WORLDS = 64;

/** The state from what the store kept. Our own canonical text has nothing that a plain parser could lose. */
export function parseState({ world_id, state: text }: Pick<WorldRow, "world_id" | "state">): WorldState {
  const known = latest.get(world_id);
  if (known?.text === text) return known.state;
  const state = JSON.parse(text) as WorldState;
  rememberState(text, state);
  return state;
}

/** Spares the next reader of a text the work of parsing it. */
export function rememberState(text: string, state: WorldState): void {
  // A name is looked up sooner than a long text; another store may have a world of the same name, so both count.
  if (latest.size >= KEEP_WORLDS && !latest.has(state.world_id)) latest.delete(latest.keys().next().value!);
  latest.set(state.world_id, { text, state });
}

/** Name of a world's stream in the ledger. */
export function streamOf(worldId: string): string {
  return `world/${worldId}`;
}

/** The story a world belongs to: that of its root, which for a world that is no version is itself. */
export function storyOf({ world_id, story }: Pick<WorldState, "world_id" | "story">): string {
  return story?.story_id ?? world_id;
}

/** Which version of a story its clients open, given the state of its root. */
export function keptOf({ world_id, kept }: Pick<WorldState, "world_id" | "kept">): string {
  return kept?.at(-1) ?? world_id;
}

/** The key of a world's ids. */
export function keyOf({ world_id, world_key }: WorldState): WorldKey {
  let key = keys.get(world_key);
  if (key === undefined) {
    key = fromHex(world_key) ?? new Uint8Array();
    if (keys.size >= KEEP_WORLDS) keys.delete(keys.keys().next().value!);
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

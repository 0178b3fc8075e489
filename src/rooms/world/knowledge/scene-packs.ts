import { toJson } from "../../../core/canonical/index.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import { renderLine } from "../contracts/lint.ts";
import { checkSceneAnchor, type SceneAnchorPack } from "../contracts/packs.ts";
import type { RecordedPack } from "../contracts/records.ts";
import type { StoredPack } from "../history/state.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { WorldReader } from "../ports.ts";
import { type OpenWorld, toLedgerEntry } from "../projection/reading.ts";
import { usableOf } from "../settings.ts";
import { type FrameParts, type Quoted, quotesOf } from "../writer/frame.ts";
import { ANCHOR_ENTRIES, buildAnchor } from "./anchor.ts";
import { isBackground, readLived } from "./background.ts";
import { lineCapOf } from "./bounds.ts";
import { isAllowed, type View, viewKey } from "./gate.ts";
import { quoteLine } from "./line-quote.ts";

type Ports = Pick<WorldPorts, "crypto" | "graphemes" | "tokenizer" | "zones">;

/** For which request a pack is made, and when in the world. */
interface PackRequest {
  readonly request_id: string;
  readonly world_time: string;
}

/** A pack with its entries at hand. */
export interface OpenPack {
  readonly kind: StoredPack["kind"];
  readonly text: readonly LedgerEntry[];
  readonly replay: readonly LedgerEntry[];
  /** What a line may cost, where it is less than usual: a pack of the newest line alone. */
  readonly cap?: number;
}

export function withPack(world: OpenWorld, parts: FrameParts, pack: OpenPack | null): FrameParts {
  if (pack === null) return parts;
  return { ...parts, scene: quote(world, pack.text), continuity: quote(world, pack.replay) };
}

function quote(world: OpenWorld, entries: readonly LedgerEntry[]): Quoted {
  return {
    text: entries.map((entry) => renderLine(world.cast, entry)).join("\n"),
    entry_ids: entries.map(({ entry_id }) => entry_id),
    quotes: quotesOf(entries),
  };
}

/** The stored pack of a view, if everything in it may still be seen by the view; otherwise it is dropped whole. */
export async function readStoredPack(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
): Promise<OpenPack | null> {
  const stored = world.state.packs[viewKey(view)];
  if (stored === undefined) return null;
  const wanted = new Set([...stored.text, ...stored.replay]);
  const rows = await tables.entries(world.number, [...wanted]);
  const entries = new Map(rows.map((row) => [row.wseq, toLedgerEntry(row)]));
  if (entries.size !== wanted.size) return null;
  for (const entry of entries.values()) if (isBackground(entry) || !isAllowed(world.cast, view, entry)) return null;
  const cap = stored.cap ?? lineCapOf(usableOf(world.state.settings));
  const pick = (wseqs: readonly number[]) => wseqs.map((at) => quoteLine(ports, world.cast, entries.get(at)!, cap));
  const pack = { kind: stored.kind, text: pick(stored.text), replay: pick(stored.replay) };
  return stored.cap === undefined ? pack : { ...pack, cap: stored.cap };
}

export async function makeAnchor(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
): Promise<OpenPack | null> {
  const range = { after: world.state.scene_from - 1, limit: ANCHOR_ENTRIES };
  const cap = lineCapOf(usableOf(world.state.settings));
  const visible = await readLived(tables, world, view, range);
  const entries = visible.map((entry) => quoteLine(ports, world.cast, entry, cap));
  const anchor = buildAnchor(world.cast, ports.tokenizer, entries);
  if (anchor === null) return null;
  return { kind: "anchor", text: entries.slice(0, anchor.used_entry_ids.length), replay: [] };
}

export function toRecorded(view: View, pack: OpenPack): RecordedPack {
  const numbers = (entries: readonly LedgerEntry[]) => entries.map(({ wseq }) => wseq);
  const recorded = { view: viewKey(view), kind: pack.kind, text: numbers(pack.text), replay: numbers(pack.replay) };
  return pack.cap === undefined ? recorded : { ...recorded, cap: pack.cap };
}

export function toAnchorPack(
  ports: Ports,
  world: OpenWorld,
  view: View,
  pack: OpenPack,
  request: PackRequest,
): SceneAnchorPack {
  const { text, entry_ids } = quote(world, pack.text);
  const anchor: SceneAnchorPack = {
    scene_anchor_id: `sa:${world.state.scene_no}:${ports.crypto.sha256(viewKey(view)).slice(0, 16)}`,
    request_id: request.request_id,
    created_at_world: request.world_time,
    text,
    provenance: { used_entry_ids: entry_ids },
  };
  return checkSceneAnchor(toJson(anchor), packContext(ports, world, view, pack.text));
}

/** SCENE_PACK_BUILD: the opening of the scene as a view may see it, in at most so many bytes; null when it sees none. */
export async function makeSceneAnchor(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  request: PackRequest,
): Promise<SceneAnchorPack | null> {
  const pack = await makeAnchor(ports, tables, world, view);
  return pack === null ? null : toAnchorPack(ports, world, view, pack, request);
}

export function packContext(ports: Ports, world: OpenWorld, view: View, entries: readonly LedgerEntry[]) {
  return {
    cast: world.cast,
    zones: ports.zones,
    graphemes: ports.graphemes,
    view,
    entries: new Map(entries.map((entry) => [entry.entry_id, entry])),
  };
}

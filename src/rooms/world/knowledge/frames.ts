import { toJson } from "../../../core/canonical/index.ts";
import { assertNever, VerbatimError } from "../../../core/errors/index.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import { type CapsulePack, checkRehydration, type RehydrationPack, type SceneAnchorPack } from "../contracts/packs.ts";
import type { RecordedPack } from "../contracts/records.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { filterCalendar } from "../people/pocket.ts";
import type { CalendarRow, WorldReader } from "../ports.ts";
import { type OpenWorld, readVisible } from "../projection/reading.ts";
import { toolLimitsOf, usableOf } from "../settings.ts";
import { type PassPlan, toolsBefore } from "../writer/beat-loop.ts";
import { type FrameParts, NO_QUOTE, toUserMessage } from "../writer/frame.ts";
import { ANCHOR_ENTRIES } from "./anchor.ts";
import type { Capsules } from "./capsules.ts";
import type { View } from "./gate.ts";
import { buildRehydration, isTriggered, tryPacks } from "./rehydration.ts";
import {
  makeAnchor,
  type OpenPack,
  packContext,
  readStoredPack,
  toAnchorPack,
  toRecorded,
  withPack,
} from "./scene-packs.ts";

type Ports = Pick<WorldPorts, "crypto" | "graphemes" | "tokenizer" | "zones">;

interface FrameRequest {
  readonly request_id: string;
  readonly world_time: string;
  readonly operator_text: string;
  readonly rules: string;
  readonly capsules: Capsules;
  /** The calendar as it is once the clock has moved. */
  readonly calendar: readonly CalendarRow[];
}

/** A pass with everything its writer is sent but evidence. */
export interface Frame {
  readonly plan: PassPlan;
  readonly view: View;
  readonly parts: FrameParts;
  /** Packs made now, to be stored with the beat or not at all. */
  readonly made: readonly RecordedPack[];
  readonly anchor: SceneAnchorPack | null;
  readonly rehydration: RehydrationPack | null;
}

/** The passes of a beat. Who acts is decided here, never by a client. */
export function planPasses(world: OpenWorld): { readonly plan: PassPlan; readonly view: View }[] {
  const { cast, state } = world;
  const room: View = { kind: "room", present: cast.present };
  switch (state.settings.cast) {
    case "room":
      return [{ plan: { actor: "WORLD", pass: "ROOM" }, view: room }];
    case "each":
      return [
        ...cast.present
          .filter((id) => cast.people.has(id))
          .map((id) => ({ plan: { actor: id, pass: "PERSON" } as const, view: { kind: "viewer", id } as const })),
        { plan: { actor: "WORLD", pass: "WORLD_ONLY" }, view: room },
      ];
    default:
      return assertNever(state.settings.cast);
  }
}

/** Tokens of a frame without evidence, as the first call sends it. */
function loadOf(ports: Ports, world: OpenWorld, rules: string, parts: FrameParts): number {
  const tools = toolsBefore(toolLimitsOf(world.state.settings));
  return ports.tokenizer.count(rules) + ports.tokenizer.count(toUserMessage(world.cast, parts, [], tools).text);
}

/** Refuses an operator's text that could never fit: nothing else is in that frame. */
export function requireFits(ports: Ports, world: OpenWorld, request: FrameRequest): void {
  const [first] = planPasses(world);
  const bare = bareParts(first!.plan, request);
  const load = loadOf(ports, world, request.rules, bare);
  const usable = usableOf(world.state.settings);
  if (load <= usable) return;
  throw new VerbatimError("INPUT_EXCEEDS_CONTEXT", {
    message: `the text and the fixed parts take ${load} tokens, but only ${usable} are usable`,
    where: "/operator/input_text",
    details: { load, usable },
  });
}

function bareParts(plan: PassPlan, request: FrameRequest): FrameParts {
  return {
    plan,
    scene: NO_QUOTE,
    continuity: NO_QUOTE,
    people: [],
    time: request.world_time,
    recent: [],
    opportunities: [],
    operator_text: request.operator_text,
  };
}

/** Assembles the frame of a pass and rehydrates when its load says so. */
export async function makeFrame(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  { plan, view }: { readonly plan: PassPlan; readonly view: View },
  request: FrameRequest,
): Promise<Frame> {
  const { settings } = world.state;
  const usable = usableOf(settings);
  const capsules = await request.capsules.ofPresent(ports, tables, world, view, usable, request.world_time);
  const opportunities = filterCalendar(world, view, request.calendar)
    .filter(({ row }) => row.state === "DUE")
    .map(({ item }) => [item.title, item.time, item.location, item.notes].filter((part) => part !== null).join(" - "));
  const fixed: FrameParts = {
    ...bareParts(plan, request),
    people: capsules.map(({ person_id, sections }) => ({
      name: world.cast.people.get(person_id) ?? person_id,
      lines: sections[0]!.text,
      entry_ids: sections[0]!.provenance.used_entry_ids,
    })),
    opportunities,
  };
  const stored = await readStoredPack(tables, world, view);
  const opened = stored ?? (await makeAnchor(ports, tables, world, view));
  const recent = await readRecent(tables, world, view, opened, usable);
  const parts = withPack(world, { ...fixed, recent: recent.entries }, opened);
  const load = loadOf(ports, world, request.rules, parts);
  const isNew = stored === null && opened !== null;
  if (!recent.more && !isTriggered(load, usable, settings.context.threshold_percent)) {
    const anchor = isNew ? toAnchorPack(ports, world, view, opened, request) : null;
    return { plan, view, parts, made: isNew ? [toRecorded(view, opened)] : [], anchor, rehydration: null };
  }
  return rehydrate(ports, tables, world, { plan, view }, request, fixed, capsules, load);
}

const RECENT_PAGE = 256;

/** The visible lines after the pack; `more` when there are certainly too many for the window. */
async function readRecent(
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  pack: OpenPack | null,
  usable: number,
): Promise<{ readonly entries: readonly LedgerEntry[]; readonly more: boolean }> {
  const used = pack === null ? [] : [...pack.text, ...pack.replay];
  let after = Math.max(world.state.scene_from - 1, ...used.map(({ wseq }) => wseq));
  const entries: LedgerEntry[] = [];
  let characters = 0;
  for (;;) {
    const page = await readVisible(tables, world, view, { after, limit: RECENT_PAGE });
    entries.push(...page);
    for (const { text } of page) characters += text.length;
    const last = page.at(-1);
    if (last === undefined || page.length < RECENT_PAGE) return { entries, more: false };
    if (characters > usable * 3) return { entries, more: true };
    after = last.wseq;
  }
}

const SCENE_PAGE = 1000;

/** Replaces what the writer is shown of the scene by a pack that fits, or fails without writing anything. */
async function rehydrate(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  { plan, view }: { readonly plan: PassPlan; readonly view: View },
  request: FrameRequest,
  fixed: FrameParts,
  capsules: readonly CapsulePack[],
  load: number,
): Promise<Frame> {
  const { threshold_percent, pack_percent } = world.state.settings.context;
  const usable = usableOf(world.state.settings);
  const scene = await readScene(tables, world, view, usable);
  const { pack, tries } = tryPacks(usable, threshold_percent, pack_percent, (percent) => {
    const built = buildRehydration(world.cast, ports.tokenizer, scene, { usable, pack_percent: percent });
    if ("failed" in built || scene.length === 0) return null;
    const entries = new Map(scene.map((entry) => [entry.entry_id, entry]));
    const pick = (ids: readonly string[]) => ids.map((id) => entries.get(id)!);
    const open: OpenPack = {
      kind: "rehydration",
      text: pick(built.text_entry_ids),
      replay: pick(built.replay_entry_ids),
    };
    const parts = withPack(world, fixed, open);
    return { pack: { open, parts }, load: loadOf(ports, world, request.rules, parts) };
  });
  if (pack === null) {
    throw new VerbatimError("REHYDRATION_FAILED", {
      message: `the load is ${load} of ${usable} usable tokens, and no pack made it fit`,
      details: { usable, load, tries },
    });
  }
  const { open, parts } = pack;
  const used = [...new Set([...open.text, ...open.replay].map(({ entry_id }) => entry_id))];
  const rehydration: RehydrationPack = {
    rehydration_id: `rh:${request.request_id}:${plan.actor}`,
    request_id: request.request_id,
    created_at_world: request.world_time,
    text: parts.scene.text,
    physical_continuity_replay: parts.continuity.text,
    provenance: { used_entry_ids: used, used_capsule_ids: capsules.map(({ capsule_id }) => capsule_id) },
    trigger: { kind: "TOKEN_BUDGET", threshold: `${threshold_percent}%` },
  };
  checkRehydration(toJson(rehydration), packContext(ports, world, view, [...open.text, ...open.replay]));
  return { plan, view, parts, made: [toRecorded(view, open)], anchor: null, rehydration };
}

/** The visible entries of the scene that a pack could use: its opening, and as many of the newest as can fit. */
async function readScene(tables: WorldReader, world: OpenWorld, view: View, usable: number): Promise<LedgerEntry[]> {
  const inScene = await readVisible(tables, world, view, { after: world.state.scene_from - 1, limit: 1 });
  const after = inScene.length > 0 ? world.state.scene_from - 1 : 0;
  const opening = await readVisible(tables, world, view, { after, limit: ANCHOR_ENTRIES });
  const newest: LedgerEntry[] = [];
  let before = world.state.next_wseq;
  let characters = 0;
  while (characters <= usable * 3) {
    const page = await readVisible(tables, world, view, { after, before, limit: SCENE_PAGE, newest: true });
    if (page.length === 0) break;
    newest.unshift(...page);
    for (const { text } of page) characters += text.length + 1;
    before = page[0]!.wseq;
  }
  const first = newest[0]?.wseq ?? 0;
  return [...opening.filter(({ wseq }) => wseq < first), ...newest];
}

import { toJson, utf8Length } from "../../../core/canonical/index.ts";
import { assertNever, VerbatimError } from "../../../core/errors/index.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import { type CapsulePack, checkRehydration, type RehydrationPack, type SceneAnchorPack } from "../contracts/packs.ts";
import type { RecordedPack } from "../contracts/records.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { byTime, filterCalendar } from "../people/pocket.ts";
import type { CalendarRow, WorldReader } from "../ports.ts";
import type { OpenWorld } from "../projection/reading.ts";
import { toolLimitsOf, turnsOf, usableOf } from "../settings.ts";
import { type PassPlan, toolsBefore } from "../writer/beat-loop.ts";
import { type FrameParts, NO_QUOTE, toUserMessage } from "../writer/frame.ts";
import { writerOf } from "../writer/writer-settings.ts";
import { ANCHOR_ENTRIES } from "./anchor.ts";
import { readLived } from "./background.ts";
import { boundOf, lineCapOf, MAX_OPPORTUNITIES, SHARES, type Share, spareOf } from "./bounds.ts";
import type { Capsules } from "./capsules.ts";
import type { View } from "./gate.ts";
import { quoteLine } from "./line-quote.ts";
import { buildRehydration, isTriggered, triggerAt, tryPacks } from "./rehydration.ts";
import {
  makeAnchor,
  type OpenPack,
  packContext,
  readStoredPack,
  toAnchorPack,
  toRecorded,
  withPack,
} from "./scene-packs.ts";
import { findTold, NOTHING_TOLD } from "./told.ts";
import { type ChosenTurns, candidatesOf } from "./turns.ts";

type Ports = Pick<WorldPorts, "crypto" | "graphemes" | "tokenizer" | "zones">;

/** What was just said: all of it, and what each view may hear of it. */
export interface Said {
  readonly whole: FrameParts["said"];
  heardBy(view: View): FrameParts["said"];
}

interface FrameRequest {
  readonly request_id: string;
  readonly world_time: string;
  readonly said: Said;
  readonly rules: string;
  readonly capsules: Capsules;
  /** Whose turn it is, in a world of turns. */
  readonly turns: ChosenTurns | null;
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
export function planPasses(
  world: OpenWorld,
  turns: ChosenTurns | null,
): { readonly plan: PassPlan; readonly view: View }[] {
  const { cast, state } = world;
  const room: View = { kind: "room", present: cast.present };
  const plan = (actor: string, pass: PassPlan["pass"]): PassPlan => ({
    actor,
    pass,
    reply: writerOf(state.settings, actor).reply,
  });
  const own = (id: string) => ({ plan: plan(id, "PERSON"), view: { kind: "viewer", id } as const });
  const narration = { plan: plan("WORLD", "WORLD_ONLY"), view: room };
  switch (state.settings.cast) {
    case "room":
      return [{ plan: plan("WORLD", "ROOM"), view: room }];
    case "each":
      return [...candidatesOf(world).map(own), narration];
    case "turns":
      return [...(turns?.chosen ?? []).map(own), ...(turnsOf(state.settings).narrate ? [narration] : [])];
    default:
      return assertNever(state.settings.cast);
  }
}

/** Tokens of a frame without evidence, as the first call sends it. */
export function loadOf(ports: Ports, world: OpenWorld, rules: string, parts: FrameParts): number {
  const tools = toolsBefore(toolLimitsOf(world.state.settings), parts.plan.reply);
  return ports.tokenizer.count(rules) + ports.tokenizer.count(toUserMessage(world.cast, parts, [], tools).text);
}

/** Refuses an operator's text that could never fit. It depends on that text, the rules and the public frame only. */
export function requireFits(ports: Ports, world: OpenWorld, request: FrameRequest): void {
  const { settings } = world.state;
  const usable = usableOf(settings);
  const trigger = triggerAt(usable, settings.context.threshold_percent);
  const limit = trigger - spareOf(usable);
  const { whole } = request.said;
  const measure = (text: string) =>
    boundOf(usable, "notes") +
    Math.max(
      0,
      ...planPasses(world, request.turns).map(({ plan }) =>
        loadOf(ports, world, request.rules, bareParts(plan, request, { ...whole, text })),
      ),
    );
  const load = measure(whole.text);
  if (load < limit) return;
  const empty = measure("");
  const bytes = utf8Length(whole.text);
  const max_bytes = Math.max(0, Math.floor((bytes * (limit - 1 - empty)) / Math.max(1, load - empty)));
  throw new VerbatimError("INPUT_EXCEEDS_CONTEXT", {
    message: `the text has ${bytes} bytes; about ${max_bytes} fit the window beside the rules`,
    where: "/operator/input_text",
    details: { bytes, max_bytes, load, trigger },
  });
}

function bareParts(plan: PassPlan, request: FrameRequest, said: FrameParts["said"]): FrameParts {
  return {
    plan,
    scene: NO_QUOTE,
    continuity: NO_QUOTE,
    people: [],
    time: request.world_time,
    recent: [],
    opportunities: [],
    told: NOTHING_TOLD,
    said,
  };
}

/** Assembles the frame of a pass and rehydrates when its load says so. */
export async function makeFrame(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  pass: { readonly plan: PassPlan; readonly view: View },
  request: FrameRequest,
): Promise<Frame> {
  const { plan, view } = pass;
  const { settings } = world.state;
  const usable = usableOf(settings);
  const whole = await makeFixed(ports, tables, world, pass, request, 1);
  const stored = await readStoredPack(ports, tables, world, view);
  const opened = stored ?? (await makeAnchor(ports, tables, world, view));
  const recent = await readRecent(ports, tables, world, view, opened, usable);
  const parts = withPack(world, { ...whole.parts, recent: recent.entries }, opened);
  const load = loadOf(ports, world, request.rules, parts);
  const isNew = stored === null && opened !== null;
  if (!recent.more && !isTriggered(load, usable, settings.context.threshold_percent)) {
    const anchor = isNew ? toAnchorPack(ports, world, view, opened, request) : null;
    return { plan, view, parts, made: isNew ? [toRecorded(view, opened)] : [], anchor, rehydration: null };
  }
  return rehydrate(ports, tables, world, pass, request, whole, load);
}

/** What a frame holds whatever the scene is. */
interface Fixed {
  readonly parts: FrameParts;
  readonly capsules: readonly CapsulePack[];
}

/** The parts besides the scene, each within its share of its bound. */
async function makeFixed(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  pass: { readonly plan: PassPlan; readonly view: View },
  request: FrameRequest,
  share: Share,
): Promise<Fixed> {
  const { plan, view } = pass;
  const usable = usableOf(world.state.settings);
  const said = request.said.heardBy(view);
  const capsules = await boundedCapsules(ports, tables, world, view, request, share);
  const due = filterCalendar(world, view, request.calendar)
    .filter(({ row }) => row.state === "DUE")
    .sort((a, b) => byTime(a.row, b.row))
    .slice(0, MAX_OPPORTUNITIES)
    .map(({ item }) => [item.title, item.time, item.location, item.notes].filter((part) => part !== null).join(" - "));
  const opportunities = takeWithin(ports, due, boundOf(usable, "opportunities", share));
  const told = await findTold(ports, tables, world, pass, said.text, share);
  return {
    capsules,
    parts: { ...bareParts(plan, request, said), people: toPeople(world, capsules), opportunities, told },
  };
}

function toPeople(world: OpenWorld, capsules: readonly CapsulePack[]): FrameParts["people"] {
  return capsules.map(({ person_id, sections }) => ({
    name: world.cast.people.get(person_id) ?? person_id,
    lines: sections[0]!.text,
    entry_ids: sections[0]!.provenance.used_entry_ids,
  }));
}

/** As many of the first items as fit, whole. */
function takeWithin(ports: Ports, items: readonly string[], bound: number): string[] {
  const taken: string[] = [];
  for (const item of items) {
    if (ports.tokenizer.count(JSON.stringify([...taken, item])) > bound) break;
    taken.push(item);
  }
  return taken;
}

const CAPSULE_TRIES = 3;

/** Capsules whose JSON keeps within its bound: a quote takes two bytes there and a control character six. */
async function boundedCapsules(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  request: FrameRequest,
  share: Share,
): Promise<readonly CapsulePack[]> {
  const usable = usableOf(world.state.settings);
  const bound = boundOf(usable, "people", share);
  let size = Math.floor(usable * share);
  for (let i = 0; i < CAPSULE_TRIES && size > 0; i++) {
    const capsules = await request.capsules.ofPresent(ports, tables, world, view, size, request.world_time);
    const people = toPeople(world, capsules).map(({ name, lines }) => ({ name, lines }));
    const cost = ports.tokenizer.count(JSON.stringify(people));
    if (cost <= bound) return capsules;
    size = Math.floor((size * bound * 0.8) / cost);
  }
  return [];
}

const RECENT_PAGE = 256;

/** The visible lines after the pack; `more` when there are certainly too many for the window. */
async function readRecent(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  pack: OpenPack | null,
  usable: number,
): Promise<{ readonly entries: readonly LedgerEntry[]; readonly more: boolean }> {
  const used = pack === null ? [] : [...pack.text, ...pack.replay];
  const cap = lineCapOf(usable);
  let after = Math.max(world.state.scene_from - 1, ...used.map(({ wseq }) => wseq));
  const entries: LedgerEntry[] = [];
  let characters = 0;
  for (;;) {
    const page = await readLived(tables, world, view, { after, limit: RECENT_PAGE });
    for (const line of page) {
      const entry = quoteLine(ports, world.cast, line, cap);
      entries.push(entry);
      characters += (entry.quote?.text ?? entry.text).length;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < RECENT_PAGE) return { entries, more: false };
    if (characters > usable * 3) return { entries, more: true };
    after = last.wseq;
  }
}

const SCENE_PAGE = 1000;

/** What one try of a rehydration came to. */
interface Attempt {
  readonly pack: { readonly open: OpenPack | null; readonly fixed: Fixed; readonly parts: FrameParts };
  readonly load: number;
}

/** Replaces what the writer is shown of the scene by a pack that fits, or fails without writing anything. */
async function rehydrate(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  pass: { readonly plan: PassPlan; readonly view: View },
  request: FrameRequest,
  whole: Fixed,
  load: number,
): Promise<Frame> {
  const { plan, view } = pass;
  const { threshold_percent, pack_percent } = world.state.settings.context;
  const usable = usableOf(world.state.settings);
  const scene = await readScene(ports, tables, world, view, usable);
  const attempt = (open: OpenPack | null, fixed: Fixed): Attempt => {
    const parts = withPack(world, fixed.parts, open);
    return { pack: { open, fixed, parts }, load: loadOf(ports, world, request.rules, parts) };
  };
  let fixed = whole;
  const { pack: tried, tries } = await tryPacks(usable, threshold_percent, pack_percent, async (percent, index) => {
    if (index > 0) fixed = await makeFixed(ports, tables, world, pass, request, SHARES[index]!);
    if (scene.length === 0) return attempt(null, fixed);
    const built = buildRehydration(world.cast, ports.tokenizer, scene, { usable, pack_percent: percent });
    if ("failed" in built) return null;
    const entries = new Map(scene.map((entry) => [entry.entry_id, entry]));
    const pick = (ids: readonly string[]) => ids.map((id) => entries.get(id)!);
    const [text, replay] = [pick(built.text_entry_ids), pick(built.replay_entry_ids)];
    return attempt({ kind: "rehydration", text, replay }, fixed);
  });
  const fits = (one: Attempt) => !isTriggered(one.load, usable, threshold_percent);
  const pack = tried ?? findLone(ports, world, scene.at(-1), usable, (open) => attempt(open, fixed), fits);
  if (pack === null) {
    throw new VerbatimError("REHYDRATION_FAILED", {
      message: `the load is ${load} of ${usable} usable tokens, and no pack made it fit`,
      details: { usable, load, tries },
    });
  }
  const { open, parts } = pack;
  if (open === null) return { plan, view, parts, made: [], anchor: null, rehydration: null };
  const used = [...new Set([...open.text, ...open.replay].map(({ entry_id }) => entry_id))];
  const capsules = pack.fixed.capsules.map(({ capsule_id }) => capsule_id);
  const rehydration: RehydrationPack = {
    rehydration_id: `rh:${request.request_id}:${plan.actor}`,
    request_id: request.request_id,
    created_at_world: request.world_time,
    text: parts.scene.text,
    physical_continuity_replay: parts.continuity.text,
    provenance: { used_entry_ids: used, used_capsule_ids: capsules },
    trigger: { kind: "TOKEN_BUDGET", threshold: `${threshold_percent}%` },
  };
  checkRehydration(toJson(rehydration), packContext(ports, world, view, [...open.text, ...open.replay]));
  return { plan, view, parts, made: [toRecorded(view, open)], anchor: null, rehydration };
}

/** The newest line alone, quoted shorter and shorter: only measuring says what its JSON costs. */
function findLone(
  ports: Ports,
  world: OpenWorld,
  newest: LedgerEntry | undefined,
  usable: number,
  attempt: (open: OpenPack) => Attempt,
  fits: (one: Attempt) => boolean,
): Attempt["pack"] | null {
  if (newest === undefined) return null;
  for (let cap = lineCapOf(usable); ; cap = Math.floor(cap / 2)) {
    const line = quoteLine(ports, world.cast, newest, cap);
    const one = attempt({ kind: "rehydration", text: [line], replay: [line], cap });
    if (fits(one)) return one.pack;
    if (cap === 0) return null;
  }
}

/** The visible entries of the scene that a pack could use: its opening, and as many of the newest as can fit. */
async function readScene(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  usable: number,
): Promise<LedgerEntry[]> {
  const cap = lineCapOf(usable);
  const quoted = (lines: readonly LedgerEntry[]) => lines.map((line) => quoteLine(ports, world.cast, line, cap));
  const inScene = await readLived(tables, world, view, { after: world.state.scene_from - 1, limit: 1 });
  const after = inScene.length > 0 ? world.state.scene_from - 1 : 0;
  const opening = quoted(await readLived(tables, world, view, { after, limit: ANCHOR_ENTRIES }));
  const newest: LedgerEntry[] = [];
  let before = world.state.next_wseq;
  let characters = 0;
  while (characters <= usable * 3) {
    const page = await readLived(tables, world, view, { after, before, limit: SCENE_PAGE, newest: true });
    if (page.length === 0) break;
    const lines = quoted(page);
    newest.unshift(...lines);
    for (const { text, quote } of lines) characters += (quote?.text ?? text).length + 1;
    before = page[0]!.wseq;
  }
  const first = newest[0]?.wseq ?? 0;
  return [...opening.filter(({ wseq }) => wseq < first), ...newest];
}

import type { LedgerEntry, Range } from "../contracts/context.ts";
import { toThose } from "../contracts/visibility.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { nameOf, WORLD } from "../people/cast.ts";
import type { WorldReader } from "../ports.ts";
import { gated, type OpenWorld } from "../projection/reading.ts";
import { usableOf } from "../settings.ts";
import type { PassPlan } from "../writer/beat-loop.ts";
import { readBackground, readLived } from "./background.ts";
import { boundOf, type Share } from "./bounds.ts";
import { isAllowed, type View } from "./gate.ts";
import { quoteLine } from "./line-quote.ts";
import type { LoreMatch } from "./lore-match.ts";
import { type Lore, type Pin, readMarks } from "./marks.ts";

type Ports = Pick<WorldPorts, "crypto" | "tokenizer" | "graphemes">;

/** What a pass is told besides what was lived. */
export interface Told {
  readonly notes: readonly string[];
  readonly about: readonly AboutLine[];
  readonly pinned: readonly PinnedLine[];
  readonly lore: readonly LoreLine[];
}

interface AboutLine {
  readonly name: string;
  readonly text?: string;
  /** A sample of how this person writes, instead of a text about them. */
  readonly style?: string;
  readonly entry_id: string | null;
  /** Which parts of a long line are quoted. */
  readonly ranges?: readonly Range[];
}

export interface PinnedLine {
  readonly pin_id: string;
  readonly entry_id: string;
  readonly range: Range;
  readonly who: string | null;
  readonly text: string;
}

interface LoreLine {
  readonly entry_id: string;
  readonly text: string;
  readonly keys: readonly string[];
}

export const NOTHING_TOLD: Told = { notes: [], about: [], pinned: [], lore: [] };

interface Pass {
  readonly plan: PassPlan;
  readonly view: View;
}

/** Collects what a pass is told. Every part of it is gated, and each takes its share of its bound, in whole items. */
export async function findTold(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  pass: Pass,
  said: string,
  share: Share,
): Promise<Told> {
  const notes = findNotes(ports, world, pass.view);
  if (share === 0) return { ...NOTHING_TOLD, notes };
  const usable = usableOf(world.state.settings);
  return {
    notes,
    about: await findAbout(ports, tables, world, pass, boundOf(usable, "about", share)),
    pinned: await findPinned(ports, tables, world, pass.view, boundOf(usable, "pinned", share)),
    lore: await findLore(ports, tables, world, pass.view, said, boundOf(usable, "lore", share)),
  };
}

/** Takes items while they fit, each whole; what does not fit is passed over. */
class Room {
  readonly #ports: Ports;
  #left: number;

  constructor(ports: Ports, bound: number) {
    this.#ports = ports;
    // The brackets around the list.
    this.#left = bound - 1;
  }

  get isFull(): boolean {
    return this.#left <= 2;
  }

  take(item: unknown): boolean {
    const cost = this.#ports.tokenizer.count(`${JSON.stringify(item)},`);
    if (cost > this.#left) return false;
    this.#left -= cost;
    return true;
  }
}

function findNotes(ports: Ports, { cast, state }: OpenWorld, view: View): string[] {
  const room = new Room(ports, boundOf(usableOf(state.settings), "notes"));
  const seen = (state.settings.notes ?? []).filter(({ visible_to }) =>
    isAllowed(cast, view, { visibility: toThose(visible_to) }),
  );
  return seen.map(({ text }) => text).filter((text) => room.take(text));
}

/** A description is quoted by its ends where it does not fit, in no fewer tokens. */
const SHORTEST_QUOTE = 32;

async function findAbout(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  { plan, view }: Pass,
  bound: number,
): Promise<AboutLine[]> {
  const { cast, state } = world;
  const { about } = await readBackground(tables, world);
  const room = new Room(ports, bound);
  const lines: AboutLine[] = [];
  const add = (name: string, entry: LedgerEntry): void => {
    if (room.take({ name, text: entry.text })) {
      lines.push({ name, text: entry.text, entry_id: entry.entry_id });
      return;
    }
    for (let cap = bound; cap >= SHORTEST_QUOTE; cap = Math.floor(cap / 2)) {
      const { quote } = quoteLine(ports, cast, entry, cap);
      if (quote == null || !room.take({ name, text: quote.text })) continue;
      lines.push({ name, text: quote.text, entry_id: entry.entry_id, ranges: quote.ranges });
      return;
    }
  };
  const { persona } = await readMarks(tables, world);
  if (persona !== null && persona.entry_id !== null && cast.present.includes(cast.operator_id)) {
    const entries = gated(world, view, await tables.entriesById(world.number, [persona.entry_id]));
    for (const entry of entries) add(persona.name, entry);
  }
  for (const id of cast.present.filter((one) => cast.people.has(one))) {
    const wseqs = about.get(id) ?? [];
    const entries = wseqs.length === 0 ? [] : gated(world, view, await tables.entries(world.number, wseqs));
    for (const entry of entries) add(nameOf(cast, id), entry);
    const style = state.settings.people?.[id]?.style;
    const isAllowedHere = isAllowed(cast, view, { visibility: toThose([id, WORLD]) });
    const writes = plan.pass === "ROOM" || (plan.pass === "PERSON" && plan.actor === id);
    if (style === undefined || !isAllowedHere || !writes) continue;
    if (room.take({ name: nameOf(cast, id), style })) lines.push({ name: nameOf(cast, id), style, entry_id: null });
  }
  return lines;
}

async function findPinned(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  bound: number,
): Promise<PinnedLine[]> {
  const { pins } = await readMarks(tables, world);
  if (pins.length === 0) return [];
  const room = new Room(ports, bound);
  const pinned = (await readPins(ports, tables, world, view, pins)).filter(({ who, text }) => room.take({ who, text }));
  return pinned.sort((a, b) => a.wseq - b.wseq || a.range[0] - b.range[0]);
}

/** Pins with what they point at, as far as a view may see the line. What is not what was pinned is not shown. */
export async function readPins(
  ports: Pick<WorldPorts, "crypto">,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  pins: readonly Pin[],
): Promise<(PinnedLine & { readonly wseq: number })[]> {
  const ids = [...new Set(pins.map(({ entry_id }) => entry_id))];
  const rows = ids.length === 0 ? [] : await tables.entriesById(world.number, ids);
  const entries = new Map(gated(world, view, rows).map((entry) => [entry.entry_id, entry]));
  return pins.flatMap(({ pin_id, entry_id, start, end, quote_sha256 }) => {
    const entry = entries.get(entry_id);
    if (entry === undefined) return [];
    const text = entry.text.slice(start, end);
    if (ports.crypto.sha256(text) !== quote_sha256) return [];
    const who = entry.channel === "VOICE" ? null : nameOf(world.cast, entry.author.author_id);
    return [{ pin_id, entry_id, range: [start, end] as const, who, text, wseq: entry.wseq }];
  });
}

const LORE_PAGE = 64;
/** So many of the lines that are due are looked at; with more of them keys are too common. */
const MOST_DUE = 1024;

async function findLore(
  ports: Ports,
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  said: string,
  bound: number,
): Promise<LoreLine[]> {
  const { enabled, matcher } = await readMarks(tables, world);
  if (enabled.length === 0) return [];
  const scan = world.state.settings.lore_scan ?? 4;
  const newest = scan === 0 ? [] : await readLived(tables, world, view, { limit: scan, newest: true });
  const due = matcher
    .match([said, ...newest.map(({ text }) => text)])
    .map((match) => ({ match, lore: enabled[match.index]! }))
    .sort(byWorth)
    .slice(0, MOST_DUE);
  const room = new Room(ports, bound);
  const taken: { readonly lore: Lore; readonly line: LoreLine }[] = [];
  for (let at = 0; at < due.length && !room.isFull; at += LORE_PAGE) {
    const page = due.slice(at, at + LORE_PAGE);
    const rows = await tables.entriesById(
      world.number,
      page.map(({ lore }) => lore.entry_id),
    );
    const entries = new Map(gated(world, view, rows).map((entry): [string, LedgerEntry] => [entry.entry_id, entry]));
    for (const { lore, match } of page) {
      const entry = entries.get(lore.entry_id);
      if (entry === undefined || !room.take(entry.text)) continue;
      taken.push({ lore, line: { entry_id: entry.entry_id, text: entry.text, keys: match.keys } });
    }
  }
  return taken.sort((a, b) => a.lore.order - b.lore.order || a.lore.number - b.lore.number).map(({ line }) => line);
}

interface Due {
  readonly match: LoreMatch;
  readonly lore: Lore;
}

/** What is always there, then by order, then by how much matched, then the newest. */
function byWorth(a: Due, b: Due): number {
  return (
    Number(b.lore.always) - Number(a.lore.always) ||
    b.lore.order - a.lore.order ||
    b.match.keys.length - a.match.keys.length ||
    b.lore.number - a.lore.number
  );
}

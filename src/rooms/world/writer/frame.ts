import type { JsonValue } from "../../../core/canonical/index.ts";
import { utf8Length } from "../../../core/canonical/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { LedgerEntry, Range } from "../contracts/context.ts";
import { TOOLS } from "../contracts/tool-request.ts";
import { MAX_PRESENT } from "../knowledge/bounds.ts";
import type { Told } from "../knowledge/told.ts";
import { type Cast, nameOf, WORLD } from "../people/cast.ts";
import type { ChatMessage, Tokenizer } from "../ports.ts";
import type { Evidence, PassPlan } from "./beat-loop.ts";

/** What stands in a frame besides evidence, with the entries each part quotes. */
export interface FrameParts {
  readonly plan: PassPlan;
  readonly scene: Quoted;
  readonly continuity: Quoted;
  readonly people: readonly { readonly name: string; readonly lines: string; readonly entry_ids: readonly string[] }[];
  readonly time: string;
  readonly recent: readonly LedgerEntry[];
  readonly opportunities: readonly string[];
  readonly told: Told;
  /** Narration has no name. */
  readonly said: { readonly name: string | null; readonly text: string };
}

export interface Quoted {
  readonly text: string;
  readonly entry_ids: readonly string[];
  /** Lines of which only the beginning and the end are quoted. */
  readonly quotes?: readonly QuotedRanges[];
}

/** Which parts of an entry's text a frame quotes. */
export interface QuotedRanges {
  readonly entry_id: string;
  readonly ranges: readonly Range[];
}

/** The lines of which only parts are quoted. */
export function quotesOf(entries: readonly LedgerEntry[]): QuotedRanges[] {
  return entries.flatMap(({ entry_id, quote }) => (quote == null ? [] : [{ entry_id, ranges: quote.ranges }]));
}

interface ToolState {
  readonly available: boolean;
  readonly calls_left: number;
}

export const NO_QUOTE: Quoted = { text: "", entry_ids: [] };

/** One part of a frame, as the inspector shows it. */
export interface FramePart {
  readonly part: string;
  readonly bytes: number;
  readonly tokens: number;
  readonly sha256: string;
  readonly entry_ids: readonly string[];
  /** There only where lines were too long to be quoted whole. */
  readonly quoted?: true;
  readonly quotes?: readonly QuotedRanges[];
  /** Which keys brought each line of lore. */
  readonly keys?: readonly { readonly entry_id: string; readonly keys: readonly string[] }[];
}

/** The user message: one JSON object, stable parts first so that a provider's prefix cache works. */
export function toUserMessage(
  cast: Cast,
  parts: FrameParts,
  evidence: readonly Evidence[],
  tools: ToolState,
): { readonly text: string; readonly pieces: readonly (readonly [string, string])[] } {
  const pieces = Object.entries<unknown>({
    reply_format: "verbatim.writer.v2",
    you_write: { as: parts.plan.actor, may_write: mayWrite(cast, parts.plan) },
    notes: parts.told.notes,
    about: parts.told.about.map(({ name, text, style }) => (style === undefined ? { name, text } : { name, style })),
    scene: parts.scene.text,
    continuity: parts.continuity.text,
    people: parts.people.map(({ name, lines }) => ({ name, lines })),
    pinned: parts.told.pinned.map(({ who, text }) => ({ who, text })),
    present: cast.present.slice(0, MAX_PRESENT).map((id) => ({ id, name: nameOf(cast, id) })),
    time: parts.time,
    lore: parts.told.lore.map(({ text }) => text),
    recent: parts.recent.map((entry) => ({
      who: entry.channel === "VOICE" ? null : nameOf(cast, entry.author.author_id),
      channel: entry.channel,
      text: entry.quote?.text ?? entry.text,
    })),
    opportunities: parts.opportunities,
    evidence: evidence.map(({ value }): JsonValue => value),
    said: parts.said,
    tools: { available: tools.available, names: TOOLS, calls_left: tools.calls_left },
  }).map(([key, value]) => [key, JSON.stringify(value)] as const);
  return { text: `{${pieces.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(",")}}`, pieces };
}

/** The lines a pass may write. */
export function mayWrite(
  cast: Cast,
  { pass, actor }: PassPlan,
): readonly {
  readonly channel: string;
  readonly author_id: string;
  readonly author_class: string;
  readonly name: string | null;
}[] {
  const voice = { channel: "VOICE", author_id: WORLD, author_class: "WORLD", name: null };
  const person = (id: string) => ({
    channel: "PEOPLE",
    author_id: id,
    author_class: "PERSON",
    name: nameOf(cast, id),
  });
  if (pass === "WORLD_ONLY") return [voice];
  if (pass === "PERSON") return [person(actor)];
  return [
    voice,
    ...cast.present
      .slice(0, MAX_PRESENT)
      .filter((id) => cast.people.has(id) && cast.players?.has(id) !== true)
      .map(person),
  ];
}

/** The two messages of a call. */
export function toMessages(rules: string, user: string): readonly ChatMessage[] {
  return [
    { role: "system", content: rules },
    { role: "user", content: user },
  ];
}

/** The parts of a call with their sizes and sources. */
export function describeParts(
  ports: { readonly crypto: SyncCrypto; readonly tokenizer: Tokenizer },
  rules: string,
  parts: FrameParts,
  pieces: readonly (readonly [string, string])[],
  evidenceIds: readonly string[],
): FramePart[] {
  const sources: Readonly<Record<string, readonly string[]>> = {
    about: parts.told.about.flatMap(({ entry_id }) => entry_id ?? []),
    scene: parts.scene.entry_ids,
    continuity: parts.continuity.entry_ids,
    people: parts.people.flatMap(({ entry_ids }) => entry_ids),
    pinned: parts.told.pinned.map(({ entry_id }) => entry_id),
    lore: parts.told.lore.map(({ entry_id }) => entry_id),
    recent: parts.recent.map(({ entry_id }) => entry_id),
    evidence: evidenceIds,
  };
  const quotes: Readonly<Record<string, readonly QuotedRanges[]>> = {
    scene: parts.scene.quotes ?? [],
    about: parts.told.about.flatMap(({ entry_id, ranges }) =>
      entry_id === null || ranges === undefined ? [] : [{ entry_id, ranges }],
    ),
    continuity: parts.continuity.quotes ?? [],
    pinned: parts.told.pinned.map(({ entry_id, range }) => ({ entry_id, ranges: [range] })),
    recent: quotesOf(parts.recent),
  };
  return [["rules", rules] as const, ...pieces].map(([part, text]) => ({
    part,
    bytes: utf8Length(text),
    tokens: ports.tokenizer.count(text),
    sha256: ports.crypto.sha256(text),
    entry_ids: sources[part] ?? [],
    ...((quotes[part] ?? []).length === 0 ? {} : { quoted: true, quotes: quotes[part]! }),
    ...(part === "lore" && parts.told.lore.length > 0
      ? { keys: parts.told.lore.map(({ entry_id, keys }) => ({ entry_id, keys })) }
      : {}),
  }));
}

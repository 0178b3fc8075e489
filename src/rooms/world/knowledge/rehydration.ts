import { VerbatimError } from "../../../core/errors/index.ts";
import type { Awaitable } from "../../../core/ports.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import { renderLine } from "../contracts/lint.ts";
import type { Cast } from "../people/cast.ts";
import type { Tokenizer } from "../ports.ts";

const LEAST_USABLE = 1024;
const MAX_REPLAY = 6;
const MAX_OPENING = 8;
const SHARE_PERCENT = 25;
const TRIES = 3;

interface WindowSettings {
  readonly window_tokens: number;
  readonly output_reserve: number;
  readonly evidence_bytes: number;
}

/** Tokens a frame may take before evidence; CONTEXT_BUDGET_TOO_SMALL when there are hardly any. */
export function usableTokens({ window_tokens, output_reserve, evidence_bytes }: WindowSettings): number {
  const usable = window_tokens - output_reserve - Math.ceil(evidence_bytes / 3);
  if (usable >= LEAST_USABLE) return usable;
  throw new VerbatimError("CONTEXT_BUDGET_TOO_SMALL", {
    message: `only ${usable} tokens are usable; at least ${LEAST_USABLE} are needed`,
    where: "/context/window_tokens",
    details: { usable, needed: LEAST_USABLE },
  });
}

/** The smallest load that triggers a rehydration. */
export function triggerAt(usable: number, thresholdPercent: number): number {
  return Math.ceil((thresholdPercent * usable) / 100);
}

/** Whether a load triggers a rehydration. Mechanical: nothing else can. */
export function isTriggered(load: number, usable: number, thresholdPercent: number): boolean {
  return load >= triggerAt(usable, thresholdPercent);
}

interface PackRoom {
  readonly usable: number;
  readonly pack_percent: number;
}

type BuiltPack =
  | {
      readonly target: number;
      readonly text: string;
      readonly replay: string;
      readonly text_entry_ids: readonly string[];
      readonly replay_entry_ids: readonly string[];
      readonly used_entry_ids: readonly string[];
    }
  | { readonly target: number; readonly failed: "ENTRY_TOO_LARGE" };

/** Fills a pack from the visible entries of a scene, in projection order. Lines are whole or absent, never cut. */
export function buildRehydration(
  cast: Cast,
  tokenizer: Tokenizer,
  entries: readonly LedgerEntry[],
  room: PackRoom,
): BuiltPack {
  const target = Math.floor((room.usable * room.pack_percent) / 100);
  const lines = entries.map((entry) => renderLine(cast, entry));
  const costs = lines.map((line) => tokenizer.count(`${line}\n`));
  const newest = entries.length - 1;
  if (newest >= 0 && costs[newest]! > target) return { target, failed: "ENTRY_TOO_LARGE" };
  const replay = takeReplay(costs, target);
  const opening = takeOpening(costs, replay.from, target - replay.cost);
  const recentFrom = takeRecent(costs, opening, replay.from, target - replay.cost);
  const ids = (from: number, to: number) => entries.slice(from, to).map(({ entry_id }) => entry_id);
  const textIds = [...ids(0, opening.to), ...ids(recentFrom, replay.from)];
  const replayIds = ids(replay.from, entries.length);
  const replayText = lines.slice(replay.from).join("\n");
  const text = [...lines.slice(0, opening.to), ...lines.slice(recentFrom, replay.from)].join("\n");
  return {
    target,
    text: textIds.length === 0 ? replayText : text,
    replay: replayText,
    text_entry_ids: textIds.length === 0 ? replayIds : textIds,
    replay_entry_ids: replayIds,
    used_entry_ids: [...textIds, ...replayIds],
  };
}

/** From the newest backwards within a quarter of the target; the newest always. */
function takeReplay(costs: readonly number[], target: number): { from: number; cost: number } {
  const most = Math.floor((target * SHARE_PERCENT) / 100);
  let from = costs.length;
  let cost = 0;
  while (from > 0 && costs.length - from < MAX_REPLAY) {
    const next = costs[from - 1]!;
    if (from < costs.length && cost + next > most) break;
    cost += next;
    from--;
  }
  return { from, cost };
}

/** From the oldest within a quarter of what remains. */
function takeOpening(costs: readonly number[], end: number, remaining: number): { to: number; cost: number } {
  const most = Math.floor((remaining * SHARE_PERCENT) / 100);
  let to = 0;
  let cost = 0;
  while (to < end && to < MAX_OPENING && cost + costs[to]! <= most) cost += costs[to++]!;
  return { to, cost };
}

/** From the newest of the rest backwards, until the first that does not fit. */
function takeRecent(
  costs: readonly number[],
  opening: { readonly to: number; readonly cost: number },
  end: number,
  remaining: number,
): number {
  let from = end;
  let cost = opening.cost;
  while (from > opening.to && cost + costs[from - 1]! <= remaining) cost += costs[--from]!;
  return from;
}

interface Try {
  readonly pack_percent: number;
  /** Null when the build failed. */
  readonly load: number | null;
  readonly ok: boolean;
}

/** Tries packs of half the size each time, three in all, until the load falls below the trigger. */
export async function tryPacks<P>(
  usable: number,
  thresholdPercent: number,
  packPercent: number,
  attempt: (packPercent: number, index: number) => Awaitable<{ readonly pack: P; readonly load: number } | null>,
): Promise<{ readonly pack: P | null; readonly tries: readonly Try[] }> {
  const tries: Try[] = [];
  let percent = packPercent;
  for (let i = 0; i < TRIES; i++) {
    const built = await attempt(percent, i);
    const ok = built !== null && !isTriggered(built.load, usable, thresholdPercent);
    tries.push({ pack_percent: percent, load: built?.load ?? null, ok });
    if (ok) return { pack: built.pack, tries };
    percent = Math.floor(percent / 2);
  }
  return { pack: null, tries };
}

import type { LedgerEntry } from "../contracts/context.ts";
import { nameOf } from "../people/cast.ts";
import type { WorldReader } from "../ports.ts";
import { gated, type OpenWorld } from "../projection/reading.ts";
import { allTerms } from "../retrieval/terms.ts";
import { TermsIndex } from "../retrieval/terms-index.ts";
import { findByAuthor } from "../retrieval/world-search.ts";
import { type Turns, turnsOf } from "../settings.ts";
import { isBackground } from "./background.ts";
import type { View } from "./gate.ts";

/** Who acts in a beat of turns, and what decided it. */
export interface ChosenTurns {
  readonly kind: Turns["kind"] | "set";
  readonly chosen: readonly string[];
}

/** Who may be chosen: people who are here and whom nobody plays. */
export function candidatesOf({ cast }: Pick<OpenWorld, "cast">): string[] {
  return cast.present.filter((id) => cast.people.has(id) && cast.players?.has(id) !== true);
}

/** Whose turn it is. Only what the whole room knows decides it: a hidden line would show in who speaks next. */
export async function chooseTurns(tables: WorldReader, world: OpenWorld, said: string): Promise<ChosenTurns> {
  const turns = turnsOf(world.state.settings);
  const candidates = candidatesOf(world);
  const { next_turn } = world.state;
  if (next_turn !== undefined) {
    return { kind: "set", chosen: next_turn.filter((id) => candidates.includes(id)) };
  }
  const { kind, most, order } = turns;
  if (kind === "list") return { kind, chosen: nextOf(order, world.state.last_turn, candidates).slice(0, most) };
  if (kind === "addressed") {
    const named = findAddressed(world, candidates, said);
    if (named.length > 0) return { kind, chosen: named.slice(0, most) };
  }
  return { kind, chosen: (await rotate(tables, world, candidates)).slice(0, most) };
}

/** Those of a list that are here, from whoever comes after the last one on. */
function nextOf(order: readonly string[], last: string | undefined, candidates: readonly string[]): string[] {
  const start = last === undefined ? 0 : order.indexOf(last) + 1;
  return [...order.slice(start), ...order.slice(0, start)].filter((id) => candidates.includes(id));
}

/** Those whose name or id stands in a text as words that follow each other, in the order in which they do. */
function findAddressed(
  { cast }: Pick<OpenWorld, "cast">,
  candidates: readonly string[],
  said: string,
): readonly string[] {
  const terms = [...allTerms(said)];
  const places = candidates.map((id) => {
    const found = [nameOf(cast, id), id]
      .map((name) => indexOfTerms(terms, [...allTerms(name)]))
      .filter((at) => at >= 0);
    return { id, at: found.length === 0 ? -1 : Math.min(...found) };
  });
  return places
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
    .map(({ id }) => id);
}

function indexOfTerms(terms: readonly string[], wanted: readonly string[]): number {
  if (wanted.length === 0) return -1;
  return terms.findIndex((_, i) => wanted.every((term, at) => terms[i + at] === term));
}

/** Whoever has been silent longest comes first; who said nothing yet before them. Ties go by id. */
async function rotate(tables: WorldReader, world: OpenWorld, candidates: readonly string[]): Promise<string[]> {
  const view: View = { kind: "room", present: world.cast.present };
  const index = await TermsIndex.open(tables, world.number);
  const last = new Map<string, number>();
  for (const id of candidates) last.set(id, (await newestOf(tables, index, world, view, id))?.wseq ?? 0);
  return [...candidates].sort((a, b) => last.get(a)! - last.get(b)!);
}

async function newestOf(
  tables: WorldReader,
  index: TermsIndex,
  world: OpenWorld,
  view: View,
  person: string,
): Promise<LedgerEntry | undefined> {
  for await (const wseqs of findByAuthor(index, world, view, person)) {
    const entries = gated(world, view, await tables.entries(world.number, wseqs));
    const lived = entries.filter((entry) => entry.author.author_id === person && !isBackground(entry));
    if (lived.length > 0) return lived.reduce((a, b) => (b.wseq > a.wseq ? b : a));
  }
  return undefined;
}

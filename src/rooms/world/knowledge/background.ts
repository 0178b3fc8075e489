import type { LedgerEntry } from "../contracts/context.ts";
import { parseAudience } from "../people/audience.ts";
import { WORLD } from "../people/cast.ts";
import type { BackgroundRow, EntryRange, WorldReader } from "../ports.ts";
import { type OpenWorld, readVisible } from "../projection/reading.ts";
import type { View } from "./gate.ts";

/** Whether a committed line describes and was not lived: a description, a persona, lore. */
export function isBackground({ request_id, author, visibility }: LivedFacts): boolean {
  if (request_id.startsWith("sys:lore:") || request_id.startsWith("sys:persona:")) return true;
  if (request_id !== "import" && !request_id.startsWith("sys:import:")) return false;
  if (visibility.visible_to.includes(WORLD)) return true;
  return author.author_id === WORLD && visibility.scope === "PUBLIC" && request_id !== "import";
}

type LivedFacts = {
  readonly request_id: string;
  readonly author: { readonly author_id: string };
  readonly visibility: { readonly scope: string; readonly visible_to: readonly string[] };
};

/** Where the background of a world is. Lines never change, so only new ones are looked at again. */
export interface Background {
  /** First and last line of each run, in order. */
  readonly runs: readonly (readonly [number, number])[];
  /** Lines that describe one person, by that person. */
  readonly about: ReadonlyMap<string, readonly number[]>;
}

interface Kept extends Background {
  readonly end: number;
  readonly runs: [number, number][];
  readonly about: Map<string, number[]>;
}

const kept = new Map<string, Kept>();
const KEEP_WORLDS = 64;

/** The background of a world as it is now. */
export async function readBackground(tables: WorldReader, world: OpenWorld): Promise<Background> {
  const { world_key, next_wseq } = world.state;
  const known = kept.get(world_key);
  if (known?.end === next_wseq) return known;
  // A store that lost entries may give their numbers to others.
  const base: Kept = known !== undefined && known.end < next_wseq ? known : { end: 1, runs: [], about: new Map() };
  const rows = (await tables.background(world.number, base.end - 1)).filter(({ wseq }) => wseq < next_wseq);
  const made: Kept =
    rows.length === 0
      ? { ...base, end: next_wseq }
      : {
          end: next_wseq,
          runs: base.runs.map(([from, to]) => [from, to]),
          about: new Map([...base.about].map(([id, wseqs]) => [id, [...wseqs]])),
        };
  for (const row of rows) add(made, row);
  if (kept.size >= KEEP_WORLDS && known === undefined) kept.delete(kept.keys().next().value!);
  kept.set(world_key, made);
  return made;
}

function add({ runs, about }: Kept, row: BackgroundRow): void {
  const visible_to = parseAudience(row.audience);
  const { wseq, request_id, scope } = row;
  if (!isBackground({ request_id, author: row, visibility: { scope, visible_to } })) return;
  const last = runs.at(-1);
  if (last !== undefined && last[1] === wseq - 1) last[1] = wseq;
  else runs.push([wseq, wseq]);
  const [person, other] = visible_to.filter((id) => id !== WORLD);
  const describes = person !== undefined && other === undefined && visible_to.length === 2;
  if (!describes || !/^(?:import$|sys:import:)/.test(request_id)) return;
  about.set(person, [...(about.get(person) ?? []), wseq]);
}

/** The lines of a range that were lived and that a view may see: like `readVisible`, without background. */
export async function readLived(
  tables: WorldReader,
  world: OpenWorld,
  view: View,
  range: Partial<EntryRange> & { readonly limit: number },
): Promise<LedgerEntry[]> {
  const { runs } = await readBackground(tables, world);
  if (runs.length === 0) return readVisible(tables, world, view, range);
  const newest = range.newest === true;
  let [after, before] = [range.after ?? 0, range.before ?? world.state.next_wseq];
  const lived: LedgerEntry[] = [];
  while (lived.length < range.limit) {
    // A book of ten thousand lines is passed over, not read.
    if (newest) before = runAt(runs, before - 1)?.[0] ?? before;
    else after = runAt(runs, after + 1)?.[1] ?? after;
    const limit = range.limit - lived.length;
    const page = await readVisible(tables, world, view, { after, before, limit, newest });
    const seen = page.filter((entry) => !isBackground(entry));
    if (newest) lived.unshift(...seen);
    else lived.push(...seen);
    const end = newest ? page[0] : page.at(-1);
    if (end === undefined || page.length < limit) break;
    if (newest) before = end.wseq;
    else after = end.wseq;
  }
  return lived;
}

/** The run that a line is in. */
function runAt(runs: Background["runs"], wseq: number): readonly [number, number] | undefined {
  let [low, high] = [0, runs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (runs[middle]![1] < wseq) low = middle + 1;
    else high = middle;
  }
  const run = runs[low];
  return run !== undefined && run[0] <= wseq ? run : undefined;
}

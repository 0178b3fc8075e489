import type { AvatarMark, LoreMark, PersonaMark, PinMark, SwipesMark } from "../history/marks.ts";
import type { MarkRow, WorldReader } from "../ports.ts";
import type { OpenWorld } from "../projection/reading.ts";
import { LoreMatcher } from "./lore-match.ts";

export interface Lore extends LoreMark {
  readonly lore_id: string;
  /** Which was set later. */
  readonly number: number;
}

export interface Pin extends PinMark {
  readonly pin_id: string;
  readonly number: number;
}

/** A line that was written more than once before it was imported. */
interface Swipes {
  readonly source_sha256: string;
  readonly line: number;
  readonly count: number;
}

/** Everything of a world that points at its lines. */
export interface Marks {
  readonly lore: readonly Lore[];
  readonly pins: readonly Pin[];
  readonly persona: PersonaMark | null;
  readonly pictures: ReadonlyMap<string, AvatarMark>;
  /** By the number of the entry: where its other texts are, and how many there are. */
  readonly swipes: ReadonlyMap<number, Swipes>;
  /** What a line corrects, and by which lines a line was corrected, oldest first. */
  readonly corrects: ReadonlyMap<string, string>;
  readonly corrected_by: ReadonlyMap<string, readonly string[]>;
  /** Lines of lore that are on, in the order of `due`. */
  readonly enabled: readonly Lore[];
  readonly matcher: LoreMatcher;
}

const NOTHING: Marks = {
  lore: [],
  pins: [],
  persona: null,
  pictures: new Map(),
  swipes: new Map(),
  corrects: new Map(),
  corrected_by: new Map(),
  enabled: [],
  matcher: new LoreMatcher([]),
};

// To read ten thousand keys and to make them ready takes longer than a beat; they change only with the number of marks.
const kept = new Map<string, { readonly count: number; readonly marks: Marks }>();
const KEEP_WORLDS = 16;

/** The marks of a world as they are now. */
export async function readMarks(tables: WorldReader, { number, state }: OpenWorld): Promise<Marks> {
  if (state.marks === undefined) return NOTHING;
  const known = kept.get(state.world_key);
  if (known?.count === state.marks) return known.marks;
  const marks = toMarks(await tables.marks(number));
  if (kept.size >= KEEP_WORLDS && known === undefined) kept.delete(kept.keys().next().value!);
  kept.set(state.world_key, { count: state.marks, marks });
  return marks;
}

function toMarks(rows: readonly MarkRow[]): Marks {
  const of = (kind: MarkRow["kind"]) => rows.filter((row) => row.kind === kind);
  const lore = of("lore").map(({ id, number, body }): Lore => ({ ...parse<LoreMark>(body), lore_id: id, number }));
  const enabled = lore.filter((one) => one.enabled);
  const [persona] = of("persona");
  const corrections = of("correction")
    .sort((a, b) => a.number - b.number)
    .map(({ id, body }) => ({ id, corrects: parse<{ readonly corrects: string }>(body).corrects }));
  const corrected_by = new Map<string, string[]>();
  for (const { id, corrects } of corrections) corrected_by.set(corrects, [...(corrected_by.get(corrects) ?? []), id]);
  return {
    lore,
    pins: of("pin")
      .map(({ id, number, body }): Pin => ({ ...parse<PinMark>(body), pin_id: id, number }))
      .sort((a, b) => b.number - a.number),
    persona: persona === undefined ? null : parse<PersonaMark>(persona.body),
    pictures: new Map(of("avatar").map(({ id, body }) => [id, parse(body)])),
    swipes: new Map(
      of("swipes").flatMap(({ body }) => {
        const { source_sha256, lines } = parse<SwipesMark>(body);
        return lines.map(([wseq, line, count]): [number, Swipes] => [wseq, { source_sha256, line, count }]);
      }),
    ),
    corrects: new Map(corrections.map(({ id, corrects }) => [id, corrects])),
    corrected_by,
    enabled,
    matcher: new LoreMatcher(enabled),
  };
}

function parse<T>(body: string): T {
  return JSON.parse(body) as T;
}

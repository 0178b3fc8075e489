import type { IndexView } from "../index/index-view.ts";
import type { ContextReader, FoundWord, SearchSegment } from "../ports.ts";
import { ByteReader } from "./bytes.ts";
import { matchTerm, type TermMatch } from "./search-match.ts";
import { BestHits, scoreOf } from "./search-rank.ts";
import { countSections, eachSection } from "./search-segment.ts";
import type { WordTerm } from "./search-term.ts";
import { isTestPath } from "./test-paths.ts";

/** Segments that are asked for at once: a question to a database may take longer than its answer. */
const AT_ONCE = 8;

interface FindPorts {
  readonly context: ContextReader;
  readonly view: IndexView;
  /** Gives others their turn. */
  pause(): Promise<void>;
}

/** The sections that have every term. Cost: linear in how often the words come, not in the size of the index. */
export async function findSections(
  { context, view, pause }: FindPorts,
  terms: readonly WordTerm[],
  limit: number,
): Promise<BestHits> {
  const best = new BestHits(limit);
  const segments = await context.searchSegments();
  for (let i = 0; i < segments.length; i += AT_ONCE) {
    const some = segments.slice(i, i + AT_ONCE);
    const rows = await loadRows(context, terms, some);
    for (const segment of some) {
      findInSegment(view, terms, segment, rows.get(segment.id) ?? new Map(), best);
      await pause();
    }
  }
  return best;
}

type RangeRows = Map<string, FoundWord[]>;

/** The rows of every range of words, by segment and range. */
async function loadRows(
  context: ContextReader,
  terms: readonly WordTerm[],
  segments: readonly SearchSegment[],
): Promise<Map<number, RangeRows>> {
  const ranges = new Map(
    terms
      .flatMap(({ before, range }) => [range, ...before.map((word) => [word, word] as const)])
      .map((one) => [keyOf(...one), one]),
  );
  const found = new Map<number, RangeRows>();
  for (const [key, [first, last]] of ranges) {
    for (const row of await context.searchWords(segments[0]!.id, segments.at(-1)!.id, first, last)) {
      const mine = found.get(row.segment) ?? new Map<string, FoundWord[]>();
      found.set(row.segment, mine);
      const list = mine.get(key);
      if (list === undefined) mine.set(key, [row]);
      else list.push(row);
    }
  }
  return found;
}

function keyOf(first: string, last: string): string {
  return `${first} ${last}`;
}

function findInSegment(
  view: IndexView,
  terms: readonly WordTerm[],
  segment: SearchSegment,
  rows: RangeRows,
  best: BestHits,
): void {
  // Whatever lacks a term needs no further look.
  if (terms.some(({ range }) => !rows.has(keyOf(...range)))) return;
  const count = countSections(segment.sections);
  const matches = terms.map((term) => matchTerm(term, count, (first, last) => rows.get(keyOf(first, last)) ?? []));
  const paths = segment.paths.split("\n");
  const gone = readGone(segment.gone);
  const tests = new Map<number, boolean>();
  eachSection(segment.sections, (i, file, ordinal, length) => {
    if (!hasAll(matches, i) || gone.has(file)) return;
    let isTest = tests.get(file);
    if (isTest === undefined) {
      isTest = isTestPath(paths[file]!);
      tests.set(file, isTest);
    }
    const score = scoreOf(matches, i, length, isTest);
    // Where a file is in the index is looked up only for what may be among the results.
    if (best.admits(score)) best.keep(score, view.fileNumber(paths[file]!), ordinal);
  });
}

function hasAll(matches: readonly TermMatch[], section: number): boolean {
  // Beyond the end of a damaged list there is nothing.
  for (const { counts } of matches) if (!(counts[section]! > 0)) return false;
  return true;
}

function readGone(bytes: Uint8Array): ReadonlySet<number> {
  const reader = new ByteReader(bytes);
  const gone = new Set<number>();
  while (!reader.isDone) gone.add(reader.next());
  return gone;
}

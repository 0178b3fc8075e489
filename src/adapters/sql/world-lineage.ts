import type { LineageRow, PostingRow, RecentTermsRow } from "../../rooms/world/ports.ts";
import type { SqlValue } from "./statements.ts";

/** Lines that share a posting list's part; the room's own number for it. */
const BLOCK = 256;

/** A stretch of a world's lines and messages that lies in the rows of one world: an ancestor's, or at the end its own. */
export interface Segment {
  readonly world: number;
  /** Number of the last line before it. */
  readonly after: number;
  /** Number of its last line. */
  readonly upto: number;
  readonly after_message: number;
  readonly upto_message: number;
}

/** The stretches of a world, oldest first; null for one whose rows are all its own. */
export function toSegments(world: number, lineage: readonly LineageRow[]): readonly Segment[] | null {
  if (lineage.length === 0) return null;
  const segments: Segment[] = [];
  let after = 0;
  let after_message = 0;
  for (const { ancestor, upto_wseq: upto, upto_message } of lineage) {
    segments.push({ world: ancestor, after, upto, after_message, upto_message });
    [after, after_message] = [upto, upto_message];
  }
  const open = Number.MAX_SAFE_INTEGER;
  return [...segments, { world, after, upto: open, after_message, upto_message: open }];
}

/** The parts of segments that hold lines above `after` and below `before`, cut to them. */
export function within(segments: readonly Segment[], after: number, before: number): Segment[] {
  return segments
    .map((one) => ({ ...one, after: Math.max(one.after, after), upto: Math.min(one.upto, before - 1) }))
    .filter((one) => one.upto > one.after);
}

/** The world in whose rows a line lies. */
export function ownerOf(segments: readonly Segment[], wseq: number): number {
  return segments.find(({ upto }) => wseq <= upto)!.world;
}

/** The blocks in which a segment may have postings. */
export function blocksOf({ after, upto }: Segment): { readonly from: number; readonly to: number } {
  return { from: Math.floor((after + 1) / BLOCK), to: Math.floor(upto / BLOCK) };
}

/** What of a part of a posting list belongs to a segment; null for nothing. */
export function cutPosting(row: PostingRow, { after, upto }: Segment): PostingRow | null {
  const base = row.block * BLOCK;
  if (base > after && base + BLOCK - 1 <= upto) return row;
  const lows = row.lows.filter((low) => base + low > after && base + low <= upto);
  return lows.length === 0 ? null : { ...row, lows };
}

/** What of waiting keys belongs to a segment; null for nothing. */
export function cutRecent({ wseq, keys }: RecentTermsRow, { upto }: Segment): RecentTermsRow | null {
  let end = 0;
  for (let next = wseq; next <= upto; next++) {
    const at = keys.indexOf("\n", end);
    if (at < 0) return { wseq, keys };
    end = at + 1;
  }
  return end === 0 ? null : { wseq, keys: keys.slice(0, end) };
}

/** Parts of one block as one, its places in order. */
export function joinPostings(parts: readonly PostingRow[]): PostingRow {
  if (parts.length === 1) return parts[0]!;
  const lows = Uint8Array.from(parts.flatMap((part) => [...part.lows])).sort();
  return { ...parts[0]!, lows };
}

interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** One query for each segment, their answers in one list. */
export function unionOf(
  segments: readonly Segment[],
  toPart: (segment: Segment) => Statement,
  rest: string,
): Statement {
  const parts = segments.map(toPart);
  return { sql: `${parts.map(({ sql }) => sql).join(" union all ")} ${rest}`, values: parts.flatMap((p) => p.values) };
}

/** Rows of numbers to join with; PostgreSQL takes bare parameters for texts. */
export function numberRows(rows: readonly (readonly number[])[]): Statement {
  const row = (one: readonly number[]): string => `(${one.map(() => "cast(? as bigint)").join(", ")})`;
  return { sql: `values ${rows.map(row).join(", ")}`, values: rows.flat() };
}

/** The ancestors of a world as its row has them. */
export function parseLineage(text: string): LineageRow[] {
  return (JSON.parse(text) as [number, number, number][]).map(([ancestor, upto_wseq, upto_message]) => ({
    ancestor,
    upto_wseq,
    upto_message,
  }));
}

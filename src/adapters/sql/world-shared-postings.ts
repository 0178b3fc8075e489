import type { PostingRow } from "../../rooms/world/ports.ts";
import type { ReadSql } from "./statements.ts";
import { blocksOf, cutPosting, joinPostings, type Segment, unionOf } from "./world-lineage.ts";

/** Parts of a posting list in a range of blocks, newest block first, each cut to the segment it comes from. */
export async function sharedPostings(
  connection: ReadSql,
  segments: readonly Segment[],
  key: string,
  { from, to, limit }: { readonly from: number; readonly to: number; readonly limit: number | null },
): Promise<PostingRow[]> {
  const touched = segments.filter((segment) => blocksOf(segment).from <= to && blocksOf(segment).to >= from);
  if (touched.length === 0) return [];
  const byWorld = new Map(touched.map((segment) => [segment.world, segment]));
  const { sql, values } = unionOf(
    touched,
    (segment) => {
      const blocks = blocksOf(segment);
      return {
        sql: "select world, key, block, lows from world_terms where world = ? and key = ? and block between ? and ?",
        values: [segment.world, key, Math.max(blocks.from, from), Math.min(blocks.to, to)],
      };
    },
    limit === null ? "order by block desc" : "order by block desc limit ?",
  );
  const all = limit === null ? values : [...values, limit];
  const rows = await connection.all<PostingRow & { readonly world: number }>(sql, ...all);
  // What is cut away entirely still counts against a limit, so an empty part stands for it.
  return rows.map(({ world, key: name, block, lows }) => {
    const row = { key: name, block, lows };
    return cutPosting(row, byWorld.get(world)!) ?? { ...row, lows: new Uint8Array() };
  });
}

/** The newest blocks of a posting list below a block, each whole, newest first. */
export async function newestShared(
  connection: ReadSql,
  segments: readonly Segment[],
  key: string,
  { below, limit }: { readonly below: number; readonly limit: number },
): Promise<PostingRow[]> {
  const found: PostingRow[] = [];
  // No block has more parts than there are segments, so the limit always leaves a block that is whole.
  const most = limit + segments.length;
  for (let end = below; found.length < limit; ) {
    const parts = await sharedPostings(connection, segments, key, { from: 0, to: end - 1, limit: most });
    const isLast = parts.length < most;
    const oldest = parts.at(-1)?.block;
    const whole = isLast ? parts : parts.filter(({ block }) => block !== oldest);
    for (const block of new Set(whole.map((part) => part.block))) {
      const joined = joinPostings(whole.filter((part) => part.block === block));
      if (joined.lows.length > 0) found.push(joined);
    }
    if (isLast) break;
    end = oldest! + 1;
  }
  return found.slice(0, limit);
}

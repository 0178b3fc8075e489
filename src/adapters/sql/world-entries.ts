import type { AudienceFilter, EntryRange } from "../../rooms/world/ports.ts";
import type { SqlValue } from "./statements.ts";
import { numberRows, type Segment, unionOf } from "./world-lineage.ts";

export const ENTRY =
  "wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text";
// Reading a column out of a row costs more than finding the row.
export const SHOWN =
  "wseq, entry_id, bundle_id, request_id, created_at, author_id, author_class, channel, scope, audience, text";

interface Query {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** One index range per audience, merged by wseq, so that a page costs the same however much is hidden. */
export function visibleQuery(world: number, audience: AudienceFilter, range: EntryRange): Query {
  const { parts, values } = visibleParts("v.wseq as wseq", world, audience, range);
  const order = range.newest ? "desc" : "asc";
  return {
    sql: `select ${SHOWN} from (${parts.join(" union all ")} order by 1 ${order} limit ?) page
join world_entry using (wseq) where world_entry.world = ? order by wseq ${order}`,
    values: [...values, range.limit, world],
  };
}

/** The same over the rows of several worlds, none of whose stretches meet. */
export function visibleInSegments(segments: readonly Segment[], audience: AudienceFilter, range: EntryRange): Query {
  const order = range.newest ? "desc" : "asc";
  const page = unionOf(
    segments,
    ({ world, after, upto }) => {
      const { parts, values } = visibleParts("v.wseq as wseq, v.world as world", world, audience, {
        after,
        before: upto + 1,
      });
      return { sql: parts.join(" union all "), values };
    },
    `order by 1 ${order} limit ?`,
  );
  return {
    sql: `select e.${SHOWN.replaceAll(", ", ", e.")} from (${page.sql}) page cross join world_entry e
where e.world = page.world and e.wseq = page.wseq order by e.wseq ${order}`,
    values: [...page.values, range.limit],
  };
}

function visibleParts(
  columns: string,
  world: number,
  { any, all }: AudienceFilter,
  { after, before }: Pick<EntryRange, "after" | "before">,
): { readonly parts: readonly string[]; readonly values: readonly number[] } {
  const values: number[] = [];
  const range = (person: number): string => {
    values.push(world, person, after, before);
    return "v.world = ? and v.person = ? and v.wseq > ? and v.wseq < ?";
  };
  const listed = (person: number): string => {
    values.push(world, person);
    return "exists (select 1 from world_entry_visible o where o.world = ? and o.person = ? and o.wseq = v.wseq)";
  };
  const select = `select ${columns} from world_entry_visible v where`;
  const parts = any.map((person) => `${select} ${range(person)}`);
  const [first, ...others] = all;
  if (first !== undefined) {
    const conditions = [range(first), ...others.map(listed), ...any.map((person) => `not ${listed(person)}`)];
    parts.push(`${select} ${conditions.join(" and ")}`);
  }
  return { parts, values };
}

/** The lines of stretches whose ends are known. */
export function rangeQuery(segments: readonly Segment[]): Query {
  return unionOf(
    segments,
    ({ world, after, upto }) => ({
      sql: `select ${SHOWN} from world_entry where world = ? and wseq > ? and wseq <= ?`,
      values: [world, after, upto],
    }),
    "order by wseq",
  );
}

/** Lines by number, each in the rows of the world named beside it. */
export function entriesQuery(places: readonly (readonly [wseq: number, world: number])[]): Query {
  const { sql, values } = numberRows(places);
  return {
    sql: `with wanted(at, owner) as (${sql}) select ${SHOWN} from wanted cross join world_entry e
where e.world = wanted.owner and e.wseq = wanted.at`,
    values,
  };
}

/** Lines by id in the stretches of several worlds. */
export function entriesByIdQuery(segments: readonly Segment[], ids: readonly string[]): Query {
  const { sql, values } = numberRows(segments.map(({ world, after, upto }) => [world, after, upto]));
  return {
    sql: `with part(owner, low, high) as (${sql}) select ${SHOWN} from part cross join world_entry e
where e.world = part.owner and e.entry_id in (${ids.map(() => "?").join(", ")}) and e.wseq > part.low and e.wseq <= part.high`,
    values: [...values, ...ids],
  };
}

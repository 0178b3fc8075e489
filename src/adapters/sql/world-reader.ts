import type { Awaitable } from "../../core/ports.ts";
import type {
  AudienceFilter,
  CalendarRow,
  CallRow,
  EntryRange,
  EntryRow,
  MessageRow,
  PersonRow,
  PostingRow,
  RecentTermsRow,
  ShownRow,
  StoredInvocation,
  TokenRow,
  VisibleRow,
  WorldReader,
  WorldRow,
} from "../../rooms/world/ports.ts";
import type { ReadSql } from "./statements.ts";

/** The few words in which the databases differ. */
export interface WorldDialect {
  /** The world of an id, with its people as one JSON text. */
  readonly find: string;
  /** The same, held against other writers. */
  readonly hold: string;
  /** Holds a key against others who come with the same; absent where a writer holds the whole file. */
  readonly lockKey?: string;
}

const WORLD = "number, world_id, state, lock_holder, lock_until";

/** Finds the world of an id; the SQL of its people differs between the databases. */
export function toFind(people: string): string {
  return `select ${WORLD}, ${people} as people from world where world_id = ?`;
}

export const ENTRY =
  "wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text";
// Reading a column out of a row costs more than finding the row.
const SHOWN =
  "wseq, entry_id, bundle_id, request_id, created_at, author_id, author_class, channel, scope, audience, text";
const INVOCATION = "request_id, body_sha256, status, fence, lease_until, outcome, headers";

/** Values in one `in (...)` list; longer lists are asked for in parts. */
const MAX_LIST = 512;

/** Reads the room's tables. The statements mean the same in SQLite and PostgreSQL. */
export class SqlWorldReader<C extends ReadSql = ReadSql> implements WorldReader {
  protected readonly sql: C;
  protected readonly dialect: WorldDialect;
  readonly #guards: () => Promise<string[]>;

  constructor(sql: C, dialect: WorldDialect, guards: () => Promise<string[]>) {
    this.sql = sql;
    this.dialect = dialect;
    this.#guards = guards;
  }

  async list(): Promise<Omit<WorldRow, "people">[]> {
    return (await this.sql.all<Omit<WorldRow, "people">>(`select ${WORLD} from world order by world_id`)).map(copy);
  }

  find(worldId: string): Awaitable<WorldRow | null> {
    return rowOrNull(this.sql.get<WorldRow>(this.dialect.find, worldId));
  }

  async people(world: number): Promise<PersonRow[]> {
    const sql = "select number, person_id, display_name from world_person where world = ? order by number";
    return (await this.sql.all<PersonRow>(sql, world)).map(copy);
  }

  async visible(world: number, audience: AudienceFilter, range: EntryRange): Promise<ShownRow[]> {
    const { sql, values } = visibleQuery(world, audience, range);
    const rows = await this.sql.all<ShownRow>(sql, ...values);
    return range.newest ? rows.reverse() : rows;
  }

  async range(world: number, { after, before, limit, newest }: EntryRange): Promise<ShownRow[]> {
    const order = newest ? "desc" : "asc";
    const sql = `select ${SHOWN} from world_entry where world = ? and wseq > ? and wseq < ? order by wseq ${order} limit ?`;
    const rows = await this.sql.all<ShownRow>(sql, world, after, before, limit);
    return newest ? rows.reverse() : rows;
  }

  async entries(world: number, wseqs: readonly number[]): Promise<ShownRow[]> {
    const rows: ShownRow[] = [];
    for (const part of inParts(wseqs)) {
      const sql = `select ${SHOWN} from world_entry where world = ? and wseq in (${marks(part)}) order by wseq`;
      rows.push(...(await this.sql.all<ShownRow>(sql, world, ...part)));
    }
    return rows.sort((a, b) => a.wseq - b.wseq);
  }

  async entriesById(world: number, ids: readonly string[]): Promise<ShownRow[]> {
    const rows: ShownRow[] = [];
    for (const part of inParts(ids)) {
      const sql = `select ${SHOWN} from world_entry where world = ? and entry_id in (${marks(part)})`;
      rows.push(...(await this.sql.all<ShownRow>(sql, world, ...part)));
    }
    return rows.sort((a, b) => a.wseq - b.wseq);
  }

  async scan(world: number, after: number, limit: number): Promise<EntryRow[]> {
    const sql = `select ${ENTRY} from world_entry where world = ? and wseq > ? order by wseq limit ?`;
    return (await this.sql.all<EntryRow>(sql, world, after, limit)).map(copy);
  }

  async scanVisible(world: number, after: number, upTo: number): Promise<VisibleRow[]> {
    const sql =
      "select wseq, person from world_entry_visible where world = ? and wseq > ? and wseq <= ? order by wseq, person";
    return (await this.sql.all<VisibleRow>(sql, world, after, upTo)).map(copy);
  }

  async scanPostings(world: number): Promise<PostingRow[]> {
    const sql = "select key, block, lows from world_terms where world = ? order by key, block";
    return (await this.sql.all<PostingRow>(sql, world)).map(copy);
  }

  async recentTerms(world: number): Promise<RecentTermsRow[]> {
    const sql = "select wseq, keys from world_recent_terms where world = ? order by wseq";
    return this.sql.all<RecentTermsRow>(sql, world);
  }

  async scanInvocations(world: number): Promise<StoredInvocation[]> {
    const sql = `select ${INVOCATION} from world_invocation where world = ? order by request_id`;
    return (await this.sql.all<StoredInvocation>(sql, world)).map(copy);
  }

  async firstAt(world: number, ms: number): Promise<number> {
    // Instants never decrease with wseq, so the place is found by halving instead of by an index of its own.
    const bounds = await this.sql.get<{ last: number }>(
      "select coalesce(max(wseq), 0) as last from world_entry where world = ?",
      world,
    );
    let low = 1;
    let high = (bounds?.last ?? 0) + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const sql = "select created_ms from world_entry where world = ? and wseq = ?";
      const row = await this.sql.get<{ created_ms: number }>(sql, world, middle);
      if (row !== undefined && row.created_ms >= ms) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  async postings(world: number, keys: readonly string[], fromBlock: number, toBlock: number): Promise<PostingRow[]> {
    const rows: PostingRow[] = [];
    const sql = "select key, block, lows from world_terms where world = ? and key = ? and block between ? and ?";
    for (const key of keys) rows.push(...(await this.sql.all<PostingRow>(sql, world, key, fromBlock, toBlock)));
    return rows;
  }

  async newestPostings(world: number, key: string, below: number, limit: number): Promise<PostingRow[]> {
    const sql =
      "select key, block, lows from world_terms where world = ? and key = ? and block < ? order by block desc limit ?";
    return this.sql.all<PostingRow>(sql, world, key, below, limit);
  }

  async calendar(world: number): Promise<CalendarRow[]> {
    const sql = "select number, item_id, state, time_ms, body from world_calendar where world = ? order by number";
    return (await this.sql.all<CalendarRow>(sql, world)).map(copy);
  }

  async messages(world: number): Promise<MessageRow[]> {
    const sql = "select number, time_ms, body from world_message where world = ? order by number";
    return (await this.sql.all<MessageRow>(sql, world)).map(copy);
  }

  async invocation(world: number, requestId: string): Promise<StoredInvocation | null> {
    const sql = `select ${INVOCATION} from world_invocation where world = ? and request_id = ?`;
    return orNull(await this.sql.get<StoredInvocation>(sql, world, requestId));
  }

  async calls(world: number, requestId: string | null, limit: number): Promise<CallRow[]> {
    const named = requestId === null ? "" : "and request_id = ?";
    const sql = `select number, call_id, request_id, body from world_call where world = ? ${named} order by number desc limit ?`;
    const values = requestId === null ? [world, limit] : [world, requestId, limit];
    return (await this.sql.all<CallRow>(sql, ...values)).map(copy);
  }

  async call(world: number, callId: string): Promise<CallRow | null> {
    const sql = "select number, call_id, request_id, body from world_call where world = ? and call_id = ?";
    return orNull(await this.sql.get<CallRow>(sql, world, callId));
  }

  async lastCall(world: number): Promise<number> {
    const sql = "select coalesce(max(number), 0) as last from world_call where world = ?";
    return (await this.sql.get<{ last: number }>(sql, world))!.last;
  }

  async token(sha256: string): Promise<TokenRow | null> {
    const sql = "select sha256, role, world_id, viewer from world_token where sha256 = ?";
    return orNull(await this.sql.get<TokenRow>(sql, sha256));
  }

  missingGuards(): Promise<string[]> {
    return this.#guards();
  }
}

/** One index range per audience, merged by wseq, so that a page costs the same however much is hidden. */
function visibleQuery(
  world: number,
  { any, all }: AudienceFilter,
  { after, before, limit, newest }: EntryRange,
): { readonly sql: string; readonly values: readonly number[] } {
  const values: number[] = [];
  const range = (person: number): string => {
    values.push(world, person, after, before);
    return "v.world = ? and v.person = ? and v.wseq > ? and v.wseq < ?";
  };
  const listed = (person: number): string => {
    values.push(world, person);
    return "exists (select 1 from world_entry_visible o where o.world = ? and o.person = ? and o.wseq = v.wseq)";
  };
  const parts = any.map((person) => `select v.wseq as wseq from world_entry_visible v where ${range(person)}`);
  const [first, ...others] = all;
  if (first !== undefined) {
    const conditions = [range(first), ...others.map(listed), ...any.map((person) => `not ${listed(person)}`)];
    parts.push(`select v.wseq as wseq from world_entry_visible v where ${conditions.join(" and ")}`);
  }
  const order = newest ? "desc" : "asc";
  values.push(limit, world);
  return {
    sql: `select ${SHOWN} from (${parts.join(" union all ")} order by 1 ${order} limit ?) page
join world_entry using (wseq) where world_entry.world = ? order by wseq ${order}`,
    values,
  };
}

function marks(values: readonly unknown[]): string {
  return values.map(() => "?").join(", ");
}

/** Parts whose length is a power of two: the last value is repeated, so that few statements serve lists of any length. */
function* inParts<T>(values: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < values.length; at += MAX_LIST) {
    const part = values.slice(at, at + MAX_LIST);
    let length = 1;
    while (length < part.length) length *= 2;
    while (part.length < length) part.push(part.at(-1)!);
    yield part;
  }
}

/** A plain object: rows of a driver may have no prototype. */
function copy<Row extends object>(row: Row): Row {
  return { ...row };
}

function orNull<Row extends object>(row: Row | undefined): Row | null {
  return row === undefined ? null : { ...row };
}

/** A row as the driver gave it, without waiting for a database that has answered already. */
export function rowOrNull<Row>(found: Awaitable<Row | undefined>): Awaitable<Row | null> {
  return found instanceof Promise ? found.then((row) => row ?? null) : (found ?? null);
}

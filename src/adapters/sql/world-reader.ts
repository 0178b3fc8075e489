import type { Awaitable } from "../../core/ports.ts";
import type {
  AudienceFilter,
  BackgroundRow,
  CalendarRow,
  CallRow,
  EntryRange,
  EntryRow,
  LineageRow,
  MarkRow,
  MessageRow,
  PersonRow,
  PostingRow,
  RecentTermsRow,
  ShownRow,
  StateAtRow,
  StoredInvocation,
  TokenRow,
  VersionRow,
  VisibleRow,
  WorldReader,
  WorldRow,
} from "../../rooms/world/ports.ts";
import { inParts, marks, toList } from "./lists.ts";
import type { ReadSql } from "./statements.ts";
import {
  ENTRY,
  entriesByIdQuery,
  entriesQuery,
  rangeQuery,
  SHOWN,
  visibleInSegments,
  visibleQuery,
} from "./world-entries.ts";
import {
  blocksOf,
  cutPosting,
  cutRecent,
  ownerOf,
  parseLineage,
  type Segment,
  toSegments,
  unionOf,
  within,
} from "./world-lineage.ts";
import { newestShared, sharedPostings } from "./world-shared-postings.ts";

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

/** Finds the world of an id; the SQL of its people and its lineage differs between the databases. */
export function toFind(people: string, lineage: string): string {
  return `select ${WORLD}, ${people} as people, ${lineage} as lineage from world where world_id = ?`;
}

const TOKEN = "sha256, role, world_id, viewer, token_id, label, made_ms, used_on, expires_ms, revoked_ms";
const INVOCATION = "request_id, body_sha256, status, fence, lease_until, outcome, headers";

/** Lines that may be background; the index of a migration has the same words. */
export const BACKGROUND = `(request_id = 'import' or substr(request_id, 1, 4) = 'sys:')
  and (author_id = 'WORLD' or replace(audience, '"WORLD"', '') <> audience)`;

/**
 * Reads the room's tables. The statements mean the same in SQLite and PostgreSQL. What a world shares is read from the
 * rows of its ancestors, segment by segment; a world whose rows are all its own costs no statement more.
 */
export class SqlWorldReader<C extends ReadSql = ReadSql> implements WorldReader {
  protected readonly sql: C;
  protected readonly dialect: WorldDialect;
  readonly #guards: () => Promise<string[]>;
  /** Whose rows each world of this transaction shares; null: nobody's. */
  readonly #segments = new Map<number, readonly Segment[] | null>();

  constructor(sql: C, dialect: WorldDialect, guards: () => Promise<string[]>) {
    this.sql = sql;
    this.dialect = dialect;
    this.#guards = guards;
  }

  async list(): ReturnType<WorldReader["list"]> {
    return (
      await this.sql.all<Omit<WorldRow, "people" | "lineage">>(`select ${WORLD} from world order by world_id`)
    ).map(copy);
  }

  find(worldId: string): Awaitable<WorldRow | null> {
    return this.withLineage(this.sql.get<WorldRow>(this.dialect.find, worldId));
  }

  async lastRecords(): Promise<{ world_id: string; time: string }[]> {
    const sql = `select world_id, (select e.time from ledger_entry e where e.stream = 'world/' || world.world_id
order by e.position desc limit 1) as time from world order by world_id`;
    return (await this.sql.all<{ world_id: string; time: string }>(sql)).map(copy);
  }

  async idOf(world: number): Promise<string | null> {
    const row = await this.sql.get<{ world_id: string }>("select world_id from world where number = ?", world);
    return row?.world_id ?? null;
  }

  async lineage(world: number): Promise<readonly LineageRow[]> {
    const sql = `select ancestor, upto_wseq, upto_message from world_lineage where world = ?
order by upto_wseq, upto_message`;
    return (await this.sql.all<LineageRow>(sql, world)).map(copy);
  }

  async statesAt(world: number): Promise<StateAtRow[]> {
    const sql = "select position, body from world_state_at where world = ? order by position";
    return (await this.sql.all<StateAtRow>(sql, world)).map(copy);
  }

  /** A row as the driver gave it, without waiting for a database that has answered already; its lineage is kept. */
  protected withLineage(found: Awaitable<WorldRow | undefined>): Awaitable<WorldRow | null> {
    if (found instanceof Promise) return found.then((row) => this.#remember(row));
    return this.#remember(found);
  }

  protected forgetLineage(world: number): void {
    this.#segments.delete(world);
  }

  #remember(row: WorldRow | undefined): WorldRow | null {
    if (row === undefined || row === null) return null;
    this.#segments.set(row.number, row.lineage === "[]" ? null : toSegments(row.number, parseLineage(row.lineage)));
    return row;
  }

  async #segmentsOf(world: number): Promise<readonly Segment[] | null> {
    let known = this.#segments.get(world);
    if (known === undefined) {
      known = toSegments(world, await this.lineage(world));
      this.#segments.set(world, known);
    }
    return known;
  }

  async people(world: number): Promise<PersonRow[]> {
    const sql = "select number, person_id, display_name from world_person where world = ? order by number";
    return (await this.sql.all<PersonRow>(sql, world)).map(copy);
  }

  async visible(world: number, audience: AudienceFilter, range: EntryRange): Promise<ShownRow[]> {
    const segments = this.#segments.get(world) ?? (await this.#segmentsOf(world));
    const parts = segments === null ? null : within(segments, range.after, range.before);
    if (parts?.length === 0) return [];
    const { sql, values } =
      parts === null ? visibleQuery(world, audience, range) : visibleInSegments(parts, audience, range);
    const rows = await this.sql.all<ShownRow>(sql, ...values);
    return range.newest ? rows.reverse() : rows;
  }

  async range(world: number, range: EntryRange): Promise<ShownRow[]> {
    const { after, before, limit, newest } = range;
    const segments = this.#segments.get(world) ?? (await this.#segmentsOf(world));
    if (segments !== null) {
      // Numbers have no gaps, so the stretch that is wanted is known before anything is read.
      const parts = newest
        ? within(segments, Math.max(after, before - 1 - limit), before)
        : within(segments, after, Math.min(before, after + limit + 1));
      if (parts.length === 0) return [];
      const { sql, values } = rangeQuery(parts);
      return this.sql.all<ShownRow>(sql, ...values);
    }
    const order = newest ? "desc" : "asc";
    const sql = `select ${SHOWN} from world_entry where world = ? and wseq > ? and wseq < ? order by wseq ${order} limit ?`;
    const rows = await this.sql.all<ShownRow>(sql, world, after, before, limit);
    return newest ? rows.reverse() : rows;
  }

  async entries(world: number, wseqs: readonly number[]): Promise<ShownRow[]> {
    const segments = this.#segments.get(world) ?? (await this.#segmentsOf(world));
    const rows: ShownRow[] = [];
    for (const part of inParts(wseqs)) {
      if (segments === null) {
        const sql = `select ${SHOWN} from world_entry where world = ? and wseq in (${marks(part)}) order by wseq`;
        rows.push(...(await this.sql.all<ShownRow>(sql, world, ...part)));
      } else {
        const places = [...new Set(part)].map((wseq) => [wseq, ownerOf(segments, wseq)] as const);
        const { sql, values } = entriesQuery(places);
        rows.push(...(await this.sql.all<ShownRow>(sql, ...values)));
      }
    }
    return rows.sort((a, b) => a.wseq - b.wseq);
  }

  async entriesById(world: number, ids: readonly string[]): Promise<ShownRow[]> {
    const segments = this.#segments.get(world) ?? (await this.#segmentsOf(world));
    const rows: ShownRow[] = [];
    for (const part of inParts(ids)) {
      if (segments === null) {
        const sql = `select ${SHOWN} from world_entry where world = ? and entry_id in (${marks(part)})`;
        rows.push(...(await this.sql.all<ShownRow>(sql, world, ...part)));
      } else {
        const { sql, values } = entriesByIdQuery(segments, part);
        rows.push(...(await this.sql.all<ShownRow>(sql, ...values)));
      }
    }
    return rows.sort((a, b) => a.wseq - b.wseq);
  }

  async scan(world: number, after: number, limit: number): Promise<EntryRow[]> {
    const sql = `select ${ENTRY} from world_entry where world = ? and wseq > ? and wseq <= ? order by wseq limit ?`;
    const rows: EntryRow[] = [];
    for (const part of await this.#parts(world, after)) {
      if (rows.length === limit) break;
      rows.push(...(await this.sql.all<EntryRow>(sql, part.world, part.after, part.upto, limit - rows.length)));
    }
    return rows.map(copy);
  }

  async background(world: number, after: number): Promise<BackgroundRow[]> {
    const sql = `select wseq, request_id, author_id, scope, audience from world_entry
where world = ? and wseq > ? and wseq <= ? and ${BACKGROUND} order by wseq`;
    const rows: BackgroundRow[] = [];
    for (const part of await this.#parts(world, after)) {
      rows.push(...(await this.sql.all<BackgroundRow>(sql, part.world, part.after, part.upto)));
    }
    return rows;
  }

  async marks(world: number): Promise<MarkRow[]> {
    const sql = "select kind, id, number, body from world_mark where world = ? order by kind, id";
    return (await this.sql.all<MarkRow>(sql, world)).map(copy);
  }

  async scanVisible(world: number, after: number, upTo: number): Promise<VisibleRow[]> {
    const sql =
      "select wseq, person from world_entry_visible where world = ? and wseq > ? and wseq <= ? order by wseq, person";
    const rows: VisibleRow[] = [];
    for (const part of await this.#parts(world, after, upTo + 1)) {
      rows.push(...(await this.sql.all<VisibleRow>(sql, part.world, part.after, part.upto)));
    }
    return rows.map(copy);
  }

  async scanPostings(world: number): Promise<PostingRow[]> {
    const sql = `select key, block, lows from world_terms where world = ? and block between ? and ? order by key, block`;
    const rows: PostingRow[] = [];
    for (const part of await this.#parts(world, 0)) {
      const { from, to } = blocksOf(part);
      const found = await this.sql.all<PostingRow>(sql, part.world, from, to);
      for (const row of found) rows.push(...toList(cutPosting({ ...row }, part)));
    }
    return rows;
  }

  async recentTerms(world: number): Promise<RecentTermsRow[]> {
    const segments = this.#segments.get(world) ?? (await this.#segmentsOf(world));
    if (segments === null) return this.ownRecentTerms(world);
    const byWorld = new Map(segments.map((segment) => [segment.world, segment]));
    const { sql, values } = unionOf(
      segments,
      ({ world: of }) => ({ sql: "select world, wseq, keys from world_recent_terms where world = ?", values: [of] }),
      "order by wseq",
    );
    const rows = await this.sql.all<RecentTermsRow & { readonly world: number }>(sql, ...values);
    return rows.flatMap(({ world: of, wseq, keys }) => toList(cutRecent({ wseq, keys }, byWorld.get(of)!)));
  }

  async ownRecentTerms(world: number): Promise<RecentTermsRow[]> {
    const sql = "select wseq, keys from world_recent_terms where world = ? order by wseq";
    return this.sql.all<RecentTermsRow>(sql, world);
  }

  /** The stretches above a line and below another; one for a world whose rows are all its own. */
  async #parts(world: number, after: number, before = Number.MAX_SAFE_INTEGER): Promise<Segment[]> {
    const own = [{ world, after: 0, upto: Number.MAX_SAFE_INTEGER, after_message: 0, upto_message: 0 }];
    return within((await this.#segmentsOf(world)) ?? own, after, before);
  }

  async scanInvocations(world: number): Promise<StoredInvocation[]> {
    const sql = `select ${INVOCATION} from world_invocation where world = ? order by request_id`;
    return (await this.sql.all<StoredInvocation>(sql, world)).map(copy);
  }

  async firstAt(world: number, ms: number): Promise<number> {
    const segments = await this.#segmentsOf(world);
    // Instants never decrease with wseq, so the place is found by halving instead of by an index of its own.
    const bounds = await this.sql.get<{ last: number }>(
      "select coalesce(max(wseq), 0) as last from world_entry where world = ?",
      world,
    );
    let low = 1;
    let high = Math.max(bounds?.last ?? 0, segments?.at(-1)?.after ?? 0) + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const sql = "select created_ms from world_entry where world = ? and wseq = ?";
      const owner = segments === null ? world : ownerOf(segments, middle);
      const row = await this.sql.get<{ created_ms: number }>(sql, owner, middle);
      if (row !== undefined && row.created_ms >= ms) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  async postings(world: number, keys: readonly string[], fromBlock: number, toBlock: number): Promise<PostingRow[]> {
    const segments = this.#segments.get(world) ?? (await this.#segmentsOf(world));
    const rows: PostingRow[] = [];
    const sql = "select key, block, lows from world_terms where world = ? and key = ? and block between ? and ?";
    if (segments === null) {
      for (const key of keys) rows.push(...(await this.sql.all<PostingRow>(sql, world, key, fromBlock, toBlock)));
      return rows;
    }
    for (const key of keys) {
      rows.push(...(await sharedPostings(this.sql, segments, key, { from: fromBlock, to: toBlock, limit: null })));
    }
    return rows;
  }

  async newestPostings(world: number, key: string, below: number, limit: number): Promise<PostingRow[]> {
    const segments = this.#segments.get(world) ?? (await this.#segmentsOf(world));
    if (segments !== null) return newestShared(this.sql, segments, key, { below, limit });
    const sql =
      "select key, block, lows from world_terms where world = ? and key = ? and block < ? order by block desc limit ?";
    return this.sql.all<PostingRow>(sql, world, key, below, limit);
  }

  async calendar(world: number): Promise<CalendarRow[]> {
    const sql = "select number, item_id, state, time_ms, body from world_calendar where world = ? order by number";
    return (await this.sql.all<CalendarRow>(sql, world)).map(copy);
  }

  async messages(world: number): Promise<MessageRow[]> {
    const segments = await this.#segmentsOf(world);
    const sql = "select number, time_ms, body from world_message where world = ?";
    if (segments === null) return (await this.sql.all<MessageRow>(`${sql} order by number`, world)).map(copy);
    const shared = unionOf(
      segments,
      (one) => ({
        sql: `${sql} and number > cast(? as bigint) and number <= cast(? as bigint)`,
        values: [one.world, one.after_message, one.upto_message],
      }),
      "order by number",
    );
    return (await this.sql.all<MessageRow>(shared.sql, ...shared.values)).map(copy);
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

  async versions(storyId: string, ofRequestId: string | null): Promise<VersionRow[]> {
    const named = ofRequestId === null ? "" : "and v.of_request_id = ?";
    const sql = `select v.world, w.world_id, v.story_id, v.of_request_id, v.version_no, v.request_id
from world_version v join world w on w.number = v.world where v.story_id = ? ${named}
order by v.of_request_id, v.version_no`;
    const values = ofRequestId === null ? [storyId] : [storyId, ofRequestId];
    return (await this.sql.all<VersionRow>(sql, ...values)).map(copy);
  }

  async token(sha256: string): Promise<TokenRow | null> {
    return orNull(await this.sql.get<TokenRow>(`select ${TOKEN} from world_token where sha256 = ?`, sha256));
  }

  async tokens(storyId: string): Promise<TokenRow[]> {
    const sql = `select ${TOKEN} from world_token where world_id = ? order by coalesce(made_ms, 0), sha256`;
    return (await this.sql.all<TokenRow>(sql, storyId)).map(copy);
  }

  async players(storyId: string, now: number): Promise<string[]> {
    const sql = `select distinct viewer from world_token where world_id = ? and role = 'player' and revoked_ms is null
and (expires_ms is null or expires_ms > ?) order by viewer`;
    return (await this.sql.all<{ viewer: string }>(sql, storyId, now)).map(({ viewer }) => viewer);
  }

  missingGuards(): Promise<string[]> {
    return this.#guards();
  }
}

/** A plain object: rows of a driver may have no prototype. */
function copy<Row extends object>(row: Row): Row {
  return { ...row };
}

function orNull<Row extends object>(row: Row | undefined): Row | null {
  return row === undefined ? null : { ...row };
}

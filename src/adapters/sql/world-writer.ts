import type { Awaitable } from "../../core/ports.ts";
import type {
  CalendarRow,
  CallRow,
  EntryRow,
  LineageRow,
  MarkChange,
  MessageRow,
  PersonRow,
  PostingRow,
  RecentTermsRow,
  StateAtRow,
  StoredInvocation,
  StoredOnce,
  TokenRow,
  VersionRow,
  VisibleRow,
  WorldRow,
  WorldWriter,
} from "../../rooms/world/ports.ts";
import type { WriteSql } from "./statements.ts";
import { SqlWorldReader } from "./world-reader.ts";

/** Tables with rows of one world, children first. */
export const WORLD_TABLES = [
  "world_entry_visible",
  "world_entry",
  "world_terms",
  "world_recent_terms",
  "world_person",
  "world_calendar",
  "world_message",
  "world_mark",
  "world_invocation",
  "world_call",
  "world_once",
  "world_lineage",
  "world_version",
  "world_queue",
  "world_served",
  "world_state_at",
] as const;

export const ADD_RECENT = "insert into world_recent_terms (world, wseq, keys) values (?, ?, ?)";

/** What is left to wait for. SQLite has answered already, and to wait all the same costs as much as a row. */
function done(changed: Awaitable<number>): Promise<void> | undefined {
  return typeof changed === "number" ? undefined : changed.then(() => undefined);
}

/** Writes the room's tables. */
export abstract class SqlWorldWriter extends SqlWorldReader<WriteSql> implements WorldWriter {
  hold(worldId: string): Awaitable<WorldRow | null> {
    return this.withLineage(this.sql.get<WorldRow>(this.dialect.hold, worldId));
  }

  async addWorld(worldId: string, state: string): Promise<number> {
    const next = await this.sql.get<{ next: number }>("select coalesce(max(number), 0) + 1 as next from world");
    await this.sql.run("insert into world (number, world_id, state) values (?, ?, ?)", next!.next, worldId, state);
    return next!.next;
  }

  saveState(world: number, state: string): Promise<void> | undefined {
    return done(this.sql.run("update world set state = ? where number = ?", state, world));
  }

  abstract erase(world: Pick<WorldRow, "number" | "world_id">, stream: string, below: number): Promise<void>;

  async setLock(world: number, holder: string | null, until: number): Promise<void> {
    await this.sql.run("update world set lock_holder = ?, lock_until = ? where number = ?", holder, until, world);
  }

  async addLineage(world: number, rows: readonly LineageRow[]): Promise<void> {
    const sql = "insert into world_lineage (world, ancestor, upto_wseq, upto_message) values (?, ?, ?, ?)";
    for (const { ancestor, upto_wseq, upto_message } of rows) {
      await this.sql.run(sql, world, ancestor, upto_wseq, upto_message);
    }
    this.forgetLineage(world);
  }

  async addStateAt(world: number, { position, body }: StateAtRow, keep: number): Promise<void> {
    await this.sql.run("insert into world_state_at (world, position, body) values (?, ?, ?)", world, position, body);
    const sql = `delete from world_state_at where world = ?
and position <> (select min(o.position) from world_state_at o where o.world = world_state_at.world)
and (select count(*) from world_state_at n where n.world = world_state_at.world and n.position > world_state_at.position) >= ?`;
    await this.sql.run(sql, world, keep);
  }

  async addVersion({ world, story_id, of_request_id, version_no, request_id }: Omit<VersionRow, "world_id">) {
    const sql = `insert into world_version (world, story_id, of_request_id, version_no, request_id) values (?, ?, ?, ?, ?)`;
    await this.sql.run(sql, world, story_id, of_request_id, version_no, request_id);
  }

  async addPeople(world: number, people: readonly PersonRow[]): Promise<void> {
    const sql = "insert into world_person (world, number, person_id, display_name) values (?, ?, ?, ?)";
    for (const { number, person_id, display_name } of people) {
      await this.sql.run(sql, world, number, person_id, display_name);
    }
  }

  async renamePerson(world: number, personId: string, displayName: string): Promise<void> {
    const sql = "update world_person set display_name = ? where world = ? and person_id = ?";
    await this.sql.run(sql, displayName, world, personId);
  }

  abstract addEntries(
    world: number,
    rows: readonly EntryRow[],
    visible: readonly VisibleRow[],
    recent: RecentTermsRow | null,
  ): Promise<void> | undefined;

  abstract addPostings(world: number, rows: readonly PostingRow[]): Promise<void>;

  async addRecentTerms(world: number, { wseq, keys }: RecentTermsRow): Promise<void> {
    await this.sql.run(ADD_RECENT, world, wseq, keys);
  }

  async clearRecentTerms(world: number): Promise<void> {
    await this.sql.run("delete from world_recent_terms where world = ?", world);
  }

  async clearPostings(world: number): Promise<void> {
    await this.sql.run("delete from world_terms where world = ?", world);
    await this.clearRecentTerms(world);
  }

  async addCalendar(world: number, rows: readonly CalendarRow[]): Promise<void> {
    const sql = "insert into world_calendar (world, number, item_id, state, time_ms, body) values (?, ?, ?, ?, ?, ?)";
    for (const { number, item_id, state, time_ms, body } of rows) {
      await this.sql.run(sql, world, number, item_id, state, time_ms, body);
    }
  }

  async setCalendarState(world: number, itemId: string, state: CalendarRow["state"]): Promise<void> {
    await this.sql.run("update world_calendar set state = ? where world = ? and item_id = ?", state, world, itemId);
  }

  async addMessages(world: number, rows: readonly MessageRow[]): Promise<void> {
    const sql = "insert into world_message (world, number, time_ms, body) values (?, ?, ?, ?)";
    for (const { number, time_ms, body } of rows) await this.sql.run(sql, world, number, time_ms, body);
  }

  async setMarks(world: number, changes: readonly MarkChange[]): Promise<void> {
    const set = `insert into world_mark (world, kind, id, number, body) values (?, ?, ?, ?, ?)
on conflict (world, kind, id) do update set number = excluded.number, body = excluded.body`;
    const take = "delete from world_mark where world = ? and kind = ? and id = ?";
    for (const { kind, id, number, body } of changes) {
      if (body === null) await this.sql.run(take, world, kind, id);
      else await this.sql.run(set, world, kind, id, number, body);
    }
  }

  putInvocation(world: number, row: StoredInvocation): Promise<void> | undefined {
    const { request_id, body_sha256, status, fence, lease_until, outcome, headers } = row;
    const sql = `insert into world_invocation
(world, request_id, body_sha256, status, fence, lease_until, outcome, headers) values (?, ?, ?, ?, ?, ?, ?, ?)
on conflict (world, request_id) do update set status = excluded.status, fence = excluded.fence,
lease_until = excluded.lease_until, outcome = excluded.outcome, headers = excluded.headers`;
    return done(this.sql.run(sql, world, request_id, body_sha256, status, fence, lease_until, outcome, headers));
  }

  async addCalls(world: number, rows: readonly CallRow[], keep: number): Promise<void> {
    const sql = "insert into world_call (world, number, call_id, request_id, body) values (?, ?, ?, ?, ?)";
    for (const { number, call_id, request_id, body } of rows) {
      await this.sql.run(sql, world, number, call_id, request_id, body);
    }
    const last = rows.at(-1);
    if (last !== undefined && last.number > keep) {
      await this.sql.run("delete from world_call where world = ? and number <= ?", world, last.number - keep);
    }
  }

  async once(key: string): Promise<StoredOnce | null> {
    if (this.dialect.lockKey !== undefined) await this.sql.get(this.dialect.lockKey, key);
    const sql = "select body_sha256, outcome, headers from world_once where key = ?";
    const row = await this.sql.get<StoredOnce>(sql, key);
    return row === undefined || row === null ? null : { ...row };
  }

  async addOnce(world: number, key: string, { body_sha256, outcome, headers }: StoredOnce): Promise<void> {
    const sql = "insert into world_once (key, world, body_sha256, outcome, headers) values (?, ?, ?, ?, ?)";
    await this.sql.run(sql, key, world, body_sha256, outcome, headers);
  }

  async addToken(row: TokenRow): Promise<void> {
    const { sha256, role, world_id, viewer, token_id, label, made_ms, used_on, expires_ms, revoked_ms } = row;
    const sql = `insert into world_token
(sha256, role, world_id, viewer, token_id, label, made_ms, used_on, expires_ms, revoked_ms) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    const values = [sha256, role, world_id, viewer, token_id, label, made_ms, used_on, expires_ms, revoked_ms];
    await this.sql.run(sql, ...values);
  }

  async revokeToken(sha256: string, at: number): Promise<void> {
    await this.sql.run("update world_token set revoked_ms = ? where sha256 = ?", at, sha256);
  }

  async useToken(sha256: string, day: string): Promise<void> {
    await this.sql.run("update world_token set used_on = ? where sha256 = ?", day, sha256);
  }
}

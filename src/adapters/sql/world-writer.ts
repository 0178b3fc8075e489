import type {
  CalendarRow,
  CallRow,
  EntryRow,
  MessageRow,
  PersonRow,
  PostingRow,
  RecentTermsRow,
  StoredInvocation,
  TokenRow,
  VisibleRow,
  WorldRow,
  WorldWriter,
} from "../../rooms/world/ports.ts";
import type { SqlValue, WriteSql } from "./statements.ts";
import { ENTRY, SqlWorldReader } from "./world-reader.ts";

/** Tables with rows of one world, children first. */
export const WORLD_TABLES = [
  "world_entry_visible",
  "world_entry",
  "world_terms",
  "world_recent_terms",
  "world_person",
  "world_calendar",
  "world_message",
  "world_invocation",
  "world_call",
] as const;

/** Statements that insert many rows of one table at once: a statement costs as much as a row. */
class Inserts {
  /** How many rows a statement takes at most. */
  readonly most: number;
  readonly #insert: string;
  readonly #row: string;
  readonly #rest: string;
  readonly #texts = new Map<number, string>();

  constructor(insert: string, columns: number, most: number, rest = "") {
    this.most = most;
    this.#insert = insert;
    this.#row = `(${Array(columns).fill("?").join(", ")})`;
    this.#rest = rest;
  }

  /** The statement for so many rows. */
  text(rows: number): string {
    let text = this.#texts.get(rows);
    if (text === undefined) {
      text = `${this.#insert} values ${Array(rows).fill(this.#row).join(", ")}${this.#rest}`;
      this.#texts.set(rows, text);
    }
    return text;
  }
}

const ADD_ENTRIES = new Inserts(`insert into world_entry (world, ${ENTRY})`, 14, 8);
const ADD_VISIBLE = new Inserts("insert into world_entry_visible (world, person, wseq)", 3, 32);

const addPostings = new Map<string, Inserts>();

function toAddPostings(appended: string): Inserts {
  let inserts = addPostings.get(appended);
  if (inserts === undefined) {
    const rest = ` on conflict (world, key, block) do update set lows = ${appended}`;
    inserts = new Inserts("insert into world_terms (world, key, block, lows)", 4, 32, rest);
    addPostings.set(appended, inserts);
  }
  return inserts;
}

/** Writes the room's tables. */
export abstract class SqlWorldWriter extends SqlWorldReader<WriteSql> implements WorldWriter {
  async hold(worldId: string): Promise<WorldRow | null> {
    return (await this.sql.get<WorldRow>(this.dialect.hold, worldId)) ?? null;
  }

  async addWorld(worldId: string, state: string): Promise<number> {
    const next = await this.sql.get<{ next: number }>("select coalesce(max(number), 0) + 1 as next from world");
    await this.sql.run("insert into world (number, world_id, state) values (?, ?, ?)", next!.next, worldId, state);
    return next!.next;
  }

  async saveState(world: number, state: string): Promise<void> {
    await this.sql.run("update world set state = ? where number = ?", state, world);
  }

  abstract erase(world: Pick<WorldRow, "number" | "world_id">, stream: string, below: number): Promise<void>;

  async setLock(world: number, holder: string | null, until: number): Promise<void> {
    await this.sql.run("update world set lock_holder = ?, lock_until = ? where number = ?", holder, until, world);
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

  async addEntries(
    world: number,
    rows: readonly EntryRow[],
    visible: readonly VisibleRow[],
    recent: RecentTermsRow | null,
  ): Promise<void> {
    const entering = this.#insert(ADD_ENTRIES, rows, (values, r) => {
      values.push(world, r.wseq, r.entry_id, r.bundle_id, r.position, r.request_id, r.created_ms, r.created_at);
      values.push(r.author_id, r.author_class, r.channel, r.scope, r.audience, r.text);
    });
    // SQLite has answered already, and to wait for it all the same costs as much as a row.
    if (entering !== undefined) await entering;
    const listing = this.#insert(ADD_VISIBLE, visible, (values, { person, wseq }) => values.push(world, person, wseq));
    if (listing !== undefined) await listing;
    if (recent !== null) await this.addRecentTerms(world, recent);
  }

  async addPostings(world: number, rows: readonly PostingRow[]): Promise<void> {
    const adding = this.#insert(toAddPostings(this.dialect.appendedLows), rows, (values, { key, block, lows }) =>
      values.push(world, key, block, lows),
    );
    if (adding !== undefined) await adding;
  }

  /** Inserts all rows: at once where the database answers at once, else there is something to wait for. */
  #insert<Row>(
    inserts: Inserts,
    rows: readonly Row[],
    push: (values: SqlValue[], row: Row) => void,
    from = 0,
  ): Promise<void> | undefined {
    for (let at = from; at < rows.length; at += inserts.most) {
      const end = Math.min(rows.length, at + inserts.most);
      const values: SqlValue[] = [];
      for (let i = at; i < end; i++) push(values, rows[i]!);
      const changed = this.sql.run(inserts.text(end - at), ...values);
      if (typeof changed !== "number") return changed.then(() => this.#insert(inserts, rows, push, end));
    }
    return undefined;
  }

  async addRecentTerms(world: number, { wseq, keys }: RecentTermsRow): Promise<void> {
    await this.sql.run("insert into world_recent_terms (world, wseq, keys) values (?, ?, ?)", world, wseq, keys);
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

  async putInvocation(world: number, row: StoredInvocation): Promise<void> {
    const { request_id, body_sha256, status, fence, lease_until, outcome, headers } = row;
    const sql = `insert into world_invocation
(world, request_id, body_sha256, status, fence, lease_until, outcome, headers) values (?, ?, ?, ?, ?, ?, ?, ?)
on conflict (world, request_id) do update set status = excluded.status, fence = excluded.fence,
lease_until = excluded.lease_until, outcome = excluded.outcome, headers = excluded.headers`;
    await this.sql.run(sql, world, request_id, body_sha256, status, fence, lease_until, outcome, headers);
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

  async addToken({ sha256, role, world_id, viewer }: TokenRow): Promise<void> {
    const sql = "insert into world_token (sha256, role, world_id, viewer) values (?, ?, ?, ?)";
    await this.sql.run(sql, sha256, role, world_id, viewer);
  }
}

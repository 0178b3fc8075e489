import type { Awaitable } from "../../core/ports.ts";
import type {
  CalendarRow,
  CallRow,
  EntryRow,
  MessageRow,
  PersonRow,
  PostingRow,
  StoredInvocation,
  TokenRow,
  VisibleRow,
  WorldRow,
  WorldWriter,
} from "../../rooms/world/ports.ts";
import type { SqliteValue } from "./driver.ts";
import { ENTRY, SqlWorldReader, type WorldSql } from "./world-reader.ts";

/** Writing as well, and the few words in which the databases differ. */
export interface WorldWriteSql extends WorldSql {
  run(sql: string, ...values: SqliteValue[]): Awaitable<number>;
  /** Appended to a select that holds its row against other writers. */
  readonly forUpdate: string;
  /** Statements that add postings, or new bytes to those that are there, by the number of rows they take. */
  readonly addPostings: ReadonlyMap<number, string>;
  /** Takes a world out of the store. */
  erase(world: Pick<WorldRow, "number" | "world_id">, stream: string, below: number): Awaitable<void>;
}

const ADD_ENTRY = `insert into world_entry (world, ${ENTRY}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** How many short rows one statement takes: a statement costs as much as a row, and each number is one to prepare. */
const BATCHES = [8, 4, 2, 1] as const;

/** The statement for each number of rows. */
function inBatches(insert: string, row: string, rest = ""): ReadonlyMap<number, string> {
  return new Map(BATCHES.map((size) => [size, `${insert} values ${Array(size).fill(row).join(", ")}${rest}`]));
}

/** Statements that add postings; `appended` gives the bytes of a posting followed by new ones. */
export function postingStatements(appended: string): ReadonlyMap<number, string> {
  const rest = ` on conflict (world, key, block) do update set lows = ${appended}`;
  return inBatches("insert into world_terms (world, key, block, lows)", "(?, ?, ?, ?)", rest);
}

const ADD_VISIBLE = inBatches("insert into world_entry_visible (world, person, wseq)", "(?, ?, ?)");

/** Writes the room's tables. */
export class SqlWorldWriter extends SqlWorldReader<WorldWriteSql> implements WorldWriter {
  async hold(worldId: string): Promise<WorldRow | null> {
    const sql = `select number, world_id, state, lock_holder, lock_until from world where world_id = ? ${this.sql.forUpdate}`;
    const row = await this.sql.get<WorldRow>(sql, worldId);
    return row === undefined ? null : { ...row };
  }

  async addWorld(worldId: string, state: string): Promise<number> {
    const next = await this.sql.get<{ next: number }>("select coalesce(max(number), 0) + 1 as next from world");
    await this.sql.run("insert into world (number, world_id, state) values (?, ?, ?)", next!.next, worldId, state);
    return next!.next;
  }

  async saveState(world: number, state: string): Promise<void> {
    await this.sql.run("update world set state = ? where number = ?", state, world);
  }

  async erase(world: Pick<WorldRow, "number" | "world_id">, stream: string, below: number): Promise<void> {
    await this.sql.erase(world, stream, below);
  }

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

  async addEntries(world: number, rows: readonly EntryRow[], visible: readonly VisibleRow[]): Promise<void> {
    for (const r of rows) {
      const values = [
        world,
        r.wseq,
        r.entry_id,
        r.bundle_id,
        r.position,
        r.request_id,
        r.created_ms,
        r.created_at,
        r.author_id,
        r.author_class,
        r.channel,
        r.scope,
        r.audience,
        r.text,
      ];
      const changed = this.sql.run(ADD_ENTRY, ...values);
      if (typeof changed !== "number") await changed;
    }
    await this.#runAll(ADD_VISIBLE, visible, (values, { person, wseq }) => values.push(world, person, wseq));
  }

  async addPostings(world: number, rows: readonly PostingRow[]): Promise<void> {
    await this.#runAll(this.sql.addPostings, rows, (values, { key, block, lows }) =>
      values.push(world, key, block, lows),
    );
  }

  async #runAll<Row>(
    statements: ReadonlyMap<number, string>,
    rows: readonly Row[],
    push: (values: SqliteValue[], row: Row) => void,
  ): Promise<void> {
    let at = 0;
    for (const size of BATCHES) {
      const sql = statements.get(size)!;
      for (; at + size <= rows.length; at += size) {
        const values: SqliteValue[] = [];
        for (let i = at; i < at + size; i++) push(values, rows[i]!);
        const changed = this.sql.run(sql, ...values);
        // SQLite has answered already, and to wait for it all the same costs as much as a row.
        if (typeof changed !== "number") await changed;
      }
    }
  }

  async clearPostings(world: number): Promise<void> {
    await this.sql.run("delete from world_terms where world = ?", world);
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

import { ERASED_BODY } from "../../../core/ledger/index.ts";
import type {
  EntryRow,
  PostingRow,
  RecentTermsRow,
  VisibleRow,
  WorldReader,
  WorldRow,
  WorldWriter,
} from "../../../rooms/world/ports.ts";
import { ENTRY } from "../world-entries.ts";
import { SqlWorldReader, toFind, type WorldDialect } from "../world-reader.ts";
import { ADD_RECENT, SqlWorldWriter, WORLD_TABLES } from "../world-writer.ts";
import type { SqliteReadConnection, SqliteWriteConnection } from "./connection.ts";
import type { SqliteValue } from "./driver.ts";
import { WORLD_GUARDS } from "./migrations/0006-world.ts";
import { ONCE_GUARDS } from "./migrations/0013-world-once.ts";
import { LINEAGE_GUARDS } from "./migrations/0016-world-lineage.ts";
import { VERSION_GUARDS } from "./migrations/0022-world-play.ts";

const FIND = toFind(
  `(select json_group_array(json_array(number, person_id, display_name)) from
(select number, person_id, display_name from world_person p where p.world = world.number order by p.number))`,
  `(select json_group_array(json_array(ancestor, upto_wseq, upto_message)) from (select ancestor, upto_wseq, upto_message
from world_lineage l where l.world = world.number order by l.upto_wseq, l.upto_message))`,
);

const DIALECT: WorldDialect = {
  find: FIND,
  // A writer holds the whole file.
  hold: FIND,
};

/** Statements that insert many rows of one table at once: a statement costs as much as a row. */
class Inserts<Row> {
  readonly #most: number;
  readonly #toText: (rows: number) => string;
  readonly #push: (values: SqliteValue[], world: number, row: Row) => void;
  readonly #texts = new Map<number, string>();

  constructor(
    shape: { readonly insert: string; readonly columns: number; readonly most: number; readonly rest?: string },
    push: (values: SqliteValue[], world: number, row: Row) => void,
  ) {
    const row = `(${Array(shape.columns).fill("?").join(", ")})`;
    this.#most = shape.most;
    this.#toText = (rows) => `${shape.insert} values ${Array(rows).fill(row).join(", ")}${shape.rest ?? ""}`;
    this.#push = push;
  }

  run(connection: SqliteWriteConnection, world: number, rows: readonly Row[]): void {
    for (let at = 0; at < rows.length; at += this.#most) {
      const end = Math.min(rows.length, at + this.#most);
      const values: SqliteValue[] = [];
      for (let i = at; i < end; i++) this.#push(values, world, rows[i]!);
      connection.runWith(this.#text(end - at), values);
    }
  }

  #text(rows: number): string {
    let text = this.#texts.get(rows);
    if (text === undefined) {
      text = this.#toText(rows);
      this.#texts.set(rows, text);
    }
    return text;
  }
}

const ENTRIES = new Inserts<EntryRow>(
  { insert: `insert into world_entry (world, ${ENTRY})`, columns: 14, most: 8 },
  (values, world, r) => {
    values.push(world, r.wseq, r.entry_id, r.bundle_id, r.position, r.request_id, r.created_ms, r.created_at);
    values.push(r.author_id, r.author_class, r.channel, r.scope, r.audience, r.text);
  },
);

const VISIBLE = new Inserts<VisibleRow>(
  { insert: "insert into world_entry_visible (world, person, wseq)", columns: 3, most: 32 },
  (values, world, { person, wseq }) => values.push(world, person, wseq),
);

const POSTINGS = new Inserts<PostingRow>(
  {
    insert: "insert into world_terms (world, key, block, lows)",
    columns: 4,
    most: 32,
    // SQLite joins blobs as text; the cast gives the same bytes back.
    rest: " on conflict (world, key, block) do update set lows = cast(lows || excluded.lows as blob)",
  },
  (values, world, { key, block, lows }) => values.push(world, key, block, lows),
);

/** The world room's tables in SQLite. */
export const sqliteWorld = {
  read: (connection: SqliteReadConnection): WorldReader =>
    new SqlWorldReader(connection, DIALECT, () => findMissing(connection)),
  write: (connection: SqliteWriteConnection): WorldWriter => new SqliteWorldWriter(connection),
} as const;

class SqliteWorldWriter extends SqlWorldWriter {
  readonly #connection: SqliteWriteConnection;

  constructor(connection: SqliteWriteConnection) {
    super(connection, DIALECT, () => findMissing(connection));
    this.#connection = connection;
  }

  addEntries(
    world: number,
    rows: readonly EntryRow[],
    visible: readonly VisibleRow[],
    recent: RecentTermsRow | null,
  ): undefined {
    ENTRIES.run(this.#connection, world, rows);
    VISIBLE.run(this.#connection, world, visible);
    if (recent !== null) this.#connection.run(ADD_RECENT, world, recent.wseq, recent.keys);
  }

  async addPostings(world: number, rows: readonly PostingRow[]): Promise<void> {
    POSTINGS.run(this.#connection, world, rows);
  }

  async erase(world: Pick<WorldRow, "number" | "world_id">, stream: string, below: number): Promise<void> {
    eraseWorld(this.#connection, world, stream, below);
  }
}

async function findMissing(connection: SqliteReadConnection): Promise<string[]> {
  const rows = connection.all<{ name: string }>("select name from sqlite_schema where type = 'trigger'");
  const there = new Set(rows.map(({ name }) => name));
  return [...WORLD_GUARDS, ...ONCE_GUARDS, ...LINEAGE_GUARDS, ...VERSION_GUARDS].filter((name) => !there.has(name));
}

/** Takes a world out of a store: its rows, and the bodies of its records. The guards are back afterwards. */
function eraseWorld(
  connection: SqliteWriteConnection,
  world: { readonly number: number; readonly world_id: string },
  stream: string,
  below: number,
): void {
  const tables = ["ledger_entry", ...WORLD_TABLES];
  const triggers = connection
    .all<{ name: string; sql: string; tbl_name: string }>(
      "select name, sql, tbl_name from sqlite_schema where type = 'trigger'",
    )
    .filter((trigger) => tables.includes(trigger.tbl_name));
  for (const { name } of triggers) connection.run(`drop trigger ${name}`);
  connection.run("update ledger_entry set body = ? where stream = ? and position < ?", ERASED_BODY, stream, below);
  for (const table of WORLD_TABLES) connection.run(`delete from ${table} where world = ?`, world.number);
  connection.run("delete from world_token where world_id = ?", world.world_id);
  connection.run("delete from world where number = ?", world.number);
  for (const { sql } of triggers) connection.run(sql);
}

import type {
  Clock,
  EntryRecord,
  ExpectedPosition,
  IndexedEntry,
  LedgerQuery,
  LedgerReader,
  LedgerWriter,
  NewEntry,
  StreamHead,
  SyncCrypto,
} from "../../../core/ports.ts";
import { type SealedEntry, sealNext } from "../append.ts";
import { toCondition } from "../browse.ts";
import { requirePage } from "../page.ts";
import { joinBody, requirePiece, type StoredBody } from "../pieces.ts";
import type { SqliteReadConnection, SqliteWriteConnection } from "./connection.ts";
import type { SqliteValue } from "./driver.ts";
import type { RecentHeads } from "./recent-heads.ts";

const ENTRY = "stream, position, previous, kind, time, actor, body, body_hash, hash";

// One seek per stream instead of a walk over all entries.
const STREAMS = `
with recursive name(stream) as (
  select min(stream) from ledger_entry
  union all
  select (select min(stream) from ledger_entry where stream > name.stream) from name where name.stream is not null
)
select stream, (select max(position) + 1 from ledger_entry where stream = name.stream) as length
from name where stream is not null`;

const INSERT = `
insert into ledger_entry (idx, ${ENTRY})
values ((select coalesce(max(idx) + 1, 0) from ledger_entry), ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

interface EntryRow extends EntryRecord {
  readonly idx: number;
}

/** The ledger as a reader sees it. */
export class SqliteLedgerReader<C extends SqliteReadConnection = SqliteReadConnection> implements LedgerReader {
  protected readonly connection: C;

  constructor(connection: C) {
    this.connection = connection;
  }

  async ledgerId(): Promise<string> {
    return this.connection.get<{ value: string }>("select value from store_fact where name = 'ledger_id'")!.value;
  }

  async size(): Promise<number> {
    return this.connection.get<{ size: number }>("select coalesce(max(idx) + 1, 0) as size from ledger_entry")!.size;
  }

  async head(stream: string): Promise<StreamHead | null> {
    return this.findHead(stream);
  }

  async streams(): Promise<{ stream: string; length: number }[]> {
    const rows = this.connection.all<{ stream: string; length: number }>(STREAMS);
    return rows.map(({ stream, length }) => ({ stream, length }));
  }

  async readStream(stream: string, from: number, limit: number): Promise<EntryRecord[]> {
    requirePage(from, limit);
    const sql = `select ${ENTRY} from ledger_entry where stream = ? and position >= ? order by position limit ?`;
    return this.connection.all<EntryRecord>(sql, stream, from, limit).map((row) => this.#toEntry(row));
  }

  async readAll(from: number, limit: number): Promise<IndexedEntry[]> {
    requirePage(from, limit);
    const sql = `select idx, ${ENTRY} from ledger_entry where idx >= ? order by idx limit ?`;
    return this.connection.all<EntryRow>(sql, from, limit).map((row) => this.#toIndexed(row));
  }

  async readHashes(from: number, limit: number): Promise<string[]> {
    requirePage(from, limit);
    const sql = "select hash from ledger_entry where idx >= ? order by idx limit ?";
    return this.connection.all<{ hash: string }>(sql, from, limit).map((row) => row.hash);
  }

  async findByHash(hash: string): Promise<IndexedEntry | null> {
    const row = this.connection.get<EntryRow>(`select idx, ${ENTRY} from ledger_entry where hash = ?`, hash);
    return row === undefined ? null : this.#toIndexed(row);
  }

  async browse(query: LedgerQuery): Promise<IndexedEntry[]> {
    const { sql, values } = toCondition(query, { table: "", index: "idx", placeholder: () => "?" });
    const rows = this.connection.all<EntryRow>(`select idx, ${ENTRY} from ledger_entry ${sql}`, ...values);
    return rows.map((row) => this.#toIndexed(row));
  }

  async tally(from: number, to: number): Promise<{ stream: string; entries: number }[]> {
    requirePage(from, to);
    const sql =
      "select stream, count(*) as entries from ledger_entry where idx >= ? and idx < ? group by stream order by stream";
    const rows = this.connection.all<{ stream: string; entries: number }>(sql, from, to);
    return rows.map(({ stream, entries }) => ({ stream, entries }));
  }

  #toEntry(row: EntryRecord): EntryRecord {
    const { stream, position, previous, kind, time, actor, body_hash, hash } = row;
    const body = joinBody(row.body, (name) => this.#findPiece(name));
    return { stream, position, previous, kind, time, actor, body, body_hash, hash };
  }

  #toIndexed(row: EntryRow): IndexedEntry {
    return { index: row.idx, entry: this.#toEntry(row) };
  }

  #findPiece(name: string): string | undefined {
    return this.connection.get<{ text: string }>("select text from ledger_piece where name = ?", name)?.text;
  }

  protected findHead(stream: string): StreamHead | null {
    const sql = "select position, hash from ledger_entry where stream = ? order by position desc limit 1";
    const row = this.connection.get<StreamHead>(sql, stream);
    return row === undefined ? null : { position: row.position, hash: row.hash };
  }
}

/** The ledger as a writer sees it. */
export class SqliteLedgerWriter extends SqliteLedgerReader<SqliteWriteConnection> implements LedgerWriter {
  readonly #ports: { readonly crypto: SyncCrypto; readonly clock: Clock };
  readonly #recent: RecentHeads;
  #appended: Map<string, StreamHead> | undefined;

  constructor(
    connection: SqliteWriteConnection,
    ports: { readonly crypto: SyncCrypto; readonly clock: Clock },
    recent: RecentHeads,
  ) {
    super(connection);
    this.#ports = ports;
    this.#recent = recent;
  }

  async append(stream: string, expected: ExpectedPosition, entries: readonly NewEntry[]): Promise<EntryRecord[]> {
    const sealed = this.#appendToGuess(stream, expected, entries) ?? this.#appendToHead(stream, expected, entries);
    const last = sealed.at(-1);
    if (last !== undefined) {
      this.#appended ??= new Map();
      this.#appended.set(stream, { position: last.position, hash: last.hash });
    }
    return sealed;
  }

  /** Lets later transactions start from what this one has committed. */
  committed(): void {
    for (const [stream, head] of this.#appended ?? []) this.#recent.remember(stream, head);
  }

  /** Saves looking up the head: the database itself refuses the first entry when the guess was wrong. */
  #appendToGuess(stream: string, expected: ExpectedPosition, entries: readonly NewEntry[]): EntryRecord[] | undefined {
    const head = this.#recent.get(stream);
    if (head === undefined || this.#appended?.has(stream) === true || entries.length === 0) return undefined;
    if (expected !== "next" && expected !== head.position + 1) return undefined;
    const sealed = sealNext(this.#ports, { stream, head, expected }, entries);
    if (!this.connection.tryRunWith(INSERT, this.#toValues(sealed[0]!))) {
      this.#recent.forget(stream);
      return undefined;
    }
    for (let i = 1; i < sealed.length; i++) this.connection.runWith(INSERT, this.#toValues(sealed[i]!));
    return sealed;
  }

  /** The write lock is held, so no other process can get between this head and the entries. */
  #appendToHead(stream: string, expected: ExpectedPosition, entries: readonly NewEntry[]): EntryRecord[] {
    const head = this.findHead(stream);
    const sealed = sealNext(this.#ports, { stream, head, expected }, entries);
    for (const entry of sealed) this.connection.runWith(INSERT, this.#toValues(entry));
    return sealed;
  }

  #toValues(e: SealedEntry): SqliteValue[] {
    if (e.stored !== undefined) this.#keepPieces(e.stored);
    const body = e.stored?.text ?? e.body;
    return [e.stream, e.position, e.previous, e.kind, e.time, e.actor, body, e.body_hash, e.hash];
  }

  #keepPieces({ pieces }: StoredBody): void {
    for (const piece of pieces) {
      if (this.connection.get("select 1 from ledger_piece where name = ?", piece.sha256) !== undefined) continue;
      const text = requirePiece(this.#ports.crypto, piece);
      this.connection.run("insert into ledger_piece (name, text) values (?, ?)", piece.sha256, text);
    }
  }
}

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
import { sealNext } from "../append.ts";
import { toCondition } from "../browse.ts";
import { requirePage } from "../page.ts";
import { joinBody, piecesOf, requirePiece, type StoredBody } from "../pieces.ts";
import type { PostgresReadConnection, PostgresWriteConnection } from "./connection.ts";

const ENTRY = "stream, position, previous, kind, time, actor, body, body_hash, hash";
const ENTRY_OF_E = ENTRY.replaceAll(/\w+/g, "e.$&");

// One seek per stream instead of a walk over all entries.
const STREAMS = `
with recursive name(stream) as (
  (select stream from ledger_entry order by stream limit 1)
  union all
  select (select e.stream from ledger_entry e where e.stream > name.stream order by e.stream limit 1)
  from name where name.stream is not null
)
select stream, (select max(position) + 1 from ledger_entry e where e.stream = name.stream) as length
from name where stream is not null`;

const INSERT = `
insert into ledger_entry (${ENTRY})
select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])`;

// Arrays are sent whole; this keeps a message of long bodies within reason.
const CHUNK = 200;

interface HeldHead {
  readonly head_position: number | null;
  readonly head_hash: string | null;
  readonly head_time: string | null;
  readonly now_ms: number;
}

/** The time of the server, and never before the entry it follows: time does not run backwards in a stream. */
function serverClock({ time, now }: { readonly time: string; readonly now: number }): Clock {
  const before = time === "" ? 0 : Date.parse(time);
  return { now: () => Math.max(now, before) };
}

interface EntryRow extends EntryRecord {
  readonly idx: number;
}

/** The ledger as a reader sees it. */
export class PostgresLedgerReader<C extends PostgresReadConnection = PostgresReadConnection> implements LedgerReader {
  protected readonly connection: C;

  constructor(connection: C) {
    this.connection = connection;
  }

  async ledgerId(): Promise<string> {
    const row = await this.connection.get<{ value: string }>("select value from store_fact where name = 'ledger_id'");
    return row!.value;
  }

  async size(): Promise<number> {
    const row = await this.connection.get<{ size: number }>(
      "select coalesce(max(idx) + 1, 0) as size from ledger_order",
    );
    return row!.size;
  }

  async head(stream: string): Promise<StreamHead | null> {
    const sql = "select position, hash from ledger_entry where stream = $1 order by position desc limit 1";
    return (await this.connection.get<StreamHead>(sql, stream)) ?? null;
  }

  async streams(): Promise<{ stream: string; length: number }[]> {
    return this.connection.all<{ stream: string; length: number }>(STREAMS);
  }

  async readStream(stream: string, from: number, limit: number): Promise<EntryRecord[]> {
    requirePage(from, limit);
    const sql = `select ${ENTRY} from ledger_entry where stream = $1 and position >= $2 order by position limit $3`;
    return this.#join(await this.connection.all<EntryRecord>(sql, stream, from, limit));
  }

  async readAll(from: number, limit: number): Promise<IndexedEntry[]> {
    requirePage(from, limit);
    const sql = `
      select o.idx, ${ENTRY_OF_E} from ledger_order o join ledger_entry e on e.hash = o.hash
      where o.idx >= $1 order by o.idx limit $2`;
    return (await this.#join(await this.connection.all<EntryRow>(sql, from, limit))).map(toIndexed);
  }

  async readHashes(from: number, limit: number): Promise<string[]> {
    requirePage(from, limit);
    const sql = "select hash from ledger_order where idx >= $1 order by idx limit $2";
    return (await this.connection.all<{ hash: string }>(sql, from, limit)).map((row) => row.hash);
  }

  async findByHash(hash: string): Promise<IndexedEntry | null> {
    const sql = `select o.idx, ${ENTRY_OF_E} from ledger_entry e join ledger_order o on o.hash = e.hash where e.hash = $1`;
    const row = await this.connection.get<EntryRow>(sql, hash);
    return row === undefined ? null : toIndexed((await this.#join([row]))[0]!);
  }

  async browse(query: LedgerQuery): Promise<IndexedEntry[]> {
    const { sql, values } = toCondition(query, { table: "e.", index: "o.idx", placeholder: (n) => `$${n}` });
    const all = `select o.idx, ${ENTRY_OF_E} from ledger_order o join ledger_entry e on e.hash = o.hash ${sql}`;
    return (await this.#join(await this.connection.all<EntryRow>(all, ...values))).map(toIndexed);
  }

  async tally(from: number, to: number): Promise<{ stream: string; entries: number }[]> {
    requirePage(from, to);
    const sql = `
      select e.stream, count(*) as entries from ledger_order o join ledger_entry e on e.hash = o.hash
      where o.idx >= $1 and o.idx < $2 group by e.stream order by e.stream`;
    const rows = await this.connection.all<{ stream: string; entries: number | string }>(sql, from, to);
    return rows.map(({ stream, entries }) => ({ stream, entries: Number(entries) }));
  }

  /** Puts the pieces of long bodies back into them. */
  async #join<Row extends { readonly body: string }>(rows: readonly Row[]): Promise<Row[]> {
    const names = [...new Set(rows.flatMap(({ body }) => piecesOf(body)))];
    if (names.length === 0) return [...rows];
    const sql = "select name, text from ledger_piece where name = any($1::text[])";
    const found = await this.connection.all<{ name: string; text: string }>(sql, names);
    const texts = new Map(found.map(({ name, text }) => [name, text]));
    return rows.map((row) => ({ ...row, body: joinBody(row.body, (name) => texts.get(name)) }));
  }
}

interface LedgerPorts {
  readonly crypto: SyncCrypto;
  readonly clock: Clock;
  /** Entries take the time of the server instead of the clock. */
  readonly serverTime: boolean;
}

/**
 * The ledger as a writer sees it. Entries get their global index when the transaction ends; whoever asks for the
 * global order before that makes it be given at once, and other writers wait from then on.
 */
export class PostgresLedgerWriter extends PostgresLedgerReader<PostgresWriteConnection> implements LedgerWriter {
  readonly #ports: LedgerPorts;
  #held: { readonly time: string; readonly now: number } | null = null;
  #unordered: string[] = [];

  constructor(connection: PostgresWriteConnection, ports: LedgerPorts) {
    super(connection);
    this.#ports = ports;
  }

  override async head(stream: string): Promise<StreamHead | null> {
    const sql = "select head_position, head_hash, head_time, now_ms from ledger_hold($1)";
    const row = await this.connection.get<HeldHead>(sql, stream);
    this.#held = { time: row?.head_time ?? "", now: row!.now_ms };
    if (row?.head_hash == null || row.head_position === null) return null;
    return { position: row.head_position, hash: row.head_hash };
  }

  async append(stream: string, expected: ExpectedPosition, entries: readonly NewEntry[]): Promise<EntryRecord[]> {
    const head = await this.head(stream);
    const clock = this.#ports.serverTime ? serverClock(this.#held!) : this.#ports.clock;
    const sealed = sealNext({ crypto: this.#ports.crypto, clock }, { stream, head, expected }, entries);
    for (const { stored } of sealed) if (stored !== undefined) await this.#keepPieces(stored);
    for (let i = 0; i < sealed.length; i += CHUNK) {
      const part = sealed.slice(i, i + CHUNK);
      await this.connection.run(
        INSERT,
        part.map((entry) => entry.stream),
        part.map((entry) => entry.position),
        part.map((entry) => entry.previous),
        part.map((entry) => entry.kind),
        part.map((entry) => entry.time),
        part.map((entry) => entry.actor),
        part.map((entry) => entry.stored?.text ?? entry.body),
        part.map((entry) => entry.body_hash),
        part.map((entry) => entry.hash),
      );
      this.#unordered.push(...part.map((entry) => entry.hash));
    }
    return sealed;
  }

  async #keepPieces({ pieces }: StoredBody): Promise<void> {
    for (const piece of pieces) {
      const known = await this.connection.get("select 1 from ledger_piece where name = $1", piece.sha256);
      if (known !== undefined) continue;
      const sql = "insert into ledger_piece (name, text) values ($1, $2) on conflict (name) do nothing";
      await this.connection.run(sql, piece.sha256, requirePiece(this.#ports.crypto, piece));
    }
  }

  /** Gives the entries appended so far their global index, under the one lock that all writers share. */
  async order(): Promise<void> {
    if (this.#unordered.length === 0) return;
    const hashes = this.#unordered;
    this.#unordered = [];
    await this.connection.get("select ledger_index($1::text[])", hashes);
  }

  override async size(): Promise<number> {
    await this.order();
    return super.size();
  }

  override async readAll(from: number, limit: number): Promise<IndexedEntry[]> {
    await this.order();
    return super.readAll(from, limit);
  }

  override async readHashes(from: number, limit: number): Promise<string[]> {
    await this.order();
    return super.readHashes(from, limit);
  }

  override async findByHash(hash: string): Promise<IndexedEntry | null> {
    await this.order();
    return super.findByHash(hash);
  }

  override async browse(query: LedgerQuery): Promise<IndexedEntry[]> {
    await this.order();
    return super.browse(query);
  }

  override async tally(from: number, to: number): Promise<{ stream: string; entries: number }[]> {
    await this.order();
    return super.tally(from, to);
  }
}

function toIndexed({ idx, ...entry }: EntryRow): IndexedEntry {
  return { index: idx, entry };
}

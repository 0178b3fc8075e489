import { isHash } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Clock, ContentStore, SyncCrypto } from "../../../core/ports.ts";
import type { ConnectionPool } from "./pool.ts";

const PAGE = 1000;
/** A value of the database is sent as a whole. */
const MOST_STREAMED = 64 * 1024 * 1024;

/** Payloads in a table of the store's database, so that every machine reads the same ones. */
export class PostgresContentStore implements ContentStore {
  readonly #pool: ConnectionPool;
  readonly #crypto: SyncCrypto;
  readonly #clock: Clock;
  readonly #where: string;

  constructor(pool: ConnectionPool, ports: { readonly crypto: SyncCrypto; readonly clock: Clock }, where: string) {
    this.#pool = pool;
    this.#crypto = ports.crypto;
    this.#clock = ports.clock;
    this.#where = where;
  }

  async put(bytes: Uint8Array): Promise<string> {
    const hash = this.#crypto.sha256(bytes);
    const now = this.#clock.now();
    // The server checks what it has, so that a payload it knows is not sent again.
    const refreshed = await this.#pool.query(
      "update content set stored_ms = $2 where hash = $1 and sha256(bytes) = decode($1, 'hex')",
      [hash, now],
    );
    if (refreshed.rowCount === 1) return hash;
    await this.#pool.query(
      `insert into content (hash, bytes, stored_ms) values ($1, $2, $3)
       on conflict (workspace_id, hash) do update set bytes = excluded.bytes, stored_ms = excluded.stored_ms`,
      [hash, bytes, now],
    );
    return hash;
  }

  async putStream(parts: Iterable<Uint8Array>): Promise<string> {
    const held: Uint8Array[] = [];
    let size = 0;
    for (const part of parts) {
      size += part.length;
      if (size > MOST_STREAMED) {
        const message = `a payload in the database can have at most ${MOST_STREAMED} bytes`;
        throw new VerbatimError("FILE_TOO_LARGE", { message, where: this.#where, details: { limit: MOST_STREAMED } });
      }
      held.push(part);
    }
    return this.put(Buffer.concat(held));
  }

  async get(hash: string): Promise<Uint8Array> {
    const sql = "select bytes from content where hash = $1";
    const bytes = (await this.#pool.query<{ bytes: Buffer }>(sql, [requireHash(hash)])).rows[0]?.bytes;
    if (bytes === undefined) throw this.#corrupt(hash, "the payload is missing");
    if (this.#crypto.sha256(bytes) !== hash) throw this.#corrupt(hash, "the stored bytes no longer match their hash");
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  async has(hash: string): Promise<boolean> {
    return (await this.#pool.query("select 1 from content where hash = $1", [requireHash(hash)])).rowCount === 1;
  }

  async *list(): AsyncIterable<string> {
    let after = "";
    for (;;) {
      const sql = `select hash from content where hash > $1 order by hash limit ${PAGE}`;
      const page = (await this.#pool.query<{ hash: string }>(sql, [after])).rows;
      for (const { hash } of page) yield hash;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.hash;
    }
  }

  async remove(hash: string, storedBefore: number): Promise<boolean> {
    const sql = "delete from content where hash = $1 and stored_ms < $2";
    return (await this.#pool.query(sql, [requireHash(hash), storedBefore])).rowCount === 1;
  }

  #corrupt(hash: string, message: string): VerbatimError {
    return new VerbatimError("CONTENT_STORE_CORRUPT", { message, where: this.#where, details: { hash } });
  }
}

function requireHash(hash: string): string {
  if (!isHash(hash))
    throw new VerbatimError("INTERNAL", { message: "a payload was requested by something that is not a SHA-256" });
  return hash;
}

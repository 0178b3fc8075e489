import pg from "pg";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { Address, WorksAs } from "./address.ts";
import { sqlState, toStoreError } from "./errors.ts";

const CONNECT_MS = 10_000;
const INT8 = 20;

/** What can be bound to a parameter. */
export type PostgresValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | readonly string[]
  | readonly number[]
  | readonly Uint8Array[];

/** How every connection is made, and with bigint as a number that is exact. */
export function connectionConfig(address: Address): pg.ClientConfig {
  return {
    connectionString: address.connectionString,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
    types: {
      getTypeParser: ((oid: number, format?: "text" | "binary"): unknown =>
        oid === INT8 && format !== "binary"
          ? toSafeInteger
          : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser,
    },
  };
}

function toSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new VerbatimError("INTERNAL", { message: `the integer ${text} is outside the safe range` });
  }
  return value;
}

/** A bounded pool; connections are made when they are needed. */
export class ConnectionPool {
  readonly #pool: pg.Pool;
  readonly #address: Address;
  readonly #as: WorksAs;

  constructor(address: Address, as: WorksAs, max: number) {
    this.#address = address;
    this.#as = as;
    this.#pool = new pg.Pool({ ...connectionConfig(address), max, allowExitOnIdle: true });
    // An idle connection that the server ended: the pool drops it, and the next use makes a new one.
    this.#pool.on("error", () => undefined);
  }

  /** Runs `fn` with a connection of its own. One that broke is not used again. */
  async use<T>(fn: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let broken = false;
    // Without a listener a connection that breaks between two queries would end the process.
    const onError = () => {
      broken = true;
    };
    client.on("error", onError);
    try {
      return await fn(client);
    } catch (thrown) {
      broken ||= isVerbatimError(thrown) && thrown.code === "STORE_UNAVAILABLE";
      throw thrown;
    } finally {
      client.off("error", onError);
      client.release(broken);
    }
  }

  /** Runs one statement on any connection, in a transaction of its own. */
  async query<Row extends pg.QueryResultRow>(
    sql: string,
    values: readonly PostgresValue[],
  ): Promise<{ readonly rows: Row[]; readonly rowCount: number }> {
    return this.use(async (client) => {
      try {
        await client.query(this.#address.begin("read committed read write", this.#as));
        const { rows, rowCount } = await client.query<Row>(sql, [...values]);
        await client.query("commit");
        return { rows, rowCount: rowCount ?? 0 };
      } catch (thrown) {
        // A connection that broke has rolled back already.
        if (sqlState(thrown) !== null) await client.query("rollback");
        throw toStoreError(thrown, this.#address.where);
      }
    });
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (thrown) {
      throw toStoreError(thrown, this.#address.where);
    }
  }

  /** Waits until every connection was given back, and closes them. */
  async end(): Promise<void> {
    await this.#pool.end();
  }
}

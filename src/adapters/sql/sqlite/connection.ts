import { isVerbatimError } from "../../../core/errors/index.ts";
import type { TransactionGuard } from "../transaction-guard.ts";
import type { SqliteDatabase, SqliteStatement, SqliteValue } from "./driver.ts";

/** Reading inside a transaction. The SQL of `get` and `all` is prepared once per connection and kept. */
export interface SqliteReadConnection {
  get<Row>(sql: string, ...values: SqliteValue[]): Row | undefined;
  all<Row>(sql: string, ...values: SqliteValue[]): Row[];
}

/** Writing inside a transaction. */
export interface SqliteWriteConnection extends SqliteReadConnection {
  /** Number of rows changed. */
  run(sql: string, ...values: SqliteValue[]): number;
  /** The same for values that are in an array already: many rows have many of them. */
  runWith(sql: string, values: readonly SqliteValue[]): number;
  /** Like `runWith`, but a row that a constraint or trigger refuses is false, and the transaction can go on without it. */
  tryRunWith(sql: string, values: readonly SqliteValue[]): boolean;
}

// Every length of a list is a text of its own; those must not fill the memory.
const MAX_STATEMENTS = 512;

/** A database file with its prepared statements; it outlives the transactions that use it. */
export class StatementCache {
  readonly database: SqliteDatabase;
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(database: SqliteDatabase) {
    this.database = database;
  }

  statement(sql: string): SqliteStatement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const made = this.database.prepare(sql);
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.delete(this.#statements.keys().next().value!);
    this.#statements.set(sql, made);
    return made;
  }

  /** Lets go of the statements, so that they can be collected, and closes the file. */
  close(): void {
    this.#statements.clear();
    this.database.close();
  }
}

/** One transaction's view of a connection: refuses to work when the transaction has ended or a statement failed. */
export class TransactionConnection implements SqliteWriteConnection {
  readonly #cache: StatementCache;
  readonly #lease: TransactionGuard;

  constructor(cache: StatementCache, lease: TransactionGuard) {
    this.#cache = cache;
    this.#lease = lease;
  }

  run(sql: string, ...values: SqliteValue[]): number {
    return this.runWith(sql, values);
  }

  runWith(sql: string, values: readonly SqliteValue[]): number {
    this.#lease.require();
    try {
      return this.#cache.statement(sql).run(values);
    } catch (thrown) {
      throw this.#lease.fail(thrown);
    }
  }

  tryRunWith(sql: string, values: readonly SqliteValue[]): boolean {
    this.#lease.require();
    try {
      this.#cache.statement(sql).run(values);
      return true;
    } catch (thrown) {
      if (isVerbatimError(thrown) && thrown.code === "STORE_REFUSED") return false;
      throw this.#lease.fail(thrown);
    }
  }

  get<Row>(sql: string, ...values: SqliteValue[]): Row | undefined {
    this.#lease.require();
    try {
      return this.#cache.statement(sql).get(values) as Row | undefined;
    } catch (thrown) {
      throw this.#lease.fail(thrown);
    }
  }

  all<Row>(sql: string, ...values: SqliteValue[]): Row[] {
    this.#lease.require();
    try {
      return this.#cache.statement(sql).all(values) as Row[];
    } catch (thrown) {
      throw this.#lease.fail(thrown);
    }
  }
}

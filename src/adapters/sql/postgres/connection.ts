import type pg from "pg";
import { VerbatimError } from "../../../core/errors/index.ts";
import { requireStorableText } from "../text.ts";
import type { TransactionGuard } from "../transaction-guard.ts";
import { toStoreError } from "./errors.ts";
import type { PostgresValue } from "./pool.ts";

/** Reading inside a transaction. Parameters are `$1`, `$2`, ...; the SQL of `get` and `all` is prepared once. */
export interface PostgresReadConnection {
  get<Row>(sql: string, ...values: PostgresValue[]): Promise<Row | undefined>;
  all<Row>(sql: string, ...values: PostgresValue[]): Promise<Row[]>;
}

/** Writing inside a transaction. */
export interface PostgresWriteConnection extends PostgresReadConnection {
  /** Number of rows changed. */
  run(sql: string, ...values: PostgresValue[]): Promise<number>;
  /** A statement of another library on this transaction: sent as it is, and not prepared. */
  execute(text: string, values: readonly unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

interface Prepared {
  readonly name: string;
  readonly text: string;
}

const prepared = new Map<string, Prepared>();

/**
 * A statement under the name by which a connection keeps it: one per SQL text of our own code. Keys begin with the
 * workspace here and not in a file, so the columns of a conflict are written without it.
 */
function prepare(sql: string): Prepared {
  let known = prepared.get(sql);
  if (known === undefined) {
    known = { name: `s${prepared.size}`, text: sql.replace(/\bon conflict \(/gi, "$&workspace_id, ") };
    prepared.set(sql, known);
  }
  return known;
}

/** One transaction's view of a connection: refuses to work when the transaction has ended or a statement failed. */
export class TransactionConnection implements PostgresWriteConnection {
  readonly #client: pg.ClientBase;
  readonly #lease: TransactionGuard;
  readonly #where: string;
  readonly #named: boolean;
  #last: Promise<unknown> = Promise.resolve();

  /** Not `named`: a pooler gives each transaction to another session, which knows no statement of ours by its name. */
  constructor(client: pg.ClientBase, lease: TransactionGuard, where: string, named = true) {
    this.#client = client;
    this.#lease = lease;
    this.#where = where;
    this.#named = named;
  }

  async run(sql: string, ...values: PostgresValue[]): Promise<number> {
    return (await this.#send({ ...prepare(sql), values })).rowCount ?? 0;
  }

  async get<Row>(sql: string, ...values: PostgresValue[]): Promise<Row | undefined> {
    return (await this.#send({ ...prepare(sql), values })).rows[0] as Row | undefined;
  }

  async all<Row>(sql: string, ...values: PostgresValue[]): Promise<Row[]> {
    return (await this.#send({ ...prepare(sql), values })).rows as Row[];
  }

  async execute(text: string, values: readonly unknown[]): Promise<{ rows: Record<string, unknown>[] }> {
    const { rows } = await this.#enqueue(() => this.#client.query<Record<string, unknown>>(text, [...values]));
    return { rows };
  }

  /** Resolves when everything that was asked for has been answered. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /** A connection answers one query at a time, so callers who do not wait for each other queue here. */
  async #send(query: {
    readonly name: string;
    readonly text: string;
    readonly values: readonly PostgresValue[];
  }): Promise<pg.QueryResult<Record<string, unknown>>> {
    const { name, text } = query;
    const statement = this.#named ? { name, text } : { text };
    return this.#enqueue(async () => {
      for (const value of query.values) requireStorable(value);
      return this.#client.query<Record<string, unknown>>({ ...statement, values: [...query.values] });
    });
  }

  async #enqueue<T>(fn: () => Promise<T>): Promise<T> {
    this.#lease.require();
    const answer = this.#last.then(() => this.#execute(fn));
    // Whoever asked gets the error; the next in the queue only needs to know that it is its turn.
    this.#last = answer.then(
      () => undefined,
      () => undefined,
    );
    return answer;
  }

  async #execute<T>(fn: () => Promise<T>): Promise<T> {
    this.#lease.require();
    try {
      return await fn();
    } catch (thrown) {
      throw this.#lease.fail(toStoreError(thrown, this.#where));
    }
  }
}

function requireStorable(value: PostgresValue): void {
  if (typeof value === "string") requireStorableText(value);
  else if (Array.isArray(value)) for (const item of value as readonly PostgresValue[]) requireStorable(item);
  else if (
    typeof value === "number" &&
    !(Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)))
  ) {
    throw new VerbatimError("INTERNAL", {
      message: `the number ${value} cannot be stored; use BigInt for large integers`,
    });
  }
}

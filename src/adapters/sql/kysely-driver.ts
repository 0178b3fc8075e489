import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from "kysely";
import { VerbatimError } from "../../core/errors/index.ts";

/** Runs one compiled query on the connection of the current transaction. */
type RunQuery = (query: CompiledQuery) => Promise<QueryResult<unknown>>;

/** A Kysely driver that knows one connection, whose transaction the store has opened and will end. */
export class BoundDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(run: RunQuery) {
    this.#connection = {
      executeQuery: <R>(query: CompiledQuery) => run(query) as Promise<QueryResult<R>>,
      // biome-ignore lint/correctness/useYield: Kysely asks for a generator; the store reads in pages instead.
      streamQuery: async function* () {
        throw refuse("rows are read in pages, not as a stream");
      },
    };
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    throw refuse("the store opens and ends transactions");
  }

  async commitTransaction(): Promise<void> {
    throw refuse("the store opens and ends transactions");
  }

  async rollbackTransaction(): Promise<void> {
    throw refuse("the store opens and ends transactions");
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}

function refuse(message: string): VerbatimError {
  return new VerbatimError("INTERNAL", { message });
}

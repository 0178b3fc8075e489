import type { Ids } from "../../../core/ports.ts";
import type { PostgresValue } from "./pool.ts";

/** One step of the schema, forward only. A released one never changes: `test/pins/store` holds its result. */
export interface PostgresMigration {
  readonly version: number;
  readonly name: string;
  /** The SQL, with every name written with its schema: triggers also fire for sessions with another search_path. */
  sql(schema: string): string;
  /** Rows that only a fresh store can know, inserted after the SQL. */
  seed?(
    schema: string,
    ports: { readonly ids: Ids },
  ): readonly { readonly sql: string; readonly values: readonly PostgresValue[] }[];
}

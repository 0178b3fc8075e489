import type { Ids } from "../../../core/ports.ts";
import type { SqliteValue } from "./driver.ts";

/** One step of the schema, forward only. A released one never changes: `test/pins/store` holds its result. */
export interface SqliteMigration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  /** Rows that only a fresh store can know, inserted after the SQL. */
  seed?(ports: { readonly ids: Ids }): readonly { readonly sql: string; readonly values: readonly SqliteValue[] }[];
}

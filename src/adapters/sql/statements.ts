import type { Awaitable } from "../../core/ports.ts";

/** What a statement takes in either database. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** What both databases offer inside a transaction; parameters are `?`, and no literal of ours has a question mark. */
export interface ReadSql {
  get<Row>(sql: string, ...values: SqlValue[]): Awaitable<Row | undefined>;
  all<Row>(sql: string, ...values: SqlValue[]): Awaitable<Row[]>;
}

/** The same for whoever may write. */
export interface WriteSql extends ReadSql {
  /** Number of rows changed. */
  run(sql: string, ...values: SqlValue[]): Awaitable<number>;
}

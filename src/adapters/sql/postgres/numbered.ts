import type { ReadSql, SqlValue, WriteSql } from "../statements.ts";
import type { PostgresReadConnection, PostgresWriteConnection } from "./connection.ts";

const numbered = new Map<string, string>();

/** `?` as `$1`, `$2`, ... */
function toNumbered(sql: string): string {
  let text = numbered.get(sql);
  if (text === undefined) {
    let n = 0;
    text = sql.replace(/\?/g, () => `$${++n}`);
    numbered.set(sql, text);
  }
  return text;
}

/** A connection for statements that are written for both databases. */
export function toReadSql(connection: PostgresReadConnection): ReadSql {
  return {
    get: <Row>(sql: string, ...values: SqlValue[]) => connection.get<Row>(toNumbered(sql), ...values),
    all: <Row>(sql: string, ...values: SqlValue[]) => connection.all<Row>(toNumbered(sql), ...values),
  };
}

export function toWriteSql(connection: PostgresWriteConnection): WriteSql {
  return { ...toReadSql(connection), run: (sql, ...values) => connection.run(toNumbered(sql), ...values) };
}

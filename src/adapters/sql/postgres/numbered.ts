import type { Columns } from "../../../core/columns.ts";
import { namesOf } from "../rows.ts";
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

/** A statement that inserts many rows at once: values that are the same for all, then for each other column a list. */
export function insertMany(table: string, same: Columns, each: Columns, order: string): string {
  const types = [...Object.values(same), ...Object.values(each).map(({ type }) => ({ type: `${type}[]` }))];
  const marks = types.map(({ type }, i) => `$${i + 1}::${type}`);
  const count = Object.keys(same).length;
  return `insert into ${table} (${namesOf(same)}, ${namesOf(each)})
    select ${marks.slice(0, count).join(", ")}, ${namesOf(each, "r")}
    from unnest(${marks.slice(count).join(", ")}) as r (${namesOf(each)}) order by r.${order}`;
}

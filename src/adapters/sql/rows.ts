import type { Columns, RowOf } from "../../core/columns.ts";
import type { SqlValue } from "./statements.ts";

// What statements and rows follow from the columns of a table: see core/columns.ts.

/** A row as a database gives it. */
export type StoredRow = Readonly<Record<string, SqlValue>>;

/** The names of columns for a list, each with the name of its table before it where one is given. */
export function namesOf(columns: Columns, table?: string): string {
  const names = Object.keys(columns);
  return (table === undefined ? names : names.map((name) => `${table}.${name}`)).join(", ");
}

/** `a = ?, b = ?`. */
export function assignmentsOf(columns: Columns): string {
  return Object.keys(columns)
    .map((name) => `${name} = ?`)
    .join(", ");
}

/** A statement that inserts one row; its values are those of `toValues`. */
export function insertInto(table: string, columns: Columns): string {
  const marks = Object.keys(columns).map(() => "?");
  return `insert into ${table} (${namesOf(columns)}) values (${marks.join(", ")})`;
}

/** A function that reads stored rows. */
export function toReader<C extends Columns>(columns: C): (stored: StoredRow) => RowOf<C> {
  const coded = Object.entries(columns).flatMap(([name, { read }]) => (read === undefined ? [] : [{ name, read }]));
  return (stored) => {
    const row: Record<string, unknown> = { ...stored };
    // Only texts are stored otherwise than they are.
    for (const { name, read } of coded) row[name] = read(stored[name] as string);
    return row as RowOf<C>;
  };
}

/** A function that gives the values of rows, in the order of the columns. */
export function toValues<C extends Columns>(columns: C): (row: RowOf<C>) => SqlValue[] {
  const all = Object.entries(columns);
  return (row) => all.map(([name, { write }]) => (write === undefined ? (row[name] as SqlValue) : write(row[name])));
}

import { formatCanonical, formatString, parseJson } from "./canonical/index.ts";

// One definition of a table's columns: the type of a row, what is read, inserted and updated follow from it, in both databases.
// How a database declares them is in its migrations, which never change again.

/** How a column is kept in a database, and what it is in the program. */
export interface Column<T> {
  readonly type: "text" | "integer" | "bigint";
  /** What is stored for a value; absent: the value itself. */
  write?(value: T): string | null;
  /** The value of what is stored; absent: the same. */
  read?(stored: string): T;
}

/** The columns of a table, or some of them, in the order in which they are read. */
export type Columns = Readonly<Record<string, Column<unknown>>>;

/** A row as the program has it. */
export type RowOf<C extends Columns> = { readonly [K in keyof C]: C[K] extends Column<infer T> ? T : never };

/** A text, or one of some words. */
export function text<T extends string = string>(): Column<T> {
  return { type: "text" };
}

/** A number of 32 bits. */
export function integer(): Column<number> {
  return { type: "integer" };
}

/** A number that a double has exactly: times, positions. */
export function wide(): Column<number> {
  return { type: "bigint" };
}

/** A text as a JSON string, because databases do not take every character. */
export function quoted(): Column<string> {
  return { type: "text", write: formatString, read: (stored) => JSON.parse(stored) as string };
}

/** A value as canonical JSON. It was checked before it was written, and the database lets nobody change it. */
export function json<T extends object>(): Column<T> {
  // What was written was a T: nothing but this column's own `write` makes what is read here.
  return { type: "text", write: formatCanonical, read: (stored) => parseJson(stored) as unknown as T };
}

/** The same for rows that are read by the thousand: nothing in it is a number that only our own reader takes. */
export function plainJson<T extends object>(): Column<T> {
  return { type: "text", write: formatCanonical, read: (stored) => JSON.parse(stored) as T };
}

/** A column that may be empty. */
export function orNull<T>({ type, write, read }: Column<T>): Column<T | null> {
  return {
    type,
    ...(write === undefined ? {} : { write: (value: T | null) => (value === null ? null : write(value)) }),
    ...(read === undefined ? {} : { read: (stored: string | null) => (stored === null ? null : read(stored)) }),
  };
}

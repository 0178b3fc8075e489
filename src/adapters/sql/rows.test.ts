import { expect, it } from "vitest";
import { integer, json, orNull, plainJson, quoted, type RowOf, text, wide } from "../../core/columns.ts";
import { insertMany } from "./postgres/numbered.ts";
import { assignmentsOf, insertInto, namesOf, toReader, toValues } from "./rows.ts";

// Guards: statements and rows follow from one list of columns, whatever is in a value.

const BOAT = {
  name: quoted(),
  crew: integer(),
  seen_ms: orNull(wide()),
  berth: orNull(text<"north" | "south">()),
  log: orNull(json<{ readonly lines: readonly string[] }>()),
  sails: plainJson<readonly string[]>(),
} as const;
const rows: readonly RowOf<typeof BOAT>[] = [
  {
    name: "Gull\u0000 '?\"",
    crew: 3,
    seen_ms: 1_700_000_000_000,
    berth: "north",
    log: { lines: ["é?"] },
    sails: ["main"],
  },
  { name: "", crew: 0, seen_ms: null, berth: null, log: null, sails: [] },
];

it("values come back from what is stored as they were", () => {
  const [values, read] = [toValues(BOAT), toReader(BOAT)];
  for (const row of rows) {
    const stored = Object.fromEntries(values(row).map((value, i) => [Object.keys(BOAT)[i]!, value]));
    expect(read(stored)).toEqual(row);
    expect(Object.keys(read(stored))).toEqual(Object.keys(BOAT));
  }
  expect(toValues(BOAT)(rows[0]!)).toEqual([
    '"Gull\\u0000 \'?\\""',
    3,
    1_700_000_000_000,
    "north",
    '{"lines":["\\u00e9?"]}',
    '["main"]',
  ]);
});

it("statements name every column once, in the order of the values", () => {
  const { name, crew, ...rest } = BOAT;
  expect(namesOf({ name, crew })).toBe("name, crew");
  expect(namesOf({ name, crew }, "b")).toBe("b.name, b.crew");
  expect(assignmentsOf({ name, crew })).toBe("name = ?, crew = ?");
  expect(insertInto("boat", BOAT)).toBe(
    "insert into boat (name, crew, seen_ms, berth, log, sails) values (?, ?, ?, ?, ?, ?)",
  );
  const { seen_ms, berth } = rest;
  expect(insertMany("boat", { name, crew }, { seen_ms, berth }, "seen_ms").replace(/\s+/g, " ")).toBe(
    "insert into boat (name, crew, seen_ms, berth) select $1::text, $2::integer, r.seen_ms, r.berth " +
      "from unnest($3::bigint[], $4::text[]) as r (seen_ms, berth) order by r.seen_ms",
  );
});

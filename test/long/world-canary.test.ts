// The canary over 2,000 random stories on each database, in parts, so that a slow machine shows how far it is.
import { expect, it } from "vitest";
import { usePostgres } from "../support/postgres.ts";
import { runCanary } from "../support/world-canary.ts";

const postgres = await usePostgres();
const STORIES = 2000;
const PART = 250;
const BATCH = 50;
const LONG_MS = 60 * 60 * 1000;
const PARTS = Array.from({ length: STORIES / PART }, (_, part) => part * PART);

it.each(PARTS)(
  "stays in its cage over the 250 random stories from number %i on, on SQLite",
  async (first) => {
    for (let from = first; from < first + PART; from += BATCH) {
      const { leaks } = await runCanary({ from, count: BATCH });
      expect(leaks).toEqual([]);
    }
  },
  LONG_MS,
);

it.skipIf(postgres.reason !== null).each(PARTS)(
  "stays in its cage over the 250 random stories from number %i on, on PostgreSQL",
  async (first) => {
    for (let from = STORIES + first; from < STORIES + first + PART; from += BATCH) {
      const database = await postgres.createDatabase();
      const { leaks } = await runCanary({ url: database.url, from, count: BATCH });
      await database.drop();
      expect(leaks).toEqual([]);
    }
  },
  LONG_MS,
);

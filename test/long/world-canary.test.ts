// The canary over 2,000 random stories on each database.
import { expect, it } from "vitest";
import { usePostgres } from "../support/postgres.ts";
import { runCanary } from "../support/world-canary.ts";

const postgres = await usePostgres();
const STORIES = 2000;
const BATCH = 50;
const LONG_MS = 60 * 60 * 1000;

it(
  "stays in its cage over two thousand random stories on SQLite",
  async () => {
    for (let from = 0; from < STORIES; from += BATCH) {
      const { leaks } = await runCanary({ from, count: BATCH });
      expect(leaks).toEqual([]);
    }
  },
  LONG_MS,
);

it.skipIf(postgres.reason !== null)(
  "stays in its cage over two thousand random stories on PostgreSQL",
  async () => {
    for (let from = STORIES; from < 2 * STORIES; from += BATCH) {
      const database = await postgres.createDatabase();
      const { leaks } = await runCanary({ url: database.url, from, count: BATCH });
      await database.drop();
      expect(leaks).toEqual([]);
    }
  },
  LONG_MS,
);

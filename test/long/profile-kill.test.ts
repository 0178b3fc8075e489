// kill -9 during the import of a profile, twenty times on each database.
import { expect, it } from "vitest";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { killCarriers } from "../support/profile-kills.ts";

const postgres = await usePostgres();
const LONG_MS = 30 * 60 * 1000;

it(
  "twenty kills lose no chat of a profile on SQLite",
  async () => {
    const { totals, again, ...rest } = await killCarriers(20, 60);
    expect(rest).toEqual({ killed: 20, worlds: 61, broken: [] });
    expect(again).toEqual(totals);
  },
  LONG_MS,
);

it("twenty kills lose no chat of a profile on PostgreSQL", {
  ...needs(postgres.reason),
  timeout: LONG_MS,
}, async () => {
  const database = await postgres.createDatabase({ durable: true });
  const { totals, again, ...rest } = await killCarriers(20, 60, database.url);
  await database.drop();
  expect(rest).toEqual({ killed: 20, worlds: 61, broken: [] });
  expect(again).toEqual(totals);
});

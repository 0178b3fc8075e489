import { expect, it } from "vitest";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { killCarriers } from "../support/profile-kills.ts";

const postgres = await usePostgres();

it("a profile whose import is killed and started again has every chat once", async () => {
  const { totals, again, ...rest } = await killCarriers(3, 5);
  expect(rest).toEqual({ killed: 3, worlds: 6, broken: [] });
  expect(totals).toMatchObject({ failed: 0, worlds: 6, lines: 42, entries: 24, hidden: 6, blank: 6, header: 6 });
  expect(again).toEqual(totals);
});

it("a profile whose import is killed has every chat once on PostgreSQL too", needs(postgres.reason), async () => {
  const database = await postgres.createDatabase({ durable: true });
  const { totals, again, ...rest } = await killCarriers(2, 5, database.url);
  await database.drop();
  expect(rest).toEqual({ killed: 2, worlds: 6, broken: [] });
  expect(again).toEqual(totals);
});

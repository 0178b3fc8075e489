// kill -9 during beats, forty times on each database.
import { expect, it } from "vitest";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { killTalkers } from "../support/world-processes.ts";

const postgres = await usePostgres();
const LONG_MS = 30 * 60 * 1000;

it(
  "forty kills lose nothing on SQLite",
  async () => {
    expect(await killTalkers(40)).toMatchObject({ kills: 40, lost: [], broken: [] });
  },
  LONG_MS,
);

it("forty kills lose nothing on PostgreSQL", { ...needs(postgres.reason), timeout: LONG_MS }, async () => {
  const database = await postgres.createDatabase();
  const report = await killTalkers(40, database.url);
  await database.drop();
  expect(report).toMatchObject({ kills: 40, lost: [], broken: [] });
});

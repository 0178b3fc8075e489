// The canary over 2,000 random stories on each database. Each batch says how far it is; a part of them can be asked for:
// VERBATIM_CANARY_FROM and VERBATIM_CANARY_COUNT are story numbers, VERBATIM_CANARY_ON is sqlite or postgres.
import { expect, it } from "vitest";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { runCanary } from "../support/world-canary.ts";

const postgres = await usePostgres();
const STORIES = 2000;
const BATCH = 50;
const LONG_MS = 60 * 60 * 1000;
const { VERBATIM_CANARY_FROM, VERBATIM_CANARY_COUNT, VERBATIM_CANARY_ON } = process.env;
const first = Number(VERBATIM_CANARY_FROM ?? 0);
const end = Math.min(first + Number(VERBATIM_CANARY_COUNT ?? STORIES), STORIES);
const whyNot = (database: string): string | null =>
  (VERBATIM_CANARY_ON ?? database) === database ? null : `VERBATIM_CANARY_ON asks for ${VERBATIM_CANARY_ON}`;

/** PostgreSQL tells stories of its own. */
const SEEDS = { sqlite: 0, postgres: STORIES } as const;

/** How many stories were told without a leak. */
async function runAll(database: keyof typeof SEEDS): Promise<number> {
  const began = performance.now();
  let done = 0;
  for (let story = first; story < end; story += BATCH) {
    const count = Math.min(BATCH, end - story);
    const from = SEEDS[database] + story;
    const own = database === "sqlite" ? null : await postgres.createDatabase();
    const { leaks, outputs, prompts, secrets } = await runCanary({
      from,
      count,
      ...(own === null ? {} : { url: own.url }),
    });
    await own?.drop();
    done += count;
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stderr.write(
      `${database}: seeds ${from} to ${from + count - 1}: ${secrets} secrets, ${outputs} answers, ${prompts} prompts, ${leaks.length} leaks; ${done} stories in ${seconds} s\n`,
    );
    expect(leaks).toEqual([]);
  }
  return done;
}

it("stays in its cage over random stories on SQLite", { ...needs(whyNot("sqlite")), timeout: LONG_MS }, async () => {
  expect(await runAll("sqlite")).toBe(end - first);
});

it("stays in its cage over random stories on PostgreSQL", {
  ...needs(whyNot("postgres") ?? postgres.reason),
  timeout: LONG_MS,
}, async () => {
  expect(await runAll("postgres")).toBe(end - first);
});

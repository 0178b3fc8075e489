import { loadSqlite } from "../../src/adapters/sql/sqlite/driver.ts";
import { readPage, search } from "../../src/rooms/world/projection/views.ts";
import type { Bench } from "../harness.ts";
import { seededIntegers } from "../seed.ts";
import { corpusOf, wordOf } from "../world-corpus.ts";

const PAGES = 40;

/** A page of a viewer's stream: the floor is the bare keyset query over all rows of the world. */
export const worldPage: Bench = {
  name: "world-page",
  onAsking: true,
  what: `${PAGES} projection pages of 50 lines from random places, gate included, in a store of N entries`,
  baseline: "the bare keyset SQL for 50 rows of the same world, without a viewer",
  corpus: "20 worlds of seeded 14-word lines, 30 % PRIVATE; the world that is read has 25,000",
  sizes: [100_000, 1_000_000],
  shares: "world-corpus",
  goal: { kind: "time", atMost: 2 },
  async prepare(size) {
    const { ports, path, first, first_size } = await corpusOf(size);
    const { module } = await loadSqlite();
    const bare = new module.DatabaseSync(path, {});
    const keyset = bare.prepare(
      "select wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text from world_entry where world = ? and wseq > ? order by wseq limit 51",
    );
    const next = seededIntegers(5);
    const newest = await readPage(ports, first, { viewer: null, after: null, before: null, limit: 200 });
    const cursors: string[] = [];
    let before = newest.cursor_before;
    for (let i = 0; i < PAGES && before !== null; i++) {
      cursors.push(before);
      before = (await readPage(ports, first, { viewer: null, after: null, before, limit: 50 + next(100) }))
        .cursor_before;
    }
    return {
      async ours() {
        for (const cursor of cursors)
          await readPage(ports, first, { viewer: null, after: cursor, before: null, limit: 50 });
      },
      baseline() {
        for (let i = 0; i < cursors.length; i++) keyset.all(1, next(first_size - 50));
      },
      close: () => bare.close(),
    };
  },
};

const QUERIES = 100;
const GOAL_MS = 25;

/** Search: the goal is absolute, so the baseline is the clock. The query that is timed is the slowest but four of 100. */
export const worldSearch: Bench = {
  name: "world-search",
  what: "the 95th percentile of 100 searches of 1 to 8 terms of mixed frequency, in a store of N entries",
  baseline: `${GOAL_MS} ms`,
  corpus: "as world-page; the world that is searched has 25,000",
  sizes: [100_000, 1_000_000],
  shares: "world-corpus",
  goal: { kind: "time", atMost: 1 },
  async prepare(size) {
    const { ports, first } = await corpusOf(size);
    const next = seededIntegers(6);
    const queries = Array.from({ length: QUERIES }, () => ({
      query_text: Array.from({ length: 1 + next(8) }, () => wordOf(next)).join(" "),
      limit: 5,
      person_id: null,
      from: null,
      to: null,
    }));
    const timed: { readonly query: (typeof queries)[number]; readonly ms: number }[] = [];
    for (const query of queries) {
      await search(ports, first, null, query);
      const started = performance.now();
      await search(ports, first, null, query);
      timed.push({ query, ms: performance.now() - started });
    }
    timed.sort((a, b) => a.ms - b.ms);
    const { query } = timed[Math.floor(QUERIES * 0.95) - 1]!;
    return {
      ours: () => search(ports, first, null, query),
      baseline: GOAL_MS,
    };
  },
};

import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { keepCorpus } from "../../bench/kept-corpus.ts";
import { fillWorlds, openBenchRoom } from "../../bench/world-corpus.ts";
import { loadSqlite } from "../../src/adapters/sql/sqlite/driver.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";

// Guards: what the benches measure is what their description says.

describe("the worlds of the benches", () => {
  it("are copies of the second where nobody reads, row for row in every table", async () => {
    const room = await openBenchRoom();
    try {
      const { second } = await fillWorlds(room.ports, room.path, 1_200);
      const { module } = await loadSqlite();
      const database = new module.DatabaseSync(room.path, {});
      const tables = database
        .prepare(
          "select m.name from sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table' and c.name = 'world'",
        )
        .all() as { name: string }[];
      const countsOf = (world: number) =>
        tables.map(({ name }) => [
          name,
          (database.prepare(`select count(*) n from ${name} where world = ?`).get(world) as { n: number }).n,
        ]);
      expect(countsOf(20)).toEqual(countsOf(2));
      expect(Object.fromEntries(countsOf(20))).toMatchObject({ world_entry: 48, world_person: 2 });
      database.close();
      const page = { viewer: null, after: null, before: null, limit: 50 };
      const [original, copy] = [
        await readPage(room.ports, second, page),
        await readPage(room.ports, "w_bench-19", page),
      ];
      expect(copy.entries.map(({ text }) => text)).toEqual(original.entries.map(({ text }) => text));
      expect(copy.entries.length).toBeGreaterThan(20);
    } finally {
      await room.close();
    }
  });
});

describe("a kept corpus", () => {
  it("is made once, and again in place of the old one when what makes it changes", async () => {
    const name = `test-${process.pid}`;
    let times = 0;
    const keep = (maker: string) =>
      keepCorpus(name, [maker], (folder) => writeFileSync(join(folder, "made"), String(++times)));
    const first = await keep("LICENSE");
    try {
      expect(await keep("LICENSE")).toBe(first);
      expect(times).toBe(1);
      const second = await keep("README.md");
      try {
        expect([times, existsSync(first), existsSync(join(second, "made"))]).toEqual([2, false, true]);
      } finally {
        rmSync(second, { recursive: true });
      }
    } finally {
      rmSync(first, { recursive: true, force: true });
    }
  });
});

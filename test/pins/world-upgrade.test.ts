import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { migratePostgres } from "../../src/adapters/sql/postgres/store.ts";
import { forkWorld } from "../../src/rooms/world/history/fork.ts";
import { keyOf } from "../../src/rooms/world/history/state.ts";
import { rebuildIndex, verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { makeCursor } from "../../src/rooms/world/ids.ts";
import { loadWorld } from "../../src/rooms/world/projection/reading.ts";
import { readPage, search } from "../../src/rooms/world/projection/views.ts";
import { fixedPorts } from "../support/fixed-ports.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { DatabaseSync } from "../support/raw-sqlite.ts";
import { envelope, openWorlds, type TestWorlds } from "../support/world.ts";

// A world as the code of older schemas wrote it, with lines of the room, a whisper to one person and a secret of the
// world: when the index of its lines had one table (6), and when answers lay in the order of their ids (8).
// `store/dump.ts` wrote them down.

const ID = "w_harbour";
const postgres = await usePostgres();
const readPin = (name: string) => readFileSync(fileURLToPath(new URL(`store/${name}`, import.meta.url)), "utf8");

async function onSqlite(pin: string, fn: (worlds: TestWorlds) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-upgrade-"));
  try {
    const database = new DatabaseSync(join(folder, "store.db"));
    database.exec(readPin(pin));
    database.close();
    await using worlds = await openWorlds({ folder });
    await fn(worlds);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onPostgres(pin: string, fn: (worlds: TestWorlds) => Promise<void>): Promise<void> {
  const made = await postgres.createDatabase({ empty: true });
  try {
    const client = new pg.Client({ connectionString: made.url });
    await client.connect();
    await client.query(readPin(pin));
    await client.end();
    await migratePostgres({ ...fixedPorts(), url: made.url });
    await using worlds = await openWorlds({ url: made.url });
    await fn(worlds);
  } finally {
    await made.drop();
  }
}

async function find({ ports }: TestWorlds, viewer: string, query_text = "blue boat key"): Promise<string[]> {
  const asked = { query_text, person_id: null, from: null, to: null, limit: 20 };
  return (await search(ports, ID, viewer, asked)).results.map(({ verbatim_excerpt }) => verbatim_excerpt);
}

const ANA = ["The spare key is under the blue boat.", "Nobody looks under the blue boat."];
const BEN = ["The lamp is blue too.", "Where is the spare key?"];

const DATABASES = [
  { database: "SQLite", kind: "sqlite", thaw: onSqlite, reason: null },
  { database: "PostgreSQL", kind: "postgres", thaw: onPostgres, reason: postgres.reason },
];
const FROZEN = DATABASES.flatMap((one) => [6, 8].map((version) => ({ ...one, version })));

describe.each(FROZEN)("a world of schema version $version on $database", ({ version, kind, thaw, reason }) => {
  const pin = `world-${kind}-v${version}.sql`;
  const open = (fn: (worlds: TestWorlds) => Promise<void>) => thaw(pin, fn);

  it("verifies, and everybody finds what they found then", needs(reason), async () => {
    await open(async (worlds) => {
      expect((await verifyWorld(worlds.ports, ID)).findings).toEqual([]);
      expect(await find(worlds, "ANA")).toEqual(ANA);
      expect(await find(worlds, "BEN")).toEqual(BEN);
      expect(await find(worlds, "GEORGE")).toEqual([...ANA, ...BEN]);
      expect(await find(worlds, "ANA", "hands")).toEqual(["Ana's hands shake."]);
      for (const other of ["BEN", "GEORGE"]) expect(await find(worlds, other, "hands"), other).toEqual([]);
      const page = await readPage(worlds.ports, ID, { viewer: "BEN", after: null, before: null, limit: 50 });
      expect(page.entries.map(({ text }) => text)).toEqual([
        "The cellar is cold.",
        "Where is the spare key?",
        "The lamp is blue too.",
      ]);
    });
  });

  it("answers an old request with its old answer and goes on with a new one", needs(reason), async () => {
    await open(async (worlds) => {
      const old = await worlds.beats.invoke(ID, envelope("old-1", "The spare key is under the blue boat."));
      expect(old.replayed).toBe(true);
      expect(readPin(pin)).toContain(`'${old.body.replaceAll("'", "''")}'`);
      const beat = await worlds.beats.invoke(ID, envelope("new-1", "Where is the boat again?"));
      expect(beat.headers).toEqual({ "Verbatim-Beat-Result": "WROTE" });
      // More of the three words first, then newer before older.
      expect(await find(worlds, "GEORGE")).toEqual([
        "The spare key is under the blue boat.",
        "The blue boat, again.",
        "Nobody looks under the blue boat.",
        "Where is the boat again?",
        ...BEN,
      ]);
      expect(await find(worlds, "BEN")).toEqual(["The blue boat, again.", "Where is the boat again?", ...BEN]);
      const report = await verifyWorld(worlds.ports, ID);
      expect(report.findings).toEqual([]);
      expect(report.checked).toEqual({ records: 9, entries: 9, outcomes: 3 });
    });
  });

  it("has an index that a rebuilt one equals, before and after a new line", needs(reason), async () => {
    await open(async (worlds) => {
      await rebuildIndex(worlds.ports, ID);
      expect(await find(worlds, "GEORGE")).toEqual([...ANA, ...BEN]);
      await worlds.beats.invoke(ID, envelope("new-1", "The key, again."));
      const found = await find(worlds, "GEORGE", "key again");
      await rebuildIndex(worlds.ports, ID);
      expect(await find(worlds, "GEORGE", "key again")).toEqual(found);
      expect(found[0]).toBe("The key, again.");
      expect((await verifyWorld(worlds.ports, ID)).findings).toEqual([]);
    });
  });
});

// Version 15 copied the lines of a parent into its fork; the pin holds such a fork with a line of its own.
describe.each(DATABASES)("a fork of schema version 15 on $database", ({ kind, thaw, reason }) => {
  const open = (fn: (worlds: TestWorlds) => Promise<void>) => thaw(`world-${kind}-v15.sql`, fn);
  const FORK = "w_old-fork";
  const texts = async ({ ports }: TestWorlds, id: string): Promise<string[]> => {
    const page = await readPage(ports, id, { viewer: "GEORGE", after: null, before: null, limit: 50 });
    return page.entries.map(({ text }) => text);
  };

  it(
    "keeps its rows, verifies and goes on, and forks of it and of its parent share theirs",
    needs(reason),
    async () => {
      await open(async (worlds) => {
        const { ports } = worlds;
        const shared = ["Good morning.", "The boat is gone.", "Who saw the boat?"];
        const old = await texts(worlds, FORK);
        expect(old.slice(0, 2)).toEqual(shared.slice(0, 2));
        expect(old).toContain("Here it stays.");
        for (const id of [ID, FORK]) expect((await verifyWorld(ports, id)).findings, id).toEqual([]);
        await worlds.beats.invoke(FORK, envelope("new-1", "Still here."));
        const page = await readPage(ports, FORK, { viewer: "GEORGE", after: null, before: null, limit: 50 });
        for (const [title, cursor, parent] of [
          ["early", await firstCursor(worlds, FORK), ID],
          ["late", page.cursor_after!, FORK],
        ] as const) {
          const fork = await forkWorld(ports, FORK, { cursor, viewer: null, world_id: `w_${title}`, title });
          await worlds.beats.invoke(fork.world_id, envelope("new-2", "Elsewhere."));
          expect((await texts(worlds, fork.world_id)).at(-1)).toBe("Elsewhere.");
          expect((await verifyWorld(ports, fork.world_id)).findings, title).toEqual([]);
          const lineage = await ports.store.read(async (tx) => {
            const row = await tx.world.find(fork.world_id);
            return Promise.all((await tx.world.lineage(row!.number)).map(({ ancestor }) => tx.world.idOf(ancestor)));
          });
          // The first line was written by the parent of the old fork, the last one by the old fork itself.
          expect(lineage).toEqual([parent]);
        }
        expect((await texts(worlds, FORK)).at(-1)).toBe("Still here.");
        for (const id of [ID, FORK]) expect((await verifyWorld(ports, id)).findings, id).toEqual([]);
      });
    },
  );
});

async function firstCursor({ ports }: TestWorlds, id: string): Promise<string> {
  return ports.store.read(async (tx) => {
    const { number, state } = await loadWorld(tx.world, id);
    const [entry] = await tx.world.scan(number, 0, 1);
    return makeCursor(ports.crypto, keyOf(state), "GEORGE", entry!.entry_id);
  });
}

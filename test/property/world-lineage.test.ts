// A fork reads the rows of its ancestors: whatever is asked of it is answered as by a world with a copy of those rows.
import { describe, expect, it } from "vitest";
import { toWriteBundle } from "../../src/rooms/world/beat/bundle.ts";
import { appendRecord } from "../../src/rooms/world/history/commit.ts";
import { forkWorld, plantFork } from "../../src/rooms/world/history/fork.ts";
import { plantCopy } from "../../src/rooms/world/history/history.ts";
import { imageAfter } from "../../src/rooms/world/history/image.ts";
import { readAncestors, readRecords } from "../../src/rooms/world/history/lineage.ts";
import { MAX_SEGMENTS } from "../../src/rooms/world/history/shared-rows.ts";
import { keyOf } from "../../src/rooms/world/history/state.ts";
import { rebuildIndex, verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { makeCursor } from "../../src/rooms/world/ids.ts";
import { addCalendarItem, addMessage, closeCalendarItem } from "../../src/rooms/world/people/pocket-writing.ts";
import type { WorldReader } from "../../src/rooms/world/ports.ts";
import { loadWorld } from "../../src/rooms/world/projection/reading.ts";
import { TermsIndex } from "../../src/rooms/world/retrieval/terms-index.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { makeHarbour, openWorlds, type TestWorlds } from "../support/world.ts";

const postgres = await usePostgres();
const WORDS = ["boat", "tide", "lamp", "rope", "gull", "海"] as const;
const VIEWERS = ["GEORGE", "ANA", "BEN"] as const;
let minute = 0;

type Next = (bound: number) => number;

/** Numbers that are the same in every run. */
function seeded(seed: number): Next {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % bound;
  };
}

/** Some lines in one record, each seen by somebody. */
async function write({ ports }: TestWorlds, id: string, next: Next, count: number): Promise<void> {
  const lines = Array.from({ length: count }, () => {
    const author = VIEWERS[next(3)]!;
    const isOperator = author === "GEORGE";
    return {
      author: { author_id: author, author_class: isOperator ? "OPERATOR" : "PERSON" } as const,
      channel: isOperator ? ("USER" as const) : ("PEOPLE" as const),
      text: Array.from({ length: 1 + next(4) }, () => WORDS[next(WORDS.length)]!).join(" "),
      visibility:
        next(3) === 0
          ? { scope: "PUBLIC" as const, visible_to: [] }
          : { scope: "PRIVATE" as const, visible_to: VIEWERS.filter((one) => one === author || next(3) === 0) },
    };
  });
  minute++;
  const created_at_world = new Date(Date.UTC(2026, 0, 1, 7, minute)).toISOString().replace(".000Z", "+00:00");
  await ports.store.transact(async (tx) => {
    const world = await loadWorld(tx.world, id);
    const proposed_by = { engine: "ENGINE_1_INVOCATION", actor: "test" };
    const parts = { request_id: `r${minute}`, created_at_world, proposed_by, lines };
    const write_bundle = toWriteBundle(ports.crypto, world.state, parts);
    const body = { people: [], present: [...world.state.present], source_sha256: "a".repeat(64), write_bundle };
    await appendRecord(ports, tx, world, "WORLD_IMPORTED", body as never);
  });
}

/** Lines, now and then an item, a closed item or a message, so that a fork begins among all of them. */
async function live(worlds: TestWorlds, id: string, next: Next): Promise<void> {
  const { ports } = worlds;
  for (let i = 0; i < 1 + next(3); i++) await write(worlds, id, next, 1 + next(70));
  const item = { title: "Tide", time: null, location: null, notes: null, visible_to: null };
  if (next(2) === 0) {
    const { item_id } = await addCalendarItem(ports, id, item);
    if (next(2) === 0) await closeCalendarItem(ports, id, { item_id, viewer: null });
  }
  if (next(2) === 0) await addMessage(ports, id, { from: "ANA", text: `Note ${minute}.`, visible_to: ["GEORGE"] });
}

/** A fork behind the record of some line of a world. */
async function fork({ ports }: TestWorlds, id: string, next: Next, name: string): Promise<void> {
  const cursor = await ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, id);
    for (;;) {
      const [entry] = await tx.world.scan(world.number, next(world.state.next_wseq - 1), 1);
      const sees = VIEWERS.find((one) => entry!.scope === "PUBLIC" || entry!.audience.includes(`"${one}"`))!;
      return { viewer: sees, text: makeCursor(ports.crypto, keyOf(world.state), sees, entry!.entry_id) };
    }
  });
  const wanted = { cursor: cursor.text, viewer: cursor.viewer, world_id: name, title: name };
  await forkWorld(ports, id, wanted);
}

/** The same world with rows of its own for everything. */
async function copy({ ports }: TestWorlds, id: string): Promise<string> {
  const own = await ports.store.read((tx) => readRecords(tx.ledger, id));
  const records = [...(await readAncestors(ports, own[0])), ...own];
  const state = await ports.store.read(async (tx) => (await loadWorld(tx.world, id)).state);
  const target = { world_id: `${id}-copy`, title: "Copy", world_key: state.world_key, outcomes: [] };
  const origin = { records, parent: records.at(-1)!, source_sha256: null };
  return (await plantCopy(ports, origin, target, null, { world_id: target.world_id })).world_id;
}

/** Everything that can be asked about the lines of a world, by the same questions for the same seed. */
async function ask({ ports }: TestWorlds, id: string, next: Next): Promise<unknown[]> {
  return ports.store.read(async (tx) => {
    const { number, state } = await loadWorld(tx.world, id);
    const tables: WorldReader = tx.world;
    const end = state.next_wseq;
    const index = await TermsIndex.open(tables, number);
    const whole = (await index.all())
      .map(({ key, block, lows }) => [block, key, ...lows] as const)
      .toSorted(([block, key], other) => block - other[0] || (key < other[1] ? -1 : 1));
    const answers: unknown[] = [await tables.messages(number), await tables.calendar(number), whole];
    const all = await tables.scan(number, 0, 10_000);
    answers.push(all, await tables.scanVisible(number, 0, end), await tables.scan(number, next(end), 7));
    for (let i = 0; i < 25; i++) {
      const after = next(end);
      const range = { after, before: after + 1 + next(end - after), limit: 1 + next(60), newest: next(2) === 0 };
      answers.push(await tables.range(number, range));
      const people = [next(6), next(6)];
      answers.push(await tables.visible(number, { any: people, all: [] }, range));
      answers.push(await tables.visible(number, { any: [0], all: people }, range));
      const some = Array.from({ length: next(9) }, () => 1 + next(end - 1));
      answers.push(await tables.entries(number, some));
      answers.push(await tables.entriesById(number, [...some.map((wseq) => all[wseq - 1]!.entry_id), "e_none"]));
      answers.push(await tables.firstAt(number, all[next(all.length)]!.created_ms + next(3) - 1));
      const [from, key] = [next(3), ["t:boat", "t:海", "v:2", "a:3", "t:none"][next(5)]!];
      answers.push(joined(await index.lists([key], from, from + next(3))));
      answers.push(await newestAll(index, key, next(5), 1 + next(3)));
    }
    return answers;
  });
}

/** A posting list from the newest block backwards, asked for in steps as a search does; every block comes whole. */
async function newestAll(index: TermsIndex, key: string, end: number, step: number): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let below = end; ; ) {
    const rows = await index.newest(key, below, step);
    found.push(...rows.map(({ block, lows }) => [block, [...lows]]));
    if (rows.length < step) return found;
    below = rows.at(-1)!.block;
  }
}

/** The numbers of a list whatever parts it comes in. */
function joined(rows: readonly { readonly block: number; readonly lows: Uint8Array }[]): number[] {
  return rows.flatMap(({ block, lows }) => [...lows].map((low) => block * 256 + low)).sort((a, b) => a - b);
}

describe.each([
  { database: "SQLite", reason: null, seeds: [1, 2, 3], trees: 9, open: async () => openWorlds() },
  {
    database: "PostgreSQL",
    reason: postgres.reason,
    seeds: [4],
    trees: 5,
    open: async () => openWorlds({ url: (await postgres.createDatabase()).url }),
  },
])("worlds that share rows on $database", ({ reason, seeds, trees, open }) => {
  it.each(seeds)("answer as copies do, over a random tree of forks (seed %i)", needs(reason), async (seed) => {
    const next = seeded(seed);
    await using worlds = await open();
    const ids = [await makeHarbour(worlds)];
    await write(worlds, ids[0]!, next, 200 + next(200));
    for (let i = 0; i < trees; i++) {
      const id = `w_fork-${i}`;
      await fork(worlds, ids[Math.max(0, ids.length - 1 - next(3))]!, next, id);
      ids.push(id);
      // Some stay empty, and parents go on behind the place of a fork.
      if (next(5) > 0) await live(worlds, id, next);
      if (next(2) === 0) await live(worlds, ids[next(ids.length)]!, next);
    }
    for (const id of ids) {
      const twin = await copy(worlds, id);
      const [shared, copied] = [await ask(worlds, id, seeded(seed)), await ask(worlds, twin, seeded(seed))];
      for (const [i, answer] of shared.entries()) expect(answer, `${id}, question ${i}`).toEqual(copied[i]);
      expect((await verifyWorld(worlds.ports, id)).findings).toEqual([]);
    }
    await rebuildIndex(worlds.ports, ids.at(-1)!);
    for (const id of ids) expect((await verifyWorld(worlds.ports, id)).findings, id).toEqual([]);
  });
});

describe("a fork of very many generations", () => {
  it("gets rows of its own when it would be read from more than 32 worlds, and its forks share them", async () => {
    await using worlds = await openWorlds();
    const next = seeded(9);
    let id = await makeHarbour(worlds);
    const counts: number[] = [];
    for (let i = 0; i < 36; i++) {
      await write(worlds, id, next, 1 + next(20));
      const head = await worlds.ports.store.read(async (tx) => (await tx.ledger.head(`world/${id}`))!);
      const parent = { world_id: id, ...head };
      const image = await imageAfter(worlds.ports, id, head.position);
      const target = { world_id: `w_gen-${i}`, title: "Next", world_key: "b".repeat(64), outcomes: [] };
      id = (await plantFork(worlds.ports, { parent, image }, target, null, { world_id: target.world_id })).world_id;
      counts.push(
        await worlds.ports.store.read(async (tx) => {
          const { number } = await loadWorld(tx.world, id);
          return (await tx.world.lineage(number)).length;
        }),
      );
    }
    const upTo = Array.from({ length: MAX_SEGMENTS - 1 }, (_, i) => i + 1);
    expect(counts).toEqual([...upTo, 0, 1, 2, 3, 4]);
    await write(worlds, id, next, 30);
    const twin = await copy(worlds, id);
    expect(await ask(worlds, id, seeded(1))).toEqual(await ask(worlds, twin, seeded(1)));
    for (const one of ["w_gen-30", "w_gen-31", id]) {
      expect((await verifyWorld(worlds.ports, one)).findings, one).toEqual([]);
    }
  });
});

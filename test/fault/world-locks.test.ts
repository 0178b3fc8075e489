// Workers that meet at one world: who holds its lock decides, and nobody waits for somebody who waits for them.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { Beats } from "../../src/rooms/world/beat/beats.ts";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import type { WorldStore } from "../../src/rooms/world/operations/ports.ts";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says, type TestWorlds } from "../support/world.ts";

const postgres = await usePostgres();

async function openHarbour(model: ListedModel, place: { readonly url?: string; readonly folder?: string } = {}) {
  const worlds = await openWorlds({ ...place, models: model });
  const world = await makeHarbour(worlds, OLLAMA);
  await setPresence(worlds.ports, world, ["GEORGE", "ANA"]);
  return { ...worlds, world };
}

async function linesOf({ ports }: Pick<TestWorlds, "ports">, world: string): Promise<string[]> {
  const { entries } = await readPage(ports, world, { viewer: null, after: null, before: null, limit: 50 });
  return entries.map(({ text }) => text);
}

const lockOf = ({ ports }: Pick<TestWorlds, "ports">, world: string) =>
  ports.store.read(async (tx) => (await tx.world.find(world))!.lock_holder);

/** The lock of a world runs out, as it does when its holder sleeps too long; the claims of requests stay. */
const lapse = ({ ports }: Pick<TestWorlds, "ports">, world: string) =>
  ports.store.transact(async (tx) => {
    const row = (await tx.world.hold(world))!;
    await tx.world.setLock(row.number, row.lock_holder, 0);
  });

describe("a worker whose lock went to another request while it slept", () => {
  it("writes nothing, though its own request is still claimed by nobody else", async () => {
    const model = new ListedModel(says("ANA", "To the second."), says("ANA", "To the first."));
    await using worlds = await openHarbour(model);
    const { world } = worlds;
    model.before = async () => {
      model.before = null;
      await lapse(worlds, world);
      await worlds.another().invoke(world, envelope("r2", "Second."));
    };
    await expect(worlds.beats.invoke(world, envelope("r1", "First."))).rejects.toMatchObject({ code: "WORLD_BUSY" });
    expect(await linesOf(worlds, world)).toEqual(["Second.", "To the second."]);
    expect((await verifyWorld(worlds.ports, world)).ok).toBe(true);
    await worlds.beats.invoke(world, envelope("r1", "First."));
    expect((await linesOf(worlds, world)).slice(2, 3)).toEqual(["First."]);
  });

  it("leaves the lock with whoever has it now", async () => {
    const model = new ListedModel(says("ANA", "To the second."), says("ANA", "To the first."));
    await using worlds = await openHarbour(model);
    const { world } = worlds;
    let second: Promise<unknown> = Promise.resolve();
    let firstMayEnd = () => undefined as void;
    let holder: string | null = null;
    model.before = async () => {
      await lapse(worlds, world);
      const isWriting = new Promise<void>((resolve) => {
        model.before = async () => {
          model.before = null;
          holder = await lockOf(worlds, world);
          resolve();
          await new Promise<void>((go) => {
            firstMayEnd = go;
          });
        };
      });
      second = worlds.another().invoke(world, envelope("r2", "Second."));
      await isWriting;
    };
    await expect(worlds.beats.invoke(world, envelope("r1", "First."))).rejects.toMatchObject({ code: "WORLD_BUSY" });
    expect(holder).not.toBeNull();
    expect(await lockOf(worlds, world)).toBe(holder);
    firstMayEnd();
    await second;
    expect((await linesOf(worlds, world))[0]).toBe("Second.");
  });
});

describe("a duplicate that comes first and claims second", () => {
  it("does not hold the turn against the one it waits for", async () => {
    const model = new ListedModel(says("ANA", "Tea?"));
    await using worlds = await openHarbour(model);
    const { world, ports } = worlds;
    let writes = 0;
    let pass: () => void = () => undefined;
    const isClaimed = new Promise<void>((resolve) => {
      pass = resolve;
    });
    const store = {
      ...ports.store,
      read: ((fn) => ports.store.read(fn)) as WorldStore["read"],
      transact: (async (fn) => {
        const write = ++writes;
        if (write === 1) await isClaimed;
        const result = await ports.store.transact(fn);
        if (write === 2) pass();
        return result;
      }) as WorldStore["transact"],
    } as WorldStore;
    const beats = new Beats({ ...ports, store });
    const [first, second] = await Promise.all([1, 2].map(() => beats.invoke(world, envelope("r1", "Hello."))));
    expect([first!.replayed, second!.replayed]).toEqual([true, false]);
    expect(first!.body).toBe(second!.body);
    expect(await linesOf(worlds, world)).toEqual(["Hello.", "Tea?"]);
    await beats.invoke(world, envelope("r2", "Again."));
    expect(model.prompts).toHaveLength(2);
  });
});

describe.each([
  { database: "SQLite", reason: null },
  { database: "PostgreSQL", reason: postgres.reason },
])("deleting a world on $database", ({ database, reason }) => {
  it("waits for no beat: while one runs it is refused, and the beat loses nothing", needs(reason), async () => {
    const root = mkdtempSync(join(tmpdir(), "verbatim-locks-"));
    const folder = join(root, ".verbatim", "state");
    mkdirSync(folder, { recursive: true });
    const made = database === "SQLite" ? null : await postgres.createDatabase();
    const env = { VERBATIM_DATABASE_URL: made?.url ?? "", HOME: root, XDG_STATE_HOME: join(root, "s") };
    const app = openApp({ surface: "library", start: root, env, platform: process.platform });
    const model = new ListedModel(says("ANA", "Tea?"));
    const worlds = await openHarbour(model, made === null ? { folder } : { folder, url: made.url });
    const erase = () => app.call("world.delete", { world: worlds.world, confirm: "Harbour" });
    try {
      let refused: unknown = null;
      model.before = async () => {
        refused = await erase().catch((thrown: unknown) => thrown);
      };
      await worlds.beats.invoke(worlds.world, envelope("r1", "Hello."));
      expect(refused).toMatchObject({ code: "WORLD_BUSY", where: worlds.world });
      expect(await linesOf(worlds, worlds.world)).toEqual(["Hello.", "Tea?"]);
      // A lock that ran out belongs to a worker that died: it keeps nobody from deleting.
      await worlds.ports.store.transact(async (tx) => {
        const row = (await tx.world.hold(worlds.world))!;
        await tx.world.setLock(row.number, "a worker that died", 1);
      });
      await worlds[Symbol.asyncDispose]();
      expect(await erase()).toMatchObject({ world_id: worlds.world, entries: 2 });
    } finally {
      await worlds[Symbol.asyncDispose]();
      await app.close();
      await made?.drop();
      rmSync(root, { recursive: true, force: true });
    }
  });
});

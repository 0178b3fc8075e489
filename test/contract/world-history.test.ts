import { describe, expect, it } from "vitest";
import { forkWorld } from "../../src/rooms/world/history/fork.ts";
import { exportWorld, importWorld } from "../../src/rooms/world/history/history.ts";
import { rebuildIndex, verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { verifyWorldFile } from "../../src/rooms/world/history/world-file.ts";
import { addPerson, namePerson, setPresence, startScene } from "../../src/rooms/world/people/people.ts";
import { addCalendarItem, addMessage } from "../../src/rooms/world/people/pocket-writing.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says, type TestWorlds } from "../support/world.ts";

const postgres = await usePostgres();
const whole = { viewer: null, after: null, before: null, limit: 50 };

/** A world in which everything happened once. */
async function live(worlds: TestWorlds): Promise<string> {
  const id = await makeHarbour(worlds, OLLAMA);
  await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
  await worlds.beats.invoke(id, envelope("r1", "Hello."));
  await addPerson(worlds.ports, id, { person_id: "CLEO", display_name: "Cleo" });
  await namePerson(worlds.ports, id, { person_id: "CLEO", display_name: "Cleo the baker" });
  const item = { title: "Ferry", time: "2026-01-01T09:00", location: null, notes: null, visible_to: null };
  await addCalendarItem(worlds.ports, id, item);
  await addMessage(worlds.ports, id, { from: "ANA", text: "Are you up?", visible_to: ["GEORGE"] });
  await startScene(worlds.ports, id, { text: "The pier, later.", present: null });
  const declared = { declared_overrides: { time: { declared_world_time: "2026-01-01T10:00Z" } } };
  await worlds.beats.invoke(id, envelope("r2", "We walk.", declared));
  return id;
}

describe.each([
  { database: "SQLite", reason: null },
  { database: "PostgreSQL", reason: postgres.reason },
])("history on $database", ({ database, reason }) => {
  const open = async (): Promise<TestWorlds> => {
    const models = new ListedModel(says("ANA", "Good morning."), says("ANA", "Slowly."), says("BEN", "x"));
    if (database === "SQLite") return openWorlds({ models });
    const made = await postgres.createDatabase();
    const worlds = await openWorlds({ models, url: made.url });
    return {
      ...worlds,
      async [Symbol.asyncDispose]() {
        await worlds[Symbol.asyncDispose]();
        await made.drop();
      },
    };
  };

  it("verifies: every row is what the records say", needs(reason), async () => {
    await using worlds = await open();
    const id = await live(worlds);
    const report = await verifyWorld(worlds.ports, id);
    expect(report.findings).toEqual([]);
    expect(report).toMatchObject({ ok: true, checked: { entries: 5, outcomes: 2 } });
  });

  it("forks after the beat of a line and leaves the parent alone", needs(reason), async () => {
    await using worlds = await open();
    const id = await live(worlds);
    const page = await readPage(worlds.ports, id, { ...whole, limit: 4 });
    const early = await readPage(worlds.ports, id, { ...whole, limit: 1, before: page.cursor_before });
    const fork = await forkWorld(worlds.ports, id, {
      cursor: early.cursor_after!,
      viewer: null,
      world_id: "w_other",
      title: "Otherwise",
    });
    expect(fork.world_id).toBe("w_other");
    const forked = await readPage(worlds.ports, "w_other", whole);
    expect(forked.entries.map(({ text }) => text)).toEqual(["Hello.", "Good morning."]);
    expect(forked.pocket.clock.world_time).toBe("2026-01-01T07:30:00+00:00");
    const answer = await worlds.beats.invoke("w_other", envelope("r1", "Another hello."));
    expect(answer.replayed).toBe(false);
    for (const one of [id, "w_other"]) expect((await verifyWorld(worlds.ports, one)).findings).toEqual([]);
    expect((await readPage(worlds.ports, id, whole)).entries).toHaveLength(5);
  });

  it("exports a file that verifies offline and comes back as the same world", needs(reason), async () => {
    await using worlds = await open();
    const id = await live(worlds);
    const text = `${(await exportWorld(worlds.ports, id)).join("\n")}\n`;
    expect(verifyWorldFile(worlds.ports.crypto, text).findings).toEqual([]);
    await using other = await openWorlds();
    const back = await importWorld(other.ports, text, null);
    expect(back.world_id).toBe(id);
    expect((await verifyWorld(other.ports, id)).findings).toEqual([]);
    const [here, there] = await Promise.all([readPage(worlds.ports, id, whole), readPage(other.ports, id, whole)]);
    expect(there).toEqual(here);
    const replayed = await other.beats.invoke(id, envelope("r1", "Hello."));
    expect(replayed.replayed).toBe(true);
    await expect(importWorld(other.ports, text, null)).rejects.toMatchObject({ code: "WORLD_EXISTS" });
    expect((await importWorld(other.ports, text, "w_second")).world_id).toBe("w_second");
    expect((await verifyWorld(other.ports, "w_second")).findings).toEqual([]);
  });

  it("refuses a file of which one byte was changed, and writes nothing", needs(reason), async () => {
    await using worlds = await open();
    const text = `${(await exportWorld(worlds.ports, await live(worlds))).join("\n")}\n`;
    await using other = await openWorlds();
    const changed = text.replace("Good morning.", "Good evening.");
    await expect(importWorld(other.ports, changed, null)).rejects.toMatchObject({ code: "IMPORT_VERIFY_FAILED" });
    expect(await other.ports.store.read((tx) => tx.world.list())).toEqual([]);
  });

  it("finds a stale index and makes it anew", needs(reason), async () => {
    await using worlds = await open();
    const id = await live(worlds);
    await worlds.ports.store.transact(async (tx) => tx.world.clearPostings(1));
    const stale = await verifyWorld(worlds.ports, id);
    expect(stale.findings.map(({ code }) => code)).toEqual(["WORLD_INDEX_STALE"]);
    expect(stale.findings[0]?.fix).toEqual({
      cli: "Rebuild it: verbatim world verify --rebuild-index",
      others: "Rebuild it: verify again with rebuild_index.",
    });
    expect(stale.ok).toBe(true);
    await rebuildIndex(worlds.ports, id);
    expect((await verifyWorld(worlds.ports, id)).findings).toEqual([]);
  });
});

// Guards: who acts in a world of turns follows from what the whole room knows, is recorded, and is never a client's choice
// for longer than one beat.
import { describe, expect, it } from "vitest";
import { forkWorld } from "../../src/rooms/world/history/fork.ts";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { changeSettings } from "../../src/rooms/world/history/worlds.ts";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { setTurn } from "../../src/rooms/world/people/turns.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says, type TestWorlds } from "../support/world.ts";

const postgres = await usePostgres();
let beat = 0;

/** Says something and gives who was asked to write, in order. */
async function acted(worlds: TestWorlds, models: ListedModel, id: string, text: string): Promise<string[]> {
  models.prompts.length = 0;
  await worlds.beats.invoke(id, envelope(`turn-${++beat}`, text));
  return models.prompts.map(({ user }) => (JSON.parse(user) as { you_write: { as: string } }).you_write.as);
}

const recorded = async ({ ports }: TestWorlds, id: string) => {
  const records = await ports.store.read((tx) => tx.ledger.readStream(`world/${id}`, 0, 200));
  return (JSON.parse(records.at(-1)!.body) as { turns?: unknown }).turns;
};

async function open(database: string, models: ListedModel, settings: object) {
  const made = database === "SQLite" ? null : await postgres.createDatabase();
  const worlds = await openWorlds({ models, ...(made === null ? {} : { url: made.url }) });
  const id = await makeHarbour(worlds, { ...OLLAMA, cast: "turns", ...settings });
  await setPresence(worlds.ports, id, ["GEORGE", "ANA", "BEN"]);
  const close = async () => {
    await worlds[Symbol.asyncDispose]();
    await made?.drop();
  };
  return { worlds, id, close };
}

describe.each([
  { database: "SQLite", reason: null },
  { database: "PostgreSQL", reason: postgres.reason },
])("turns on $database", ({ database, reason }) => {
  it("go round by who was silent longest, and the operator may give the next one", needs(reason), async () => {
    const models = new ListedModel();
    const { worlds, id, close } = await open(database, models, {});
    try {
      models.answers.push(says("ANA", "Here."));
      expect(await acted(worlds, models, id, "Who is there?")).toEqual(["ANA"]);
      expect(await recorded(worlds, id)).toEqual({ kind: "rotate", chosen: ["ANA"] });
      models.answers.push(says("BEN", "Here too."));
      expect(await acted(worlds, models, id, "And?")).toEqual(["BEN"]);
      expect(await acted(worlds, models, id, "Good.")).toEqual(["ANA"]);
      // She said nothing, so it is her turn still.
      expect(await acted(worlds, models, id, "Well?")).toEqual(["ANA"]);
      expect(await setTurn(worlds.ports, id, ["BEN", "ANA"], null)).toEqual({ next: ["BEN", "ANA"] });
      expect(await acted(worlds, models, id, "Both of you.")).toEqual(["BEN", "ANA"]);
      expect(await recorded(worlds, id)).toEqual({ kind: "set", chosen: ["BEN", "ANA"] });
      expect(await acted(worlds, models, id, "Again.")).toEqual(["ANA"]);
      // Somebody who left in between has no turn.
      await setTurn(worlds.ports, id, ["BEN"], null);
      await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
      expect(await acted(worlds, models, id, "Ben?")).toEqual([]);
      expect((await verifyWorld(worlds.ports, id)).findings).toEqual([]);
    } finally {
      await close();
    }
  });

  it("a line that not everybody here knows moves nobody back", needs(reason), async () => {
    const models = new ListedModel();
    const { worlds, id, close } = await open(database, models, {});
    try {
      models.answers.push(says("ANA", "Between us.", ["ANA", "GEORGE"]));
      expect(await acted(worlds, models, id, "A word.")).toEqual(["ANA"]);
      // To the room she has said nothing yet.
      expect(await acted(worlds, models, id, "Anybody?")).toEqual(["ANA"]);
    } finally {
      await close();
    }
  });
});

describe("turns", () => {
  it("are for those who are addressed, in the order of the text", async () => {
    const models = new ListedModel();
    const turns = { kind: "addressed", most: 2 };
    const { worlds, id, close } = await open("SQLite", models, { turns });
    expect(await acted(worlds, models, id, "BEN! Where is Ana's boat?")).toEqual(["BEN", "ANA"]);
    // A name inside a word is no name, and nobody named means going round.
    expect(await acted(worlds, models, id, "The banana is benign.")).toEqual(["ANA", "BEN"]);
    await changeSettings(worlds.ports, id, { turns: { most: 1, narrate: true } }, null);
    expect(await acted(worlds, models, id, "ben")).toEqual(["BEN", "WORLD"]);
    await close();
  });

  it("follow a list from whoever had the last one, a fork included", async () => {
    const models = new ListedModel();
    const { worlds, id, close } = await open("SQLite", models, { turns: { kind: "list", order: ["BEN", "ANA"] } });
    const { ports } = worlds;
    expect(await acted(worlds, models, id, "1")).toEqual(["BEN"]);
    expect(await acted(worlds, models, id, "2")).toEqual(["ANA"]);
    expect(await acted(worlds, models, id, "3")).toEqual(["BEN"]);
    const { cursor_after } = await readPage(ports, id, { viewer: null, after: null, before: null, limit: 1 });
    const fork = await forkWorld(ports, id, { cursor: cursor_after!, viewer: null, world_id: null, title: null });
    expect(await acted(worlds, models, fork.world_id, "4")).toEqual(["ANA"]);
    expect((await verifyWorld(ports, fork.world_id)).findings).toEqual([]);
    await setPresence(ports, id, ["GEORGE", "BEN"]);
    expect(await acted(worlds, models, id, "5")).toEqual(["BEN"]);
    await close();
  });

  it("refuse whom nobody could choose, and say what is wrong", async () => {
    const models = new ListedModel();
    const { worlds, id, close } = await open("SQLite", models, {});
    const { ports } = worlds;
    const refusal = (next: string[]) => setTurn(ports, id, next, null);
    await expect(refusal(["NOBODY_HERE"])).rejects.toMatchObject({ code: "PERSON_UNKNOWN", where: "/next/0" });
    await expect(refusal(["ANA", "ANA"])).rejects.toMatchObject({ code: "VISIBILITY_DUPLICATE", where: "/next/1" });
    await setPresence(ports, id, ["GEORGE", "ANA"]);
    await expect(refusal(["BEN"])).rejects.toMatchObject({ code: "PERSON_NOT_PRESENT", where: "/next/0" });
    await changeSettings(ports, id, { cast: "room" }, null);
    await expect(refusal(["ANA"])).rejects.toMatchObject({ code: "FIELD_VALUE", where: "/next" });
    await expect(changeSettings(ports, id, { turns: { order: ["ANA", "ANA"] } }, null)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      where: "/turns/order",
    });
    await close();
  });
});

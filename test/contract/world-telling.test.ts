import { describe, expect, it } from "vitest";
import { parseCall } from "../../src/rooms/world/beat/calls.ts";
import { forkWorld } from "../../src/rooms/world/history/fork.ts";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { changeSettings } from "../../src/rooms/world/history/worlds.ts";
import { setLore } from "../../src/rooms/world/people/lore-writing.ts";
import { setPresence, startScene } from "../../src/rooms/world/people/people.ts";
import { setPersona } from "../../src/rooms/world/people/persona.ts";
import { listPins, pin, unpin } from "../../src/rooms/world/people/pins.ts";
import { readCapsule, readPage } from "../../src/rooms/world/projection/views.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says, type TestWorlds } from "../support/world.ts";

const postgres = await usePostgres();

interface Prompt {
  readonly you_write: { readonly as: string };
  readonly notes: readonly string[];
  readonly about: readonly { readonly name: string; readonly text?: string; readonly style?: string }[];
  readonly pinned: readonly { readonly who: string | null; readonly text: string }[];
  readonly lore: readonly string[];
  readonly recent: readonly { readonly text: string }[];
  readonly scene: string;
  readonly people: readonly { readonly lines: string }[];
  readonly said: { readonly name: string; readonly text: string };
}

let beat = 0;

/** Says something and gives what each writer was sent, by who it writes. */
async function sent(worlds: TestWorlds, models: ListedModel, id: string, text: string): Promise<Map<string, Prompt>> {
  models.prompts.length = 0;
  await worlds.beats.invoke(id, envelope(`told-${++beat}`, text));
  const prompts = models.prompts.map(({ user }) => JSON.parse(user) as Prompt);
  return new Map(prompts.map((prompt) => [prompt.you_write.as, prompt]));
}

async function open(database: string, models: ListedModel) {
  const made = database === "SQLite" ? null : await postgres.createDatabase();
  const worlds = await openWorlds({ models, ...(made === null ? {} : { url: made.url }) });
  const close = async () => {
    await worlds[Symbol.asyncDispose]();
    await made?.drop();
  };
  return { worlds, close };
}

describe.each([
  { database: "SQLite", reason: null },
  { database: "PostgreSQL", reason: postgres.reason },
])("what a writer is told on $database", ({ database, reason }) => {
  it("is sent to those who may know it, each part for its own view", needs(reason), async () => {
    const models = new ListedModel();
    const { worlds, close } = await open(database, models);
    try {
      const { ports } = worlds;
      const id = await makeHarbour(worlds, { ...OLLAMA, cast: "each" });
      await setPresence(ports, id, ["GEORGE", "ANA", "BEN"]);
      const rule = { keys: ["lighthouse"] };
      await setLore(
        ports,
        id,
        [
          { lore_id: "world", text: "The lighthouse is hollow.", ...rule },
          { lore_id: "all", text: "The lighthouse has 99 steps.", visible_to: "PUBLIC", ...rule, order: 5 },
          { lore_id: "ana", text: "Ana was born in the lighthouse.", visible_to: "ANA", ...rule },
          { lore_id: "tide", text: "The tide comes twice.", always: true },
          { lore_id: "off", text: "The lighthouse is gone.", ...rule, enabled: false },
        ],
        null,
      );
      await setPersona(ports, id, { name: "Captain George", about: "An old captain." }, null);
      await changeSettings(
        ports,
        id,
        {
          notes: [
            { note_id: "tone", text: "Keep it short.", visible_to: ["WORLD"] },
            { note_id: "ben", text: "Ben is tired.", visible_to: ["BEN"] },
          ],
          people: { ANA: { style: "Ana says aye." } },
        },
        null,
      );
      const quiet = await sent(worlds, models, id, "Good morning.");
      expect(quiet.get("WORLD")).toMatchObject({ lore: ["The tide comes twice."], notes: ["Keep it short."] });
      expect(quiet.get("WORLD")!.about).toEqual([{ name: "Captain George", text: "An old captain." }]);
      expect(quiet.get("WORLD")!.said).toEqual({ name: "Captain George", text: "Good morning." });
      expect(quiet.get("ANA")).toMatchObject({ lore: [], notes: [], about: [{ name: "Ana", style: "Ana says aye." }] });
      expect(quiet.get("BEN")).toMatchObject({ lore: [], notes: ["Ben is tired."], about: [] });
      const due = await sent(worlds, models, id, "Look at the LIGHTHOUSE!");
      expect(due.get("WORLD")!.lore).toEqual([
        "The lighthouse is hollow.",
        "The tide comes twice.",
        "The lighthouse has 99 steps.",
      ]);
      expect(due.get("ANA")!.lore).toEqual(["Ana was born in the lighthouse.", "The lighthouse has 99 steps."]);
      expect(due.get("BEN")!.lore).toEqual(["The lighthouse has 99 steps."]);
      // Nobody lived any of it.
      for (const prompt of due.values()) {
        expect(JSON.stringify([prompt.recent, prompt.scene, prompt.people])).not.toMatch(/hollow|steps|old captain/i);
      }
      const row = await ports.store.read(async (tx) => tx.world.find(id));
      const calls = (await ports.store.read((tx) => tx.world.calls(row!.number, null, 3))).map(parseCall);
      const keys = calls.find(({ actor }) => actor === "BEN")!.parts.find(({ part }) => part === "lore")!.keys;
      expect(keys).toMatchObject([{ keys: ["lighthouse"] }]);
      const records = await ports.store.read((tx) => tx.ledger.readStream(`world/${id}`, 0, 100));
      const { lore } = JSON.parse(records.at(-1)!.body) as { lore: { actor: string; entry_ids: string[] }[] };
      expect(lore.map(({ actor, entry_ids }) => [actor, entry_ids.length])).toEqual([
        ["ANA", 2],
        ["BEN", 1],
        ["WORLD", 3],
      ]);
      expect((await verifyWorld(ports, id)).findings).toEqual([]);
    } finally {
      await close();
    }
  });

  it("keeps pins for those who may see their lines, and a fork keeps all of it", needs(reason), async () => {
    const models = new ListedModel(
      says("ANA", "The spare key is under the blue pot, Ben must not know.", ["ANA", "GEORGE"]),
    );
    const { worlds, close } = await open(database, models);
    try {
      const { ports } = worlds;
      const id = await makeHarbour(worlds, OLLAMA);
      await setPresence(ports, id, ["GEORGE", "ANA"]);
      await sent(worlds, models, id, "Where is the key?");
      const whole = { viewer: null, after: null, before: null, limit: 10 };
      const { entries, cursor_after } = await readPage(ports, id, whole);
      const { entry_id } = entries.at(-1)!;
      const quote = "under the blue pot";
      await expect(pin(ports, id, { entry_id, quote: "under the red pot", viewer: null }, null)).rejects.toMatchObject({
        code: "EXCERPT_NOT_VERBATIM",
      });
      const hidden = pin(ports, id, { entry_id, quote, viewer: "BEN" }, null);
      await expect(hidden).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND", where: entry_id });
      const made = await pin(ports, id, { entry_id, quote, viewer: null }, null);
      expect(await listPins(ports, id, "ANA")).toEqual([made]);
      expect(await listPins(ports, id, "BEN")).toEqual([]);
      await expect(unpin(ports, id, { pin_id: made.pin_id, viewer: "BEN" }, null)).rejects.toMatchObject({
        code: "PIN_NOT_FOUND",
      });
      await setLore(ports, id, [{ lore_id: "pot", text: "The pot is from Delft.", keys: ["pot"] }], null);
      await startScene(ports, id, { text: "Evening.", present: ["GEORGE", "ANA"] });
      const later = (await sent(worlds, models, id, "Hm.")).get("WORLD")!;
      expect(later.pinned).toEqual([{ who: "Ana", text: quote }]);
      await setPresence(ports, id, ["GEORGE", "ANA", "BEN"]);
      expect((await sent(worlds, models, id, "Hm.")).get("WORLD")!.pinned).toEqual([]);
      const asked = { cursor: cursor_after!, viewer: null, world_id: "w_fork", title: null };
      await forkWorld(ports, id, { ...asked, cursor: (await readPage(ports, id, whole)).cursor_after! });
      expect(await listPins(ports, "w_fork", null)).toEqual([made]);
      expect((await verifyWorld(ports, "w_fork")).findings).toEqual([]);
      await unpin(ports, id, { pin_id: made.pin_id, viewer: null }, null);
      expect(await listPins(ports, id, null)).toEqual([]);
      expect(await listPins(ports, "w_fork", null)).toEqual([made]);
      expect((await verifyWorld(ports, id)).findings).toEqual([]);
    } finally {
      await close();
    }
  });
});

describe("lore", () => {
  it("comes back by its key after rehydrations, and no capsule quotes it", async () => {
    const models = new ListedModel();
    await using worlds = await openWorlds({ models });
    const { ports } = worlds;
    const context = { window_tokens: 5000, output_reserve: 0, threshold_percent: 80, pack_percent: 40 };
    const id = await makeHarbour(worlds, { ...OLLAMA, context, tools: { beat_bytes: 0 } });
    await setPresence(ports, id, ["GEORGE", "ANA"]);
    const many = Array.from({ length: 300 }, (_, i) => ({
      lore_id: `l${i}`,
      text: `Harbour number ${i} has a crane.`,
      keys: [`crane ${i}`],
    }));
    await setLore(ports, id, many, null);
    let rehydrated = 0;
    for (let i = 0; i < 40 && rehydrated < 3; i++) {
      models.answers.push(says("ANA", `Word ${i}. ${"The sea is grey today. ".repeat(20)}`));
      await sent(worlds, models, id, `Tell me more, ${i}. ${"Really. ".repeat(40)}`);
      const records = await ports.store.read((tx) => tx.ledger.readStream(`world/${id}`, 0, 1000));
      const record = JSON.parse(records.at(-1)!.body) as { rehydration: unknown[]; lore: unknown[] };
      rehydrated += record.rehydration.length;
      expect(record.lore).toEqual([]);
    }
    expect(rehydrated).toBe(3);
    const prompt = (await sent(worlds, models, id, "What of crane 217?")).get("WORLD")!;
    expect(prompt.lore).toEqual(["Harbour number 217 has a crane."]);
    expect(JSON.stringify([prompt.people, prompt.scene, prompt.recent])).not.toContain("has a crane");
    const capsule = await readCapsule(ports, id, "ANA", "ANA");
    expect(JSON.stringify(capsule)).not.toContain("has a crane");
  });

  it("changes by what is named, and a changed row is found", async () => {
    await using worlds = await openWorlds();
    const { ports } = worlds;
    const id = await makeHarbour(worlds);
    const [first] = (await setLore(ports, id, [{ lore_id: "a", text: "One.", keys: ["one"] }], null)).lore;
    const [again] = (await setLore(ports, id, [{ lore_id: "a", order: 3 }], null)).lore;
    expect(again).toEqual(first);
    const [other] = (await setLore(ports, id, [{ lore_id: "a", text: "Two." }], null)).lore;
    expect(other!.entry_id).not.toBe(first!.entry_id);
    await expect(setLore(ports, id, [{ lore_id: "b" }], null)).rejects.toMatchObject({ code: "FIELD_MISSING" });
    const nobody = setLore(ports, id, [{ lore_id: "b", text: "x", visible_to: "NOBODY_HERE" }], null);
    await expect(nobody).rejects.toMatchObject({ code: "PERSON_UNKNOWN", where: "/visible_to" });
    const row = await ports.store.read(async (tx) => tx.world.find(id));
    const marks = await ports.store.read((tx) => tx.world.marks(row!.number));
    expect(marks).toMatchObject([{ kind: "lore", id: "a" }]);
    await ports.store.transact((tx) => tx.world.setMarks(row!.number, [{ ...marks[0]!, body: "{}" }]));
    expect((await verifyWorld(ports, id)).findings).toMatchObject([{ code: "WORLD_ROW_MISMATCH", where: "mark 1" }]);
  });

  it("takes no more notes than all of them can be sent", async () => {
    await using worlds = await openWorlds();
    const id = await makeHarbour(worlds);
    const notes = Array.from({ length: 3 }, (_, i) => ({
      note_id: `n${i}`,
      text: "x".repeat(2000),
      visible_to: ["WORLD"],
    }));
    await expect(changeSettings(worlds.ports, id, { notes }, null)).rejects.toMatchObject({
      code: "CONTEXT_BUDGET_TOO_SMALL",
      where: "/notes",
    });
  });
});

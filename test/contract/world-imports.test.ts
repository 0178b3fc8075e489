import { describe, expect, it } from "vitest";
import { appendRecord } from "../../src/rooms/world/history/commit.ts";
import { forkWorld } from "../../src/rooms/world/history/fork.ts";
import { exportWorld, importWorld } from "../../src/rooms/world/history/history.ts";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { listImports } from "../../src/rooms/world/import/import-list.ts";
import { type ImportRequest, importAsNew, importFile } from "../../src/rooms/world/import/imports.ts";
import { findImported, readEntrySwipes } from "../../src/rooms/world/import/originals.ts";
import { isBackground } from "../../src/rooms/world/knowledge/background.ts";
import { readMarks } from "../../src/rooms/world/knowledge/marks.ts";
import { readAvatar, removeAvatar, setAvatar } from "../../src/rooms/world/people/avatars.ts";
import { loadWorld, toLedgerEntry } from "../../src/rooms/world/projection/reading.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { needs } from "../support/needs.ts";
import { pngCard, pngPicture } from "../support/pictures.ts";
import { usePostgres } from "../support/postgres.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, type TestWorlds } from "../support/world.ts";

const postgres = await usePostgres();

const HOW: ImportRequest = { preview: false, expand_names: true, lore: "world", enter: true, rules: 2 };
const MIRA = {
  spec: "chara_card_v2",
  data: {
    name: "Mira",
    description: "{{char}} keeps the lighthouse.",
    scenario: "A storm is due.",
    mes_example: "<BOT>: Aye.",
    first_mes: "Mind the step, {{user}}.",
    alternate_greetings: ["Who goes?"],
    character_book: {
      entries: [
        { keys: ["lamp"], content: "The lamp burns oil.", insertion_order: 1 },
        { keys: ["/lamp|oil/"], content: "The cat is called Salt.", insertion_order: 2 },
      ],
    },
  },
};

async function open(database: string, models = new ListedModel()) {
  const made = database === "SQLite" ? null : await postgres.createDatabase();
  const worlds = await openWorlds({ models, ...(made === null ? {} : { url: made.url }) });
  return {
    worlds,
    async [Symbol.asyncDispose]() {
      await worlds[Symbol.asyncDispose]();
      await made?.drop();
    },
  };
}

async function linesOf({ ports }: TestWorlds, id: string) {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, id);
    return (
      await tx.world.range(world.number, { after: 0, before: world.state.next_wseq, limit: 1000, newest: false })
    ).map(toLedgerEntry);
  });
}

describe.each([
  { database: "SQLite", reason: null },
  { database: "PostgreSQL", reason: postgres.reason },
])("imports by the second rules on $database", ({ database, reason }) => {
  it(
    "a card is background, lore, a sample and one greeting, and a writer is told each when it is due",
    needs(reason),
    async () => {
      const models = new ListedModel();
      await using at = await open(database, models);
      const { worlds } = at;
      const { ports } = worlds;
      const id = await makeHarbour(worlds, OLLAMA);
      const card = pngCard(MIRA);
      const preview = await importFile(ports, id, card, { ...HOW, preview: true });
      expect(preview.greetings.map(({ index, text }) => [index, text])).toEqual([
        [0, "Mind the step, {{user}}."],
        [1, "Who goes?"],
      ]);
      expect(await linesOf(worlds, id)).toEqual([]);
      const done = await importFile(ports, id, card, HOW);
      expect(done.lost).toEqual([{ what: "regex_key", count: 1, where: "/data/character_book/entries/1/keys/0" }]);
      const lines = await linesOf(worlds, id);
      expect(lines.map(({ channel, text, visibility }) => [channel, text, visibility.visible_to])).toEqual([
        ["VOICE", "Mira keeps the lighthouse.", ["MIRA", "WORLD"]],
        ["VOICE", "A storm is due.", ["WORLD"]],
        ["VOICE", "The lamp burns oil.", ["WORLD"]],
        ["VOICE", "The cat is called Salt.", ["WORLD"]],
        ["PEOPLE", "Mind the step, George.", ["GEORGE", "MIRA"]],
      ]);
      expect(lines.map(isBackground)).toEqual([true, true, true, true, false]);
      expect(done.background).toEqual([0, 1, 2, 3]);
      const told = async (text: string) => {
        models.prompts.length = 0;
        await worlds.beats.invoke(id, envelope(`r-${text.length}`, text));
        return JSON.parse(models.prompts[0]!.user) as { about: object[]; lore: string[]; recent: { text: string }[] };
      };
      const quiet = await told("Good morning.");
      expect(quiet.about).toEqual([
        { name: "Mira", text: "Mira keeps the lighthouse." },
        { name: "Mira", style: "Mira: Aye." },
      ]);
      expect(quiet.lore).toEqual(["A storm is due."]);
      expect(quiet.recent.map(({ text }) => text)).not.toContain("Mira keeps the lighthouse.");
      expect((await told("Is the lamp lit?")).lore).toEqual(["The lamp burns oil.", "A storm is due."]);
      expect((await verifyWorld(ports, id)).findings).toEqual([]);
    },
  );

  it("the same file comes once, and a name that is there is asked about", needs(reason), async () => {
    await using at = await open(database);
    const { ports } = at.worlds;
    const id = await makeHarbour(at.worlds);
    const card = pngCard(MIRA);
    const first = await importFile(ports, id, card, HOW, "once");
    expect(await importFile(ports, id, card, HOW, "once")).toEqual(first);
    await expect(importFile(ports, id, card, HOW)).rejects.toMatchObject({
      code: "IMPORT_PERSON_MATCHES",
      details: { person_ids: ["MIRA"] },
    });
    const own = { ...HOW, person: "MIRA" };
    await expect(importFile(ports, id, card, own)).rejects.toMatchObject({
      code: "IMPORT_ALREADY",
      details: { import: 1 },
    });
    expect(await importFile(ports, id, card, { ...own, again: true })).toMatchObject({ people: [], person_id: "MIRA" });
    await expect(importFile(ports, id, card, { ...HOW, person: "CLEO" })).rejects.toMatchObject({
      code: "PERSON_UNKNOWN",
    });
    const other = pngCard({ name: "mira", first_mes: "Hm." });
    expect(await importFile(ports, id, other, { ...HOW, person: "new" })).toMatchObject({
      people: [{ person_id: "MIRA_2", display_name: "mira" }],
    });
    expect((await listImports(ports, id)).map(({ number, entries }) => [number, entries])).toEqual([
      [1, 5],
      [2, 5],
      [3, 1],
    ]);
    await expect(findImported(ports, id, 4)).rejects.toMatchObject({ code: "IMPORT_NOT_FOUND" });
    const { cursor_after } = await readPage(ports, id, { viewer: null, after: null, before: null, limit: 1 });
    const asked = { cursor: cursor_after!, viewer: null, world_id: "w_fork", title: null };
    const fork = (await forkWorld(ports, id, asked)).world_id;
    await expect(importFile(ports, fork, card, own)).rejects.toMatchObject({
      code: "IMPORT_ALREADY",
      details: { import: 1 },
    });
  });

  it("a picture is kept without the card that it carries, in forks and exports too", needs(reason), async () => {
    await using at = await open(database);
    const { ports } = at.worlds;
    const { world_id: id } = await importAsNew(ports, pngCard(MIRA), HOW, { world_id: "w_mira", title: null }, null);
    const { bytes, media_type } = await readAvatar(ports, id, "MIRA");
    expect(media_type).toBe("image/png");
    expect(Buffer.from(bytes)).toEqual(pngPicture());
    await expect(readAvatar(ports, id, "GEORGE")).rejects.toMatchObject({ code: "AVATAR_NOT_FOUND" });
    await expect(setAvatar(ports, id, "NOBODY", pngPicture(), null)).rejects.toMatchObject({ code: "PERSON_UNKNOWN" });
    await setAvatar(ports, id, "GEORGE", pngPicture(), null);
    const file = `${(await exportWorld(ports, id)).join("\n")}\n`;
    await using elsewhere = await open("SQLite");
    const there = elsewhere.worlds.ports;
    await importWorld(there, file, null);
    expect(Buffer.from((await readAvatar(there, id, "GEORGE")).bytes)).toEqual(pngPicture());
    expect((await verifyWorld(there, id)).findings).toEqual([]);
    await removeAvatar(ports, id, "MIRA", null);
    await expect(readAvatar(ports, id, "MIRA")).rejects.toMatchObject({ code: "AVATAR_NOT_FOUND" });
    await expect(removeAvatar(ports, id, "MIRA", null)).rejects.toMatchObject({ code: "AVATAR_NOT_FOUND" });
    expect((await verifyWorld(ports, id)).findings).toEqual([]);
    const other = await ports.content.put(pngCard(MIRA));
    const named = { person_id: "GEORGE", sha256: other, media_type: "image/png" } as const;
    await ports.store.transact(async (tx) => {
      await appendRecord(ports, tx, await loadWorld(tx.world, id), "WORLD_AVATAR_SET", named);
    });
    // Whatever a record of somebody else names: only what has nothing beside a picture is ever shown as one.
    await expect(readAvatar(ports, id, "GEORGE")).rejects.toMatchObject({ code: "AVATAR_NOT_FOUND" });
    // A row that was changed behind the records is found.
    await ports.store.transact(async (tx) => {
      const { number } = await loadWorld(tx.world, id);
      await tx.world.setMarks(number, [{ kind: "avatar", id: "GEORGE", number: 99, body: "{}" }]);
    });
    expect((await verifyWorld(ports, id)).findings.map(({ code }) => code)).toContain("WORLD_ROW_MISMATCH");
  });

  it("the other texts of a line come from the original, verbatim", needs(reason), async () => {
    await using at = await open(database);
    const { ports } = at.worlds;
    const line = { name: "Ana", mes: "I am {{char}}.", swipe_id: 1, swipes: ["Hm, {{user}}.", "I am {{char}}."] };
    const file = Buffer.from(`{"user_name":"George"}\n{"name":"Ana","mes":"Hello."}\n${JSON.stringify(line)}\n`);
    const { world_id: id } = await importAsNew(ports, file, HOW, { world_id: "w_chat", title: "Chat" }, null);
    const [first, second] = await linesOf(at.worlds, id);
    expect(second!.text).toBe("I am Ana.");
    const { entry_id } = second!;
    expect(await readEntrySwipes(ports, id, entry_id)).toEqual({ entry_id, swipes: line.swipes, chosen: 1 });
    expect(await readEntrySwipes(ports, id, first!.entry_id)).toMatchObject({ swipes: [], chosen: null });
    await expect(readEntrySwipes(ports, id, "e_aaaaaaaaaaaaaaaa")).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    const marks = await ports.store.read(async (tx) => readMarks(tx.world, await loadWorld(tx.world, id)));
    expect([...marks.swipes]).toEqual([[2, expect.objectContaining({ line: 3, count: 2 })]]);
    expect((await verifyWorld(ports, id)).findings).toEqual([]);
  });
});

it("a chat of more lines than a record takes is several records and one import", async () => {
  await using at = await open("SQLite");
  const { ports } = at.worlds;
  const said = (i: number) =>
    JSON.stringify({ name: "Ana", mes: `Line ${i}.`, swipes: i === 10_001 ? ["One.", "Two."] : [] });
  const file = Buffer.from(Array.from({ length: 10_002 }, (_, i) => said(i)).join("\n"));
  const { world_id: id } = await importAsNew(ports, file, HOW, { world_id: "w_long", title: "Long" }, null);
  const records = await ports.store.read((tx) => tx.ledger.readStream(`world/${id}`, 0, 10));
  expect(records.map(({ kind }) => kind)).toEqual(["WORLD_CREATED", "WORLD_IMPORTED", "WORLD_IMPORTED"]);
  expect(await listImports(ports, id)).toMatchObject([{ number: 1, format: "CHAT", entries: 10_002 }]);
  const page = await readPage(ports, id, { viewer: null, after: null, before: null, limit: 1 });
  expect(page.entries[0]!.text).toBe("Line 10001.");
  expect((await readEntrySwipes(ports, id, page.entries[0]!.entry_id)).swipes).toEqual(["One.", "Two."]);
  expect((await verifyWorld(ports, id)).findings).toEqual([]);
});

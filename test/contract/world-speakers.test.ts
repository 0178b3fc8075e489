// Guards: who speaks is decided by who sends, a correction is a new line for exactly those who have the old one, and an
// answer is of the surface of whoever speaks.
import { describe, expect, it } from "vitest";
import type { Sender } from "../../src/rooms/world/beat/speaker.ts";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says, type TestWorlds } from "../support/world.ts";

const postgres = await usePostgres();

const OWNER: Sender = { role: "owner", person: null };
const OPERATOR: Sender = { role: "operator", person: null };
const PLAYER: Sender = { role: "player", person: "ANA" };

interface Wish {
  readonly speaker?: string;
  readonly corrects?: string;
  readonly writer?: "on" | "off";
}

async function say(worlds: TestWorlds, id: string, request: never, sender: Sender, wish: Wish = {}) {
  const wishes = { speaker: null, corrects: null, writer: null, ...wish };
  const { body, headers } = await worlds.beats.invoke(id, request, { sender, wishes });
  const { stream } = JSON.parse(body) as { stream: { entries: { entry_id: string; text: string }[] } };
  return { entries: stream.entries, headers };
}

async function texts({ ports }: TestWorlds, id: string, viewer: string): Promise<string[]> {
  const page = await readPage(ports, id, { viewer, after: null, before: null, limit: 50 });
  return page.entries.map(({ text }) => text);
}

const LINE = { "Verbatim-Beat-Result": "LINE" };
const own = (n: number) => `ANA.0123456789abcdef${n}`;

async function open(database: string, models: ListedModel, settings: object = {}) {
  const made = database === "SQLite" ? null : await postgres.createDatabase();
  const worlds = await openWorlds({ models, ...(made === null ? {} : { url: made.url }) });
  const id = await makeHarbour(worlds, { ...OLLAMA, cast: "each", ...settings });
  await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
  const close = async () => {
    await worlds[Symbol.asyncDispose]();
    await made?.drop();
  };
  return { worlds, id, close };
}

describe.each([
  { database: "SQLite", reason: null },
  { database: "PostgreSQL", reason: postgres.reason },
])("speakers on $database", ({ database, reason }) => {
  it("write lines of their own, and a correction reaches exactly those who have the line", needs(reason), async () => {
    const models = new ListedModel();
    const { worlds, id, close } = await open(database, models);
    try {
      const { ports } = worlds;
      const first = await say(worlds, id, envelope("o-1", "The key is blue."), OPERATOR, { writer: "off" });
      expect(first.headers).toEqual(LINE);
      expect(models.prompts).toEqual([]);
      const line = first.entries[0]!.entry_id;
      // Ben comes in, who does not have the line; what is said of it now is not for him either.
      await setPresence(ports, id, ["GEORGE", "ANA", "BEN"]);
      const wish = { corrects: line };
      await say(worlds, id, envelope("o-2", "The key is zqred."), OPERATOR, wish);
      const prompts = models.prompts.map(({ user }) => JSON.parse(user) as { you_write: { as: string } });
      const hears = (as: string) => JSON.stringify(prompts.find((one) => one.you_write.as === as)).includes("zqred");
      expect(["ANA", "BEN", "WORLD"].map(hears)).toEqual([true, false, false]);
      expect(await texts(worlds, id, "ANA")).toEqual(["The key is blue.", "The key is zqred."]);
      expect(await texts(worlds, id, "BEN")).toEqual([]);
      // A person speaks, and the answer is of that person's surface.
      models.answers.push(says("BEN", "Not to Ana.", ["BEN", "GEORGE"]));
      const said = await say(worlds, id, envelope("o-3", "Good morning."), OWNER, { speaker: "ANA" });
      expect(said.entries).toMatchObject([{ channel: "PEOPLE", author_label: "Ana", text: "Good morning." }]);
      const voice = await say(worlds, id, envelope("o-4", "It rains."), OWNER, { speaker: "WORLD", writer: "off" });
      expect(voice.entries).toMatchObject([{ channel: "VOICE", author_label: null, text: "It rains." }]);
      const records = await ports.store.read((tx) => tx.ledger.readStream(`world/${id}`, 0, 100));
      const bodies = records.map(({ body }) => JSON.parse(body) as Record<string, unknown>).slice(-3);
      expect(bodies).toMatchObject([
        { speaker: "GEORGE", corrects: line, ran_writer: true },
        { speaker: "ANA", corrects: null, ran_writer: true },
        { speaker: "WORLD", corrects: null, ran_writer: false },
      ]);
      expect((await verifyWorld(ports, id)).findings).toEqual([]);
    } finally {
      await close();
    }
  });
});

describe("speakers", () => {
  it("are refused what is not theirs, each with its code and place", async () => {
    const models = new ListedModel(
      says("ANA", "Only for George.", ["ANA", "GEORGE"]),
      "{}",
      says("ANA", "For me.", ["ANA"]),
    );
    const { worlds, id, close } = await open("SQLite", models);
    const first = await say(worlds, id, envelope("r-1", "Hello."), OPERATOR);
    const [mine, hers] = first.entries.map(({ entry_id }) => entry_id);
    const no = (request: never, sender: Sender, wish: Wish = {}) =>
      say(worlds, id, request, sender, wish).catch(({ code, where }: { code: string; where: string }) => ({
        code,
        where,
      }));
    expect(await no(envelope("r-2", "x"), OPERATOR, { speaker: "ANA" })).toEqual({
      code: "VIEWER_DENIED",
      where: "/speaker",
    });
    expect(await no(envelope(own(1), "x"), PLAYER, { speaker: "GEORGE" })).toMatchObject({ code: "VIEWER_DENIED" });
    expect(await no(envelope("r-3", "x"), OWNER, { speaker: "NOBODY_HERE" })).toEqual({
      code: "PERSON_UNKNOWN",
      where: "/speaker",
    });
    expect(await no(envelope("r-4", "x"), OWNER, { speaker: "BEN" })).toEqual({
      code: "PERSON_NOT_PRESENT",
      where: "/speaker",
    });
    expect(await no(envelope("r-5", "x"), OPERATOR, { corrects: hers! })).toEqual({
      code: "CORRECTION_NOT_YOURS",
      where: "/corrects",
    });
    const unknown = { code: "ENTRY_NOT_FOUND", where: "/corrects" };
    expect(await no(envelope("r-6", "x"), OPERATOR, { corrects: "e_aaaaaaaaaaaaaaaa" })).toEqual(unknown);
    expect(await no(envelope(own(2), ""), PLAYER, { corrects: hers! })).toEqual({
      code: "FIELD_EMPTY",
      where: "/operator/input_text",
    });
    expect(await no(envelope(own(3), "x"), PLAYER, { corrects: mine! })).toMatchObject({
      code: "CORRECTION_NOT_YOURS",
    });
    const paused = { declared_overrides: { pause_time: true } };
    expect(await no(envelope(own(4), "x", paused), PLAYER)).toEqual({
      code: "OPERATOR_ONLY",
      where: "/declared_overrides",
    });
    // Ids of callers never meet.
    const pattern = { code: "FIELD_PATTERN", where: "/request_id" };
    expect(await no(envelope("ANA.short", "x"), PLAYER)).toEqual(pattern);
    expect(await no(envelope("BEN.0123456789abcdef0", "x"), PLAYER)).toEqual(pattern);
    expect(await no(envelope(own(5), "x"), OPERATOR)).toEqual(pattern);
    expect(await no(envelope(own(5), "x"), OWNER)).toEqual(pattern);
    // The same id with another wish is another request.
    await say(worlds, id, envelope("r-7", "Same."), OWNER, { writer: "off" });
    expect(await no(envelope("r-7", "Same."), OWNER)).toMatchObject({ code: "IDEMPOTENCY_BODY_MISMATCH" });
    await close();
  });

  it("of an absent person may still be put right by the owner", async () => {
    const models = new ListedModel(says("ANA", "At nine."));
    const { worlds, id, close } = await open("SQLite", models);
    const { entries } = await say(worlds, id, envelope("a-1", "When?"), OWNER);
    await setPresence(worlds.ports, id, ["GEORGE"]);
    const wish = { corrects: entries[1]!.entry_id, writer: "off" as const };
    await say(worlds, id, envelope("a-2", "At ten."), OWNER, wish);
    expect(await texts(worlds, id, "ANA")).toEqual(["When?", "At nine.", "At ten."]);
    await close();
  });
});

// Guards: a player speaks as its person and as nobody else, no writer speaks for it, and a token that ended opens nothing.
import { describe, expect, it } from "vitest";
import type { Sender } from "../../src/rooms/world/beat/speaker.ts";
import { makeVersion } from "../../src/rooms/world/beat/versions.ts";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { changeSettings } from "../../src/rooms/world/history/worlds.ts";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { setTurn } from "../../src/rooms/world/people/turns.ts";
import { listTokens, makeToken, revokeToken } from "../../src/rooms/world/people/world-tokens.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says } from "../support/world.ts";

const postgres = await usePostgres();
const OWNER: Sender = { role: "owner", person: null };
const player = (person: string): Sender => ({ role: "player", person });

async function open(database: string, models: ListedModel, settings: object = {}) {
  const made = database === "SQLite" ? null : await postgres.createDatabase();
  const worlds = await openWorlds({ models, ...(made === null ? {} : { url: made.url }) });
  const id = await makeHarbour(worlds, { ...OLLAMA, ...settings });
  await setPresence(worlds.ports, id, ["GEORGE", "ANA", "BEN"]);
  const close = async () => {
    await worlds[Symbol.asyncDispose]();
    await made?.drop();
  };
  let n = 0;
  const say = async (person: string, text: string, writer: "on" | "off" | null = null) => {
    const wishes = { speaker: null, corrects: null, writer };
    const request = envelope(`${person}.0123456789abcde${(n++).toString(16)}`, text);
    const { headers } = await worlds.beats.invoke(id, request, { sender: player(person), wishes });
    return headers["Verbatim-Beat-Result"];
  };
  return { worlds, id, close, say };
}

describe.each([
  { database: "SQLite", reason: null },
  { database: "PostgreSQL", reason: postgres.reason },
])("players on $database", ({ database, reason }) => {
  it("say lines, and a writer goes on as the owner set it, never as one of them", needs(reason), async () => {
    const models = new ListedModel();
    const { worlds, id, close, say } = await open(database, models);
    const { ports, beats } = worlds;
    try {
      await makeToken(ports, id, { person_id: "ANA", role: "player", label: "phone" });
      const ben = await makeToken(ports, id, { person_id: "BEN", role: "player" });
      expect([await say("ANA", "I wait."), models.prompts.length]).toEqual(["LINE", 0]);
      await changeSettings(ports, id, { players: { mode: "round" } }, null);
      // She has sent a line since a writer last ran, so the round is full with his.
      models.answers.push('{"no_write":{}}');
      expect([await say("BEN", "Me too."), models.prompts.length]).toEqual(["SILENCE", 1]);
      expect([await say("BEN", ""), await say("BEN", "Hm."), models.prompts.length]).toEqual(["LINE", "LINE", 1]);
      models.answers.push(says("ANA", "I speak for her."));
      expect([await say("ANA", ""), models.prompts.length]).toEqual(["PROPOSAL_REJECTED", 2]);
      const [prompt] = models.prompts
        .slice(-1)
        .map(({ user }) => JSON.parse(user) as { you_write: { may_write: object[] } });
      expect(prompt!.you_write.may_write).toMatchObject([{ author_id: "WORLD" }]);
      await changeSettings(ports, id, { players: { mode: "beat" }, cast: "turns" }, null);
      expect([await say("ANA", "Now?"), await say("ANA", "Only a line.", "off")]).toEqual(["SILENCE", "LINE"]);
      await expect(setTurn(ports, id, ["BEN"], null)).rejects.toMatchObject({ code: "PERSON_NOT_PRESENT" });
      const entry = { author: { author_id: "BEN", author_class: "PERSON" }, channel: "PEOPLE", text: "No." };
      const wish = { of: null, request_id: "v-1", input_text: null, entries: [entry], writer: null };
      await expect(makeVersion(ports, beats, id, wish, OWNER)).rejects.toMatchObject({
        code: "ACTOR_DENIED",
        where: "/entries/0/author/author_id",
      });
      // Taken back, he is nobody's, and a writer may speak for him again.
      const revoked = await revokeToken(ports, id, ben.token_id);
      expect(revoked.revoked_at).not.toBeNull();
      expect(await setTurn(ports, id, ["BEN"], null)).toEqual({ next: ["BEN"] });
      const tokens = await listTokens(ports, id);
      expect(tokens.map(({ viewer, role, label, revoked_at }) => [viewer, role, label, revoked_at === null])).toEqual(
        expect.arrayContaining([
          ["ANA", "player", "phone", true],
          ["BEN", "player", null, false],
        ]),
      );
      expect((await verifyWorld(ports, id)).findings).toEqual([]);
    } finally {
      await close();
    }
  });
});

describe("tokens", () => {
  it("are made for whom they can be for, and refused with a place otherwise", async () => {
    const { worlds, id, close } = await open("SQLite", new ListedModel());
    const { ports } = worlds;
    const no = (wanted: Parameters<typeof makeToken>[2]) => makeToken(ports, id, wanted);
    await expect(no({ person_id: "NOBODY_HERE" })).rejects.toMatchObject({
      code: "PERSON_UNKNOWN",
      where: "/person_id",
    });
    await expect(no({ person_id: "ANA", role: "operator" })).rejects.toMatchObject({
      code: "FIELD_VALUE",
      where: "/role",
    });
    await expect(no({ person_id: "GEORGE", role: "player" })).rejects.toMatchObject({
      code: "FIELD_VALUE",
      where: "/role",
    });
    await expect(no({ person_id: "ANA", expires_ms: 1 })).rejects.toMatchObject({ where: "/expires_at" });
    await expect(revokeToken(ports, id, "t_0000000000000000")).rejects.toMatchObject({ code: "TOKEN_NOT_FOUND" });
    expect(await no({ person_id: "GEORGE" })).toMatchObject({ role: "operator", viewer: "GEORGE" });
    await close();
  });
});

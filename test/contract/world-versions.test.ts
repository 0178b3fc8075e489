// Guards: a version is another world; nothing of the one it comes from is changed, and what an operator may not see of a beat
// is neither listed nor lived again for it.
import { describe, expect, it } from "vitest";
import { editLine } from "../../src/rooms/world/beat/edit.ts";
import type { Sender } from "../../src/rooms/world/beat/speaker.ts";
import { listVersions } from "../../src/rooms/world/beat/version-list.ts";
import { keepVersion, makeVersion, type WantedVersion } from "../../src/rooms/world/beat/versions.ts";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { changeSettings } from "../../src/rooms/world/history/worlds.ts";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says, type TestWorlds } from "../support/world.ts";

const postgres = await usePostgres();
const OWNER: Sender = { role: "owner", person: null };
const OPERATOR: Sender = { role: "operator", person: null };

const wish = (request_id: string, more: Partial<WantedVersion> = {}): WantedVersion => ({
  of: null,
  request_id,
  input_text: null,
  entries: null,
  writer: null,
  ...more,
});

async function texts({ ports }: TestWorlds, id: string, viewer = "GEORGE"): Promise<string[]> {
  const page = await readPage(ports, id, { viewer, after: null, before: null, limit: 50 });
  return page.entries.map(({ text }) => text);
}

async function open(database: string, models: ListedModel, settings: object = {}) {
  const made = database === "SQLite" ? null : await postgres.createDatabase();
  const worlds = await openWorlds({ models, ...(made === null ? {} : { url: made.url }) });
  const id = await makeHarbour(worlds, { ...OLLAMA, time_policy: { kind: "step", step_ms: 60_000 }, ...settings });
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
])("versions on $database", ({ database, reason }) => {
  it("are made, listed and kept, and the story goes on in any of them", needs(reason), async () => {
    const models = new ListedModel(says("ANA", "Aye."), says("ANA", "One."));
    const { worlds, id, close } = await open(database, models);
    try {
      const { ports, beats } = worlds;
      await beats.invoke(id, envelope("b-1", "Ready?"));
      await beats.invoke(id, envelope("b-2", "Count!"));
      const before = await readPage(ports, id, { viewer: null, after: null, before: null, limit: 9 });
      const made = [];
      for (const [i, word] of ["Two.", "Three.", "Four.", "Five.", "Six."].entries()) {
        models.answers.push(says("ANA", word));
        made.push(await makeVersion(ports, beats, id, wish(`v-${i + 2}`), OPERATOR));
      }
      expect(made.map(({ version }) => version)).toMatchObject(
        [2, 3, 4, 5, 6].map((version_no) => ({ version_no, result: "WROTE", code: null, kept: false })),
      );
      expect(made[0]).toMatchObject({
        story_id: id,
        of: "b-2",
        output: { stream: { entries: [{ text: "Count!" }, { text: "Two." }] } },
      });
      // The same time, though a policy would move it.
      const times = new Set([
        ...made.map(({ output }) => output!.pocket.clock.world_time),
        before.pocket.clock.world_time,
      ]);
      expect([...times]).toEqual(["2026-01-01T07:32:00+00:00"]);
      expect(await readPage(ports, id, { viewer: null, after: null, before: null, limit: 9 })).toEqual(before);
      const { of, versions } = await listVersions(ports, id, null, OPERATOR);
      expect([of, versions.map((one) => [one.version_no, one.first?.excerpt, one.kept, one.goes_on])]).toEqual([
        "b-2",
        [
          [1, "One.", true, false],
          [2, "Two.", false, false],
          [3, "Three.", false, false],
          [4, "Four.", false, false],
          [5, "Five.", false, false],
          [6, "Six.", false, false],
        ],
      ]);
      // Keep the third, go on there, keep the first again.
      const third = versions[2]!.world_id;
      expect(await keepVersion(ports, id, third, null)).toEqual({ story_id: id, kept_world_id: third });
      models.answers.push(says("ANA", "And on."));
      await beats.invoke(third, envelope("b-3", "Go on."));
      expect(await texts(worlds, third)).toEqual(["Ready?", "Aye.", "Count!", "Three.", "Go on.", "And on."]);
      const again = await listVersions(ports, third, "b-2", OWNER);
      expect(again.versions.filter((one) => one.kept || one.goes_on)).toMatchObject([
        { version_no: 3, kept: true, goes_on: true },
      ]);
      // A version of what was lived in a version, and one of the version itself, which is one of the first beat.
      models.answers.push(says("ANA", "Or not."), says("ANA", "Seven."));
      const deep = await makeVersion(ports, beats, third, wish("v-deep"), OWNER);
      expect([deep.of, deep.version.version_no, deep.version.kept]).toEqual(["b-3", 2, false]);
      const seventh = await makeVersion(ports, beats, third, wish("v-7", { of: "v-3" }), OWNER);
      expect([seventh.of, seventh.version.version_no]).toEqual(["b-2", 7]);
      expect(await texts(worlds, seventh.version.world_id)).toEqual(["Ready?", "Aye.", "Count!", "Seven."]);
      await keepVersion(ports, deep.version.world_id, id, null);
      expect((await listVersions(ports, id, null, OWNER)).versions.filter(({ kept }) => kept)).toMatchObject([
        { version_no: 1 },
      ]);
      // A reader keeps the place: a cursor of the root holds in the version, for lines that both have.
      const [shared, own] = [before.cursor_before!, before.cursor_after!];
      const page = { viewer: null, before: null, limit: 9 };
      expect((await readPage(ports, third, { ...page, after: shared })).entries[0]).toMatchObject({ text: "Aye." });
      await expect(readPage(ports, third, { ...page, after: own })).rejects.toMatchObject({ code: "CURSOR_INVALID" });
      const all = [id, ...made.map(({ version }) => version.world_id), deep.version.world_id, seventh.version.world_id];
      for (const world of all) expect((await verifyWorld(ports, world)).findings, world).toEqual([]);
      const other = await makeHarbour(worlds, {}, "w_other");
      await expect(keepVersion(ports, id, other, null)).rejects.toMatchObject({ code: "VERSION_NOT_FOUND" });
    } finally {
      await close();
    }
  });

  it("take other words, lines of one's own, or another writer", needs(reason), async () => {
    const models = new ListedModel(says("ANA", "No."));
    const writers = { quick: { kind: "ollama", model: "quick" } };
    const { worlds, id, close } = await open(database, models, { writers });
    try {
      const { ports, beats } = worlds;
      await beats.invoke(id, envelope("w-1", "Will you come?"));
      models.answers.push(says("ANA", "Yes."));
      const words = await makeVersion(ports, beats, id, wish("x-1", { input_text: "Please come." }), OWNER);
      expect(await texts(worlds, words.version.world_id)).toEqual(["Please come.", "Yes."]);
      models.prompts.length = 0;
      const entry = { author: { author_id: "ANA", author_class: "PERSON" }, channel: "PEOPLE", text: "Perhaps." };
      const own = await makeVersion(ports, beats, id, wish("x-2", { entries: [entry] }), OPERATOR);
      expect(await texts(worlds, own.version.world_id)).toEqual(["Will you come?", "Perhaps."]);
      const silent = await makeVersion(ports, beats, id, wish("x-3", { entries: [] }), OPERATOR);
      expect(silent.version).toMatchObject({ result: "SILENCE" });
      expect(models.prompts).toEqual([]);
      await makeVersion(ports, beats, id, wish("x-4", { writer: "quick" }), OWNER);
      const off = await makeVersion(ports, beats, id, wish("x-5", { writer: "off" }), OWNER);
      expect([models.prompts.length, off.version.result]).toEqual([1, "LINE"]);
      const line = { author: { author_id: "GEORGE", author_class: "OPERATOR" }, channel: "USER", text: "I agree." };
      await expect(makeVersion(ports, beats, id, wish("x-6", { entries: [line] }), OWNER)).rejects.toMatchObject({
        code: "WRITER_AS_OPERATOR",
        where: "/entries/0/channel",
      });
      await expect(makeVersion(ports, beats, id, wish("x-7", { writer: "slow" }), OWNER)).rejects.toMatchObject({
        code: "FIELD_VALUE",
        where: "/writer",
      });
      // The same request is the same version, and another wish under its id is refused.
      const again = await makeVersion(ports, beats, id, wish("x-2", { entries: [entry] }), OPERATOR);
      expect(again.version).toEqual(own.version);
      await expect(makeVersion(ports, beats, id, wish("x-2"), OPERATOR)).rejects.toMatchObject({
        code: "IDEMPOTENCY_BODY_MISMATCH",
      });
      const { entries } = await readPage(ports, id, { viewer: null, after: null, before: null, limit: 9 });
      const edited = { entry_id: entries[1]!.entry_id, text: "Never.", keep: true, request_id: "x-8" };
      const { version } = await editLine(ports, beats, id, edited, OWNER);
      expect([version.kept, await texts(worlds, version.world_id)]).toEqual([true, ["Will you come?", "Never."]]);
      const said = { entry_id: entries[0]!.entry_id, text: "Stay.", keep: false, request_id: "x-9" };
      const other = await editLine(ports, beats, id, said, OWNER);
      expect(await texts(worlds, other.version.world_id)).toEqual(["Stay."]);
      expect(await texts(worlds, id)).toEqual(["Will you come?", "No."]);
      for (const one of [version, other.version]) expect((await verifyWorld(ports, one.world_id)).findings).toEqual([]);
    } finally {
      await close();
    }
  });
});

describe("versions", () => {
  it("that no writer answers are versions without their beat, which the same request lives later", async () => {
    const models = new ListedModel(says("ANA", "Here."));
    const { worlds, id, close } = await open("SQLite", models);
    const { ports, beats } = worlds;
    await beats.invoke(id, envelope("d-1", ""));
    models.answers.push({ down: "nobody" });
    const down = await makeVersion(ports, beats, id, wish("d-2"), OWNER);
    expect(down).toMatchObject({ version: { version_no: 2, result: null, code: "WRITER_UNREACHABLE" }, output: null });
    const { versions } = await listVersions(ports, id, null, OWNER);
    expect(versions[1]).toMatchObject({ result: null, first: null, goes_on: false });
    models.answers.push(says("ANA", "There."));
    const lived = await makeVersion(ports, beats, id, wish("d-2"), OWNER);
    expect(lived.version).toMatchObject({ version_no: 2, world_id: down.version.world_id, result: "WROTE" });
    expect((await verifyWorld(ports, lived.version.world_id)).findings).toEqual([]);
    await close();
  });

  it("of a beat that an operator may not know are as if there were none", async () => {
    const models = new ListedModel();
    const { worlds, id, close } = await open("SQLite", models);
    const { ports, beats } = worlds;
    await beats.invoke(id, envelope("h-1", "Hello."));
    await setPresence(ports, id, ["ANA", "BEN"]);
    const wishes = { speaker: "ANA", corrects: null, writer: "off" as const };
    await beats.invoke(id, envelope("h-2", "Between us."), { sender: OWNER, wishes });
    expect((await listVersions(ports, id, null, OPERATOR)).of).toBe("h-1");
    expect((await listVersions(ports, id, null, OWNER)).of).toBe("h-2");
    const no = async (of: string) => listVersions(ports, id, of, OPERATOR).catch((thrown: unknown) => String(thrown));
    expect(await no("h-2")).toBe(await no("never"));
    await expect(makeVersion(ports, beats, id, wish("h-3", { of: "h-2" }), OPERATOR)).rejects.toMatchObject({
      code: "INVOCATION_NOT_FOUND",
      where: "/of",
    });
    const visible = await makeVersion(ports, beats, id, wish("h-4", { of: "h-2", input_text: "Hm." }), OWNER);
    expect(await texts(worlds, visible.version.world_id)).toEqual(["Hello."]);
    expect(await texts(worlds, visible.version.world_id, "BEN")).toEqual(["Hm."]);
    await changeSettings(ports, id, { title: "Quay" }, null);
    await close();
  });
});

// Guards: what stands beside the stream (lists, pages, previews, events) says no more than the surface of whoever asks.
import { describe, expect, it } from "vitest";
import { listBeats } from "../../src/rooms/world/beat/beat-list.ts";
import { countText, previewTime } from "../../src/rooms/world/beat/previews.ts";
import type { Sender } from "../../src/rooms/world/beat/speaker.ts";
import { keepVersion, makeVersion } from "../../src/rooms/world/beat/versions.ts";
import { changeSettings } from "../../src/rooms/world/history/worlds.ts";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { addCalendarItem, addMessage } from "../../src/rooms/world/people/pocket-writing.ts";
import { findLines } from "../../src/rooms/world/projection/finding.ts";
import { followWorld } from "../../src/rooms/world/projection/following.ts";
import { readMessages } from "../../src/rooms/world/projection/messages.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { listWorlds } from "../../src/rooms/world/projection/world-list.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says } from "../support/world.ts";

const postgres = await usePostgres();
const OWNER: Sender = { role: "owner", person: null };
const OPERATOR: Sender = { role: "operator", person: null };
const QUIET = { speaker: null, corrects: null, writer: "off" as const };

async function open(database: string, models = new ListedModel()) {
  const made = database === "SQLite" ? null : await postgres.createDatabase();
  const worlds = await openWorlds({ models, ...(made === null ? {} : { url: made.url }) });
  const id = await makeHarbour(worlds, OLLAMA);
  await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
  const close = async () => {
    await worlds[Symbol.asyncDispose]();
    await made?.drop();
  };
  const say = (request: string, text: string, speaker: string | null = null) =>
    worlds.beats.invoke(id, envelope(request, text), { sender: OWNER, wishes: { ...QUIET, speaker } });
  return { worlds, id, close, say };
}

const LIST = {
  q: "",
  order: "title",
  versions: false,
  limit: 50,
  after: null,
  story: null,
  viewer: null,
  clocks: true,
} as const;

describe.each([
  { database: "SQLite", reason: null },
  { database: "PostgreSQL", reason: postgres.reason },
])("lists on $database", ({ database, reason }) => {
  it("of worlds, lines and beats come page by page, for whoever asks", needs(reason), async () => {
    const { worlds, id, close, say } = await open(database);
    const { ports } = worlds;
    try {
      for (let i = 1; i <= 5; i++) await say(`l-${i}`, `The boat ${i} is red.`, i % 2 === 0 ? "ANA" : null);
      await setPresence(ports, id, ["ANA", "BEN"]);
      await say("l-6", "The boat is for us.", "ANA");
      const asked = { viewer: null, query: "BOAT red", person: null, from: null, to: null, limit: 2, after: null };
      const seen: string[] = [];
      for (let after: string | null = null; ; ) {
        const { results, next } = await findLines(ports, id, { ...asked, after });
        seen.push(...results.map(({ verbatim_excerpt }) => verbatim_excerpt));
        expect(results[0]!.matches).toEqual([
          [4, 8],
          [14, 17],
        ]);
        if (next === null) break;
        await expect(findLines(ports, id, { ...asked, viewer: "ANA", after: next })).rejects.toMatchObject({
          code: "CURSOR_INVALID",
          where: "/after",
        });
        after = next;
      }
      expect(seen).toEqual([5, 4, 3, 2, 1].map((n) => `The boat ${n} is red.`));
      const whole = await findLines(ports, id, { ...asked, viewer: "BEN" });
      expect(whole).toMatchObject({
        results: [{ verbatim_excerpt: "The boat is for us.", author_label: "Ana" }],
        next: null,
      });
      const page = await readPage(ports, id, { viewer: null, after: null, before: null, limit: 9, reader: "viewer" });
      const around = page.entries[2]!.entry_id;
      const middle = await readPage(ports, id, { viewer: null, after: null, before: null, around, limit: 3 });
      expect(middle.entries.map(({ text }) => text)).toEqual([2, 3, 4].map((n) => `The boat ${n} is red.`));
      expect([middle.has_more_before, middle.has_more_after]).toEqual([true, true]);
      expect(middle.meta[0]).toMatchObject({ author_id: "ANA", visible_to: ["ANA", "GEORGE"], request_id: "l-2" });
      expect(page.meta[1]).toMatchObject({ visible_to: ["GEORGE"], request_id: null });
      const hidden = (await readPage(ports, id, { viewer: "ANA", after: null, before: null, limit: 1 })).entries[0]!;
      for (const entry of [hidden.entry_id, "e_aaaaaaaaaaaaaaaa"]) {
        const no = readPage(ports, id, { viewer: null, after: null, before: null, around: entry, limit: 3 });
        await expect(no).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND", where: "/around" });
      }
      const first = await listBeats(ports, id, { speaker: null, limit: 2, after: null }, OPERATOR);
      expect(first.beats.map(({ request_id, entry_ids }) => [request_id, entry_ids.length])).toEqual([
        ["l-5", 1],
        ["l-4", 1],
      ]);
      const rest = await listBeats(ports, id, { speaker: null, limit: 9, after: first.next }, OPERATOR);
      expect(rest.beats.map(({ request_id }) => request_id)).toEqual(["l-3", "l-2", "l-1"]);
      const all = await listBeats(ports, id, { speaker: "ANA", limit: 9, after: null }, OWNER);
      expect(all.beats.map(({ request_id }) => request_id)).toEqual(["l-6", "l-4", "l-2"]);
      expect(all.beats[0]).toMatchObject({ kind: "LINE", result: "LINE", versions: 1, calls: 0, rehydrated: false });
      await makeHarbour(worlds, { title: "Arch" }, "w_arch");
      const worldsOf = async (more: object) => {
        const { worlds: found, next } = await listWorlds(ports, { ...LIST, ...more });
        return { ids: found.map(({ state }) => state.world_id), next };
      };
      const one = await worldsOf({ limit: 1 });
      expect([one.ids, (await worldsOf({ limit: 1, after: one.next })).ids]).toEqual([["w_arch"], [id]]);
      expect(await worldsOf({ order: "activity", q: "ARB" })).toEqual({ ids: [id], next: null });
      const ben = await listWorlds(ports, { ...LIST, viewer: "BEN", story: id });
      expect(ben.worlds[0]!.last).toMatchObject({ excerpt: "The boat is for us." });
      const george = await listWorlds(ports, { ...LIST, story: id });
      expect(george.worlds[0]!.last).toMatchObject({ excerpt: "The boat 5 is red." });
      expect(george.worlds[0]!.last_activity).toMatch(/^2\d{3}-/);
      // Versions are listed for whoever wants them, and the kept one stands for its story.
      const wish = { of: "l-5", request_id: "v", input_text: null, entries: null, writer: null };
      const { version } = await makeVersion(ports, worlds.beats, id, wish, OWNER);
      expect((await worldsOf({})).ids).toEqual(["w_arch", id]);
      expect((await worldsOf({ versions: true })).ids).toEqual(["w_arch", id, version.world_id]);
      await keepVersion(ports, id, version.world_id, null);
      expect((await worldsOf({})).ids).toEqual(["w_arch", version.world_id]);
    } finally {
      await close();
    }
  });
});

describe("what stands beside the stream", () => {
  it("previews time and words, and writes nothing", async () => {
    const { worlds, id, close, say } = await open("SQLite");
    const { ports, beats } = worlds;
    const item = { location: null, notes: null, time: "2026-01-01T09:00Z" };
    await addCalendarItem(ports, id, { ...item, title: "Ferry", visible_to: null });
    await addCalendarItem(ports, id, { ...item, title: "Secret ferry", visible_to: ["ANA"] });
    const asked = { at: "2026-01-01T10:00", timezone: null, pause: true };
    expect(await previewTime(ports, id, asked, null)).toMatchObject({
      clock_before: "2026-01-01T07:30:00+00:00",
      clock_after: "2026-01-01T10:00:00+00:00",
      paused: true,
      gap_ms: 9_000_000,
      due: [{ title: "Ferry", time: "2026-01-01T09:00:00+00:00" }],
    });
    await expect(previewTime(ports, id, { ...asked, at: "2026-01-01T07:00" }, null)).rejects.toMatchObject({
      code: "TIME_NOT_MONOTONIC",
    });
    expect(await countText(ports, id, "Tide.")).toMatchObject({
      bytes: 5,
      tokens: 2,
      tokenizer: "utf8-bytes/3",
      fits: true,
    });
    const long = await countText(ports, id, "a".repeat(60_000));
    expect([long.fits, long.max_bytes < 60_000]).toEqual([false, true]);
    await say("p-1", "The pier is wet.");
    const before = await ports.store.read((tx) => tx.ledger.head(`world/${id}`));
    const { passes, clock_after } = await beats.preview(id, null, "Where is the pier?", true);
    expect(clock_after).toBe("2026-01-01T07:30:00+00:00");
    expect(passes).toMatchObject([{ actor: "WORLD", writer: { kind: "ollama", model: "test" }, rehydrates: false }]);
    expect(passes[0]!.messages![1]!.content).toContain("The pier is wet.");
    expect(await ports.store.read((tx) => tx.ledger.head(`world/${id}`))).toEqual(before);
    for (const n of [1, 2, 3]) await addMessage(ports, id, { from: "ANA", text: `Note ${n}`, visible_to: ["GEORGE"] });
    const first = await readMessages(ports, id, { viewer: null, limit: 2, after: null });
    expect(first.items.map(({ text }) => text)).toEqual(["Note 3", "Note 2"]);
    const rest = await readMessages(ports, id, { viewer: null, limit: 2, after: first.next });
    expect(rest).toMatchObject({ items: [{ text: "Note 1", from: "Ana" }], next: null });
    expect(await readMessages(ports, id, { viewer: "BEN", limit: 2, after: null })).toEqual({ items: [], next: null });
    await close();
  });

  it("tells followers what changed for them, and nothing else", async () => {
    const models = new ListedModel(says("ANA", "Aye."), says("ANA", "Nay."));
    const { worlds, id, close, say } = await open("SQLite", models);
    const { ports, beats } = worlds;
    const follow = (reader: "owner" | "operator" | "player" | "viewer", viewer: string) => {
      const query = { viewer, after: null, whole: false, status: reader !== "viewer", ticks: true, reader };
      const events = followWorld(ports, beats.hub, id, query);
      const next = async () => {
        const seen: { event: string; data: unknown }[] = [];
        for (;;) {
          const { value } = await events.next();
          if (value.event === "tick") return seen;
          seen.push(value);
        }
      };
      return { next, end: () => events.return(undefined) };
    };
    const readers = [
      follow("owner", "GEORGE"),
      follow("operator", "GEORGE"),
      follow("player", "BEN"),
      follow("viewer", "ANA"),
    ];
    const told = async () => {
      const all = await Promise.all(readers.map(({ next }) => next()));
      return all.map((events) => [...new Set(events.map(({ event }) => event))].sort());
    };
    await told();
    await beats.invoke(id, envelope("f-1", "Ready?"));
    expect(await told()).toEqual([["call", "entry", "status"], ["entry", "status"], [], ["entry"]]);
    await changeSettings(ports, id, { lore_scan: 5 }, null);
    expect(await told()).toEqual([["settings"], [], [], []]);
    await setPresence(ports, id, ["GEORGE", "BEN"]);
    expect(await told()).toEqual([["presence"], ["presence"], ["presence"], ["presence"]]);
    const wish = { of: null, request_id: "f-v", input_text: null, entries: null, writer: null };
    const { version } = await makeVersion(ports, beats, id, wish, OWNER);
    expect(await told()).toEqual([["version"], ["version"], [], []]);
    await keepVersion(ports, id, version.world_id, null);
    expect(await told()).toEqual([["kept"], ["kept"], ["kept"], ["kept"]]);
    await setPresence(ports, id, ["GEORGE"]);
    await told();
    await say("f-2", "Alone.");
    expect((await told())[2]).toEqual([]);
    for (const { end } of readers) await end();
    await close();
  });
});

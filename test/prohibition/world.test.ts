// What a world must never do. Each test names the rule of the World Contracts that it guards.
import pg from "pg";
import { describe, expect, it } from "vitest";
import { loadSqlite, SqliteDatabase } from "../../src/adapters/sql/sqlite/driver.ts";
import { VerbatimError } from "../../src/core/errors/index.ts";
import { Beats } from "../../src/rooms/world/beat/beats.ts";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { setPresence, startScene } from "../../src/rooms/world/people/people.ts";
import { addCalendarItem, addMessage } from "../../src/rooms/world/people/pocket-writing.ts";
import { readCapsule, readPage } from "../../src/rooms/world/projection/views.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says, type TestWorlds } from "../support/world.ts";

const postgres = await usePostgres();
const whole = { viewer: null, after: null, before: null, limit: 200 };
const SEARCH = '{"tool_request":{"tool":{"name":"LEDGER_SEARCH","query_text":"boat","constraints":{"limit":20}}}}';

interface Prompt {
  readonly scene: string;
  readonly continuity: string;
  readonly people: readonly { readonly lines: string }[];
  readonly recent: readonly { readonly text: string }[];
  readonly evidence: readonly { readonly results?: readonly { readonly verbatim_excerpt: string }[] }[];
}

const readPrompts = (model: ListedModel): Prompt[] => model.prompts.map(({ user }) => JSON.parse(user) as Prompt);

async function snapshot(worlds: TestWorlds, id: string): Promise<string> {
  return worlds.ports.store.read(async (tx) => {
    const row = await tx.world.find(id);
    const entries = await tx.world.scan(row!.number, 0, 1000);
    return JSON.stringify([row!.state, entries, await tx.ledger.head(`world/${id}`)]);
  });
}

describe("a write bundle", () => {
  it("is never written in part: a failure in the middle of the commit leaves nothing", async () => {
    await using worlds = await openWorlds({ models: new ListedModel(says("ANA", "One."), says("ANA", "Two.")) });
    const id = await makeHarbour(worlds, OLLAMA);
    await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
    const before = await snapshot(worlds, id);
    const { store } = worlds.ports;
    let broken = true;
    const failing: typeof store = {
      read: (fn) => store.read(fn),
      close: () => store.close(),
      transact: (fn) =>
        store.transact((tx) => {
          const addEntries = tx.world.addEntries.bind(tx.world);
          tx.world.addEntries = async (...rows) => {
            await addEntries(...rows);
            if (broken) throw new VerbatimError("DISK_FULL");
          };
          return fn(tx);
        }),
    };
    const beats = new Beats({
      ...worlds.ports,
      store: failing,
    });
    await expect(beats.invoke(id, envelope("r1", "Hello."))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await snapshot(worlds, id)).toBe(before);
    broken = false;
    const answer = await beats.invoke(id, envelope("r1", "Hello."));
    expect(answer.replayed).toBe(false);
    expect((await verifyWorld(worlds.ports, id)).findings).toEqual([]);
  });
});

describe("time", () => {
  it("never moves by itself: not by beats, words, reading, refreshing or waiting", async () => {
    await using worlds = await openWorlds({ models: new ListedModel() });
    const id = await makeHarbour(worlds, OLLAMA);
    await worlds.beats.invoke(id, envelope("r1", "Hours passed. The next day came."));
    await worlds.beats.invoke(id, envelope("r2", "", { mode: { kind: "NO_OP" } }));
    await readPage(worlds.ports, id, whole);
    const row = await worlds.ports.store.read(async (tx) => tx.world.find(id));
    expect(JSON.parse(row!.state)).toMatchObject({ clock_ms: Date.UTC(2026, 0, 1, 7, 30), paused: false });
  });

  it("never runs backwards in the database either", async () => {
    await using worlds = await openWorlds({ models: new ListedModel() });
    const id = await makeHarbour(worlds, OLLAMA);
    await worlds.beats.invoke(id, envelope("r1", "Now."));
    const [entry] = await worlds.ports.store.read((tx) => tx.world.scan(1, 0, 1));
    const earlier = { ...entry!, wseq: 2, entry_id: "e_x", created_ms: entry!.created_ms - 1 };
    await expect(
      worlds.ports.store.transact(async (tx) => tx.world.addEntries(1, [earlier], [], null)),
    ).rejects.toMatchObject({
      code: "STORE_REFUSED",
    });
  });
});

describe("rehydration", () => {
  it("never happens in the middle of a beat, and only because the window is nearly full", async () => {
    const long = "The boat rocks. ".repeat(40);
    const model = new ListedModel();
    await using worlds = await openWorlds({ models: model });
    const context = { window_tokens: 14_000, output_reserve: 1024, threshold_percent: 60, pack_percent: 30 };
    const id = await makeHarbour(worlds, { ...OLLAMA, context, tools: { beat_bytes: 24_576 } });
    await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
    for (let i = 0; i < 20; i++) {
      model.answers.push(SEARCH, SEARCH, '{"no_write":{}}');
      const before = model.prompts.length;
      await worlds.beats.invoke(id, envelope(`r${i}`, `${i} ${long}`));
      const shown = readPrompts(model).slice(before);
      expect(new Set(shown.map(({ scene, continuity }) => JSON.stringify([scene, continuity]))).size).toBe(1);
    }
    const records = await worlds.ports.store.read((tx) => tx.ledger.readStream(`world/${id}`, 0, 100));
    const packs = records
      .filter(({ kind }) => kind === "WORLD_BEAT")
      .map(({ body }) => (JSON.parse(body) as { rehydration: unknown[] }).rehydration.length);
    expect(packs.slice(0, 3)).toEqual([0, 0, 0]);
    expect(packs.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(0);
    expect((await verifyWorld(worlds.ports, id)).findings).toEqual([]);
  });
});

describe("a writer's frame", () => {
  it("never holds a fact that is not in the ledger", async () => {
    const model = new ListedModel(says("ANA", "My boat is blue."), SEARCH, says("ANA", "It leaks."), SEARCH);
    await using worlds = await openWorlds({ models: model });
    const id = await makeHarbour(worlds, OLLAMA);
    await startScene(worlds.ports, id, { text: "The pier.", present: ["GEORGE", "ANA"] });
    for (let i = 0; i < 4; i++) await worlds.beats.invoke(id, envelope(`r${i}`, `Line ${i} about the boat.`));
    const written = (await readPage(worlds.ports, id, whole)).entries;
    const texts = new Set(written.map(({ text }) => text));
    const names = (line: string) => line.replace(/^(?:George|Ana): /, "");
    let quoted = 0;
    for (const { scene, continuity, people, recent, evidence } of readPrompts(model)) {
      const lines = [
        ...[scene, continuity].flatMap((text) => (text === "" ? [] : text.split("\n").map(names))),
        ...people.flatMap(({ lines: own }) => (own === "" ? [] : own.split("\n"))),
        ...recent.map(({ text }) => text),
        ...evidence.flatMap(({ results }) => (results ?? []).map((one) => one.verbatim_excerpt)),
      ];
      for (const line of lines) expect(texts).toContain(line);
      quoted += lines.length;
    }
    expect(quoted).toBeGreaterThan(10);
  });

  it("never makes up continuity: no lines give no words", async () => {
    const model = new ListedModel();
    await using worlds = await openWorlds({ models: model });
    const id = await makeHarbour(worlds, OLLAMA);
    await setPresence(worlds.ports, id, ["ANA", "BEN"]);
    await worlds.beats.invoke(id, envelope("r1", ""));
    const [prompt] = readPrompts(model);
    expect(prompt).toMatchObject({ scene: "", continuity: "", recent: [], people: [{ lines: "" }, { lines: "" }] });
    expect((await readCapsule(worlds.ports, id, "BEN", "BEN")).sections).toEqual([
      { name: "SOURCE_EXCERPTS", text: "", provenance: { used_entry_ids: [] } },
    ]);
  });

  it("never bends to a view that was asked for", async () => {
    const ask = (view: string) =>
      JSON.stringify({
        tool_request: {
          requested_by: { engine: "ENGINE_9_LLM_WRITER", actor: "WORLD", knowledge_view: view },
          tool: { name: "LEDGER_SEARCH", query_text: "heron" },
        },
      });
    const model = new ListedModel('{"no_write":{}}', ask("BEN"), ask("OMNISCIENT"), SEARCH.replace("boat", "heron"));
    await using worlds = await openWorlds({ models: model });
    const id = await makeHarbour(worlds, OLLAMA);
    await setPresence(worlds.ports, id, ["GEORGE", "BEN"]);
    await worlds.beats.invoke(id, envelope("r1", "The word is heron."));
    await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
    await worlds.beats.invoke(id, envelope("r2", "What was the word?"));
    expect(JSON.stringify(model.prompts.slice(1))).not.toContain("word is heron");
    expect(JSON.stringify(readPrompts(model).slice(1))).toContain("KNOWLEDGE_VIEW_DENIED");
  });
});

describe("silence", () => {
  it("is never filled: nothing is written when nobody says anything", async () => {
    await using worlds = await openWorlds({ models: new ListedModel('{"no_write":{}}') });
    const id = await makeHarbour(worlds, OLLAMA);
    await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
    const { body, headers } = await worlds.beats.invoke(id, envelope("r1", ""));
    expect(headers).toEqual({ "Verbatim-Beat-Result": "SILENCE" });
    expect(JSON.parse(body)).toMatchObject({ stream: { entries: [] }, debug: { wrote: false, bundle_id: null } });
    expect((await readPage(worlds.ports, id, whole)).entries).toEqual([]);
  });
});

const EDITS = [
  "update world_entry set text = 'changed'",
  "delete from world_entry",
  "update world_entry_visible set person = 0",
  "delete from world_entry_visible",
  "delete from world_person",
  "update world_person set person_id = 'X'",
  "delete from world_calendar",
  "update world_message set body = '{}'",
  "delete from world_invocation",
  "update world_invocation set outcome = 'x' where status = 'DONE'",
] as const;

async function liveWorld(worlds: TestWorlds): Promise<string> {
  const id = await makeHarbour(worlds, OLLAMA);
  await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
  await addCalendarItem(worlds.ports, id, { title: "x", time: null, location: null, notes: null, visible_to: null });
  await addMessage(worlds.ports, id, { from: "ANA", text: "x", visible_to: ["GEORGE"] });
  await worlds.beats.invoke(id, envelope("r1", "Hello."));
  return id;
}

const numberOf = (person: string) => `(select number from world_person where person_id = '${person}')`;

describe("history", () => {
  it("cannot be edited in SQLite, and what a dropped trigger let through is found", async () => {
    await using worlds = await openWorlds({ models: new ListedModel(says("ANA", "Hello George.")) });
    const id = await liveWorld(worlds);
    const database = new SqliteDatabase(await loadSqlite(), worlds.path, 1000);
    database.exec("pragma recursive_triggers = on");
    for (const sql of EDITS)
      expect(() => database.exec(sql), sql).toThrow(expect.objectContaining({ code: "STORE_REFUSED" }));
    const replace =
      "insert or replace into world_entry select world, wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, 'new' from world_entry where wseq = 1";
    expect(() => database.exec(replace)).toThrow(expect.objectContaining({ code: "STORE_REFUSED" }));
    database.exec("drop trigger world_entry_no_update");
    database.exec("update world_entry set text = 'changed' where wseq = 2");
    database.exec("drop trigger world_invocation_done");
    database.exec("update world_invocation set outcome = '{}' where request_id = 'r1'");
    database.close();
    const { ok, findings } = await verifyWorld(worlds.ports, id);
    expect(ok).toBe(false);
    expect(findings.map(({ code, where }) => `${code} ${where}`)).toEqual([
      "WORLD_ENTRY_MISMATCH wseq 2",
      "WORLD_OUTCOME_MISMATCH position 4",
      "WORLD_GUARD_MISSING world_entry_no_update",
      "WORLD_GUARD_MISSING world_invocation_done",
    ]);
  });

  it.each([
    [
      "was let in by hand",
      `insert into world_entry_visible select world, ${numberOf("BEN")}, 1 from world_entry limit 1`,
    ],
    ["lost sight of it", `delete from world_entry_visible where person = ${numberOf("ANA")} and wseq = 1`],
    [
      "was put in another's place",
      `update world_entry_visible set person = ${numberOf("BEN")} where person = ${numberOf("ANA")} and wseq = 1`,
    ],
  ])("names the line when somebody %s", async (_, sql) => {
    await using worlds = await openWorlds({ models: new ListedModel(says("ANA", "Hello George.")) });
    const id = await liveWorld(worlds);
    expect((await verifyWorld(worlds.ports, id)).findings).toEqual([]);
    const database = new SqliteDatabase(await loadSqlite(), worlds.path, 1000);
    const guards = ["no_update", "no_delete"].map((name) => `world_entry_visible_${name}`);
    for (const guard of guards) database.exec(`drop trigger ${guard}`);
    database.exec(sql);
    database.close();
    const { ok, findings } = await verifyWorld(worlds.ports, id);
    expect(ok).toBe(false);
    const found = findings.filter(({ code }) => code !== "WORLD_GUARD_MISSING");
    expect(found.map(({ code, where }) => `${code} ${where}`)).toEqual(["WORLD_VISIBILITY_MISMATCH wseq 1"]);
  });

  it("is not written over: a beat whose place somebody took by hand is refused whole", async () => {
    await using worlds = await openWorlds({ models: new ListedModel(says("ANA", "Hello George.")) });
    const id = await liveWorld(worlds);
    const database = new SqliteDatabase(await loadSqlite(), worlds.path, 1000);
    const rest =
      "bundle_id, position + 9, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience";
    database.exec(
      `insert into world_entry select world, wseq + 1, 'e_slipped_in', ${rest}, 'slipped in' from world_entry where wseq = 2`,
    );
    database.close();
    await expect(worlds.beats.invoke(id, envelope("r2", "Who was that?"))).rejects.toMatchObject({
      code: "APPEND_ONLY",
      exit: 3,
    });
    const { findings } = await verifyWorld(worlds.ports, id);
    expect(findings.map(({ code, where }) => `${code} ${where}`)).toEqual(["WORLD_ENTRY_EXTRA wseq 3"]);
  });

  it("that was edited so that time runs backwards is never shown: an answer that breaks its contract is refused", async () => {
    await using worlds = await openWorlds({ models: new ListedModel(says("ANA", "Hello George.")) });
    const id = await liveWorld(worlds);
    const database = new SqliteDatabase(await loadSqlite(), worlds.path, 1000);
    database.exec("drop trigger world_entry_no_update");
    database.exec("update world_entry set created_at = '2025-12-31T08:00:00+00:00' where wseq = 2");
    database.close();
    const show = worlds.beats.invoke(id, envelope("look", "", { mode: { kind: "NO_OP" } }));
    await expect(show).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining("STREAM_ORDER"),
    });
    const stored = await worlds.ports.store.read((tx) => tx.world.invocation(1, "look"));
    expect(stored).toMatchObject({ status: "RELEASED", outcome: null });
  });

  it(
    "cannot be edited or truncated in PostgreSQL, even by the owner of the tables",
    needs(postgres.reason),
    async () => {
      const made = await postgres.createDatabase();
      await using worlds = await openWorlds({ url: made.url, models: new ListedModel(says("ANA", "Hello George.")) });
      await liveWorld(worlds);
      const client = new pg.Client({ connectionString: made.url });
      await client.connect();
      await client.query("set search_path to verbatim");
      const truncates = ["world_entry", "world_entry_visible", "world_person", "world_message", "world_invocation"].map(
        (one) => `truncate ${one} cascade`,
      );
      for (const sql of [...EDITS, ...truncates])
        await expect(client.query(sql), sql).rejects.toMatchObject({ code: "23001" });
      await client.end();
    },
  );
});

// Whatever a commit writes, verification makes again from the records and compares: one wrong row of any kind is found.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSqlite, SqliteDatabase } from "../../src/adapters/sql/sqlite/driver.ts";
import { forkWorld } from "../../src/rooms/world/history/fork.ts";
import { rebuildIndex, verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { addCalendarItem, addMessage } from "../../src/rooms/world/people/pocket-writing.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says, type TestWorlds } from "../support/world.ts";

const MANY_WORDS = Array.from({ length: 300 }, (_, i) => `word${i}`).join(" ");
let worlds: TestWorlds;
let database: SqliteDatabase;
let id: string;

beforeAll(async () => {
  worlds = await openWorlds({ models: new ListedModel(says("ANA", "Hello George."), says("ANA", "A boat.")) });
  id = await makeHarbour(worlds, OLLAMA);
  await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
  await addCalendarItem(worlds.ports, id, { title: "x", time: null, location: null, notes: null, visible_to: null });
  await addMessage(worlds.ports, id, { from: "ANA", text: "x", visible_to: ["GEORGE"] });
  // So many words go into posting lists at once; the keys of the next lines wait.
  await worlds.beats.invoke(id, envelope("r1", MANY_WORDS));
  await worlds.beats.invoke(id, envelope("r2", "What is that?"));
  database = new SqliteDatabase(await loadSqlite(), worlds.path, 1000);
  const triggers = database.prepare("select name from sqlite_schema where type = 'trigger' and tbl_name like 'world%'");
  database.exec("pragma foreign_keys = off");
  for (const { name } of triggers.all([]) as { name: string }[]) database.exec(`drop trigger ${name}`);
});
afterAll(async () => {
  database.close();
  await worlds[Symbol.asyncDispose]();
});

/** What verification finds, but for the guards that were taken away to plant anything at all. */
async function find(worldId = id): Promise<string[]> {
  const { findings } = await verifyWorld(worlds.ports, worldId);
  return findings.filter(({ code }) => code !== "WORLD_GUARD_MISSING").map(({ code, where }) => `${code} ${where}`);
}

/** Runs a statement on a table, hands over what verification found, and puts the table back. */
async function plant(table: string, sql: string, worldId = id): Promise<string[]> {
  database.exec(`create temp table kept as select * from ${table}`);
  try {
    expect(database.prepare(sql).run([]), "the statement plants something").toBeGreaterThan(0);
    return await find(worldId);
  } finally {
    database.exec(`delete from ${table}; insert into ${table} select * from kept; drop table kept`);
  }
}

describe("a world whose tables say something else than its records", () => {
  it("has nothing to find before anything is planted, with lines in posting lists and lines that wait", async () => {
    expect(await find()).toEqual([]);
    const rows = (table: string) => (database.prepare(`select count(*) as n from ${table}`).get([]) as { n: number }).n;
    expect(rows("world_terms")).toBeGreaterThan(300);
    expect(rows("world_recent_terms")).toBeGreaterThan(0);
  });

  it.each([
    ["world", "update world set state = replace(state, 'Harbour', 'Another')", "WORLD_ROW_MISMATCH state"],
    ["world_person", "update world_person set display_name = 'Eve' where number = 3", "WORLD_ROW_MISMATCH person 1"],
    ["world_calendar", "update world_calendar set state = 'DUE'", "WORLD_ROW_MISMATCH calendar item 1"],
    ["world_calendar", "update world_calendar set body = '{}'", "WORLD_ROW_MISMATCH calendar item 1"],
    ["world_calendar", "delete from world_calendar", "WORLD_ROW_MISMATCH calendar item 1"],
    ["world_message", "update world_message set body = '{}'", "WORLD_ROW_MISMATCH message 1"],
    ["world_message", "update world_message set time_ms = time_ms + 1", "WORLD_ROW_MISMATCH message 1"],
    [
      "world_message",
      "insert into world_message select world, number + 1, time_ms, body from world_message",
      "WORLD_ROW_MISMATCH message 2",
    ],
    ["world_entry", "delete from world_entry where wseq = 4", "WORLD_ENTRY_MISSING wseq 4"],
    ...["entry_id", "bundle_id", "request_id", "created_at", "author_id", "author_class", "channel", "scope"].map(
      (column) => [
        "world_entry",
        `update world_entry set ${column} = 'x' where wseq = 2`,
        "WORLD_ENTRY_MISMATCH wseq 2",
      ],
    ),
    ["world_entry", "update world_entry set audience = '[]' where wseq = 2", "WORLD_ENTRY_MISMATCH wseq 2"],
    ["world_entry", "update world_entry set position = position + 1 where wseq = 2", "WORLD_ENTRY_MISMATCH wseq 2"],
    ["world_entry", "update world_entry set text = 'x' where wseq = 2", "WORLD_ENTRY_MISMATCH wseq 2"],
    [
      "world_entry_visible",
      "delete from world_entry_visible where wseq = 2 and person = (select max(person) from world_entry_visible where wseq = 2)",
      "WORLD_VISIBILITY_MISMATCH wseq 2",
    ],
    ["world_entry_visible", "insert into world_entry_visible select 1, 4, 3", "WORLD_VISIBILITY_MISMATCH wseq 3"],
    [
      "world_invocation",
      "update world_invocation set outcome = '{}' where request_id = 'r2'",
      "WORLD_OUTCOME_MISMATCH position 5",
    ],
  ])("%s: %s", async (table, sql, expected) => {
    expect(await plant(table!, sql!)).toEqual([expected]);
  });
});

describe("a fork whose tables say something else than its records", () => {
  beforeAll(async () => {
    const { cursor_after } = await readPage(worlds.ports, id, { viewer: null, after: null, before: null, limit: 1 });
    await forkWorld(worlds.ports, id, { cursor: cursor_after!, viewer: null, world_id: "w_fork", title: "Fork" });
  });

  it("has nothing to find before anything is planted", async () => {
    expect(await find("w_fork")).toEqual([]);
  });

  it.each([
    [
      "a line less is shared",
      "world_lineage",
      "update world_lineage set upto_wseq = upto_wseq - 1",
      ["WORLD_ENTRY_MISSING wseq 4", "WORLD_ROW_MISMATCH lineage", "WORLD_INDEX_STALE w_fork"],
    ],
    [
      "a message less is shared",
      "world_lineage",
      "update world_lineage set upto_message = 0",
      ["WORLD_ROW_MISMATCH message 1", "WORLD_ROW_MISMATCH lineage"],
    ],
    [
      "more is shared than there was",
      "world_lineage",
      "update world_lineage set upto_wseq = upto_wseq + 1",
      ["WORLD_ROW_MISMATCH lineage"],
    ],
    [
      "what it began with is another",
      "world_state_at",
      "update world_state_at set body = replace(body, 'Ana', 'Eve')",
      ["WORLD_ROW_MISMATCH state at 1"],
    ],
    [
      "what it was lies beyond its records",
      "world_state_at",
      "update world_state_at set position = 7",
      ["WORLD_ROW_MISMATCH state at 7"],
    ],
  ])("%s", async (_, table, sql, expected) => {
    expect(await plant(table, sql, "w_fork")).toEqual(expected);
  });

  it("has nothing to find when a line of its parent is as it was", async () => {
    const sql = "update world_entry set text = 'x' where world = 1 and wseq = 2";
    expect(await plant("world_entry", sql, "w_fork")).toEqual(["WORLD_ENTRY_MISMATCH wseq 2"]);
    expect(await find("w_fork")).toEqual([]);
  });
});

describe("an index that finds something else than the lines say", () => {
  it.each([
    ["a term that no line has", "world_terms", "insert into world_terms values (1, 't:ghost', 0, x'01')"],
    ["a term that is gone", "world_terms", "delete from world_terms where key = 't:word7'"],
    ["a term at another line", "world_terms", "update world_terms set lows = x'02' where key = 't:word7'"],
    ["a term in another block", "world_terms", "update world_terms set block = 1 where key = 't:word7'"],
    [
      "who may see a line",
      "world_terms",
      "delete from world_terms where key = (select max(key) from world_terms where key like 'v:%')",
    ],
    [
      "who wrote a line",
      "world_terms",
      "delete from world_terms where key = (select max(key) from world_terms where key like 'a:%')",
    ],
    [
      "a waiting term",
      "world_recent_terms",
      "update world_recent_terms set keys = replace(keys, 't:what ', 't:whom ')",
    ],
    ["a waiting line", "world_recent_terms", "delete from world_recent_terms"],
    ["a waiting line under another number", "world_recent_terms", "update world_recent_terms set wseq = wseq + 1"],
  ])("%s", async (_, table, sql) => {
    expect(await plant(table, sql)).toEqual(["WORLD_INDEX_STALE w_harbour"]);
  });

  it("is right again after it was made anew", async () => {
    database.exec("delete from world_terms where key like 't:%'; delete from world_recent_terms");
    expect(await find()).toEqual(["WORLD_INDEX_STALE w_harbour"]);
    await rebuildIndex(worlds.ports, id);
    expect(await find()).toEqual([]);
  });
});

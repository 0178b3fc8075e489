import { describe, expect, it } from "vitest";
import { setPresence, startScene } from "../../src/rooms/world/people/people.ts";
import { addCalendarItem } from "../../src/rooms/world/people/pocket-writing.ts";
import { readCapsule, readPage, search } from "../../src/rooms/world/projection/views.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, says, type TestWorlds } from "../support/world.ts";

const postgres = await usePostgres();

interface Output {
  readonly stream: {
    readonly cursor_after: string | null;
    readonly entries: readonly {
      readonly text: string;
      readonly author_label: string | null;
      readonly channel: string;
    }[];
  };
  readonly pocket: { readonly clock: { readonly world_time: string } };
  readonly debug: { readonly wrote: boolean; readonly bundle_id: string | null };
}

async function beat(worlds: TestWorlds, id: string, request: string, text: string, more = {}): Promise<Output> {
  const { body } = await worlds.beats.invoke(id, envelope(request, text, more));
  return JSON.parse(body) as Output;
}

const whole = { viewer: null, after: null, before: null, limit: 50 };

describe.each([
  { database: "SQLite", reason: null },
  { database: "PostgreSQL", reason: postgres.reason },
])("the beat on $database", ({ database, reason }) => {
  const open = async (model: ListedModel): Promise<TestWorlds> => {
    if (database === "SQLite") return openWorlds({ models: model });
    const made = await postgres.createDatabase();
    const worlds = await openWorlds({ models: model, url: made.url });
    return {
      ...worlds,
      [Symbol.asyncDispose]: async () => {
        await worlds[Symbol.asyncDispose]();
        await made.drop();
      },
    };
  };

  it("commits the operator's line and the writer's lines in one write bundle", needs(reason), async () => {
    await using worlds = await open(new ListedModel(says("ANA", "Tea?")));
    const id = await makeHarbour(worlds, OLLAMA);
    await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
    const output = await beat(worlds, id, "r1", "I sit down.");
    expect(output.stream.entries.map(({ text, author_label }) => [text, author_label])).toEqual([
      ["I sit down.", null],
      ["Tea?", "Ana"],
    ]);
    expect(output.debug.wrote).toBe(true);
    const page = await readPage(worlds.ports, id, { ...whole, viewer: "BEN" });
    expect(page.entries).toEqual([]);
  });

  it("answers the same request with the same bytes and calls no model again", needs(reason), async () => {
    const model = new ListedModel(says("ANA", "Tea?"));
    await using worlds = await open(model);
    const id = await makeHarbour(worlds, OLLAMA);
    await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
    const first = await worlds.beats.invoke(id, envelope("r1", "Hello."));
    const again = await worlds.beats.invoke(id, envelope("r1", "Hello.", { ui: { stream_cursor: "nonsense" } }));
    expect(again).toEqual({ ...first, replayed: true });
    expect(model.prompts).toHaveLength(1);
    await expect(worlds.beats.invoke(id, envelope("r1", "Other."))).rejects.toMatchObject({
      code: "IDEMPOTENCY_BODY_MISMATCH",
    });
  });

  it("gives all duplicates at once the same bytes and writes once", needs(reason), async () => {
    const model = new ListedModel(says("ANA", "Tea?"));
    await using worlds = await open(model);
    const id = await makeHarbour(worlds, OLLAMA);
    await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
    const workers = [worlds.beats, worlds.another(), worlds.another()];
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, i) => workers[i % 3]!.invoke(id, envelope("r1", "Hello."))),
    );
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(model.prompts).toHaveLength(1);
    const page = await readPage(worlds.ports, id, whole);
    expect(page.entries.map(({ text }) => text)).toEqual(["Hello.", "Tea?"]);
  });

  it("finds and quotes what a viewer may see and nothing else", needs(reason), async () => {
    const model = new ListedModel(says("ANA", "The blue boat is mine.", ["ANA"]), says("ANA", "A blue day."));
    await using worlds = await open(model);
    const id = await makeHarbour(worlds, OLLAMA);
    await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
    await beat(worlds, id, "r1", "Whose boat is it?");
    await beat(worlds, id, "r2", "Hm.");
    const query = { query_text: "blue boat", limit: 5, person_id: null, from: null, to: null };
    const texts = async (viewer: string) =>
      (await search(worlds.ports, id, viewer, query)).results.map((one) => one.verbatim_excerpt);
    expect(await texts("ANA")).toEqual(["The blue boat is mine.", "A blue day.", "Whose boat is it?"]);
    expect(await texts("GEORGE")).toEqual(["A blue day.", "Whose boat is it?"]);
    expect(await texts("BEN")).toEqual([]);
    const capsule = async (viewer: string) => (await readCapsule(worlds.ports, id, "ANA", viewer)).sections[0]!.text;
    expect(await capsule("ANA")).toBe("The blue boat is mine.\nA blue day.");
    expect(await capsule("GEORGE")).toBe("A blue day.");
  });

  it("moves time only when it is told to, and makes items due", needs(reason), async () => {
    const model = new ListedModel();
    await using worlds = await open(model);
    const id = await makeHarbour(worlds, OLLAMA);
    const item = { title: "Ferry", time: "2026-01-01T09:00", location: "Pier 2", notes: null, visible_to: null };
    await addCalendarItem(worlds.ports, id, item);
    const first = await beat(worlds, id, "r1", "Later that day, I wait.");
    expect(first.pocket.clock.world_time).toBe("2026-01-01T07:30:00+00:00");
    const declared = { declared_overrides: { time: { declared_world_time: "2026-01-01T09:30:00+00:00" } } };
    const second = await beat(worlds, id, "r2", "", declared);
    expect(second.pocket.clock.world_time).toBe("2026-01-01T09:30:00+00:00");
    expect(model.prompts[0]!.user).not.toContain("Ferry");
    expect(model.prompts[1]!.user).toContain("Ferry");
    // The item is the operator's: with somebody else in the room it is not common knowledge.
    await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
    await beat(worlds, id, "r2b", "");
    expect(model.prompts[2]!.user).not.toContain("Ferry");
    await expect(
      worlds.beats.invoke(
        id,
        envelope("r3", "", { declared_overrides: { time: { declared_world_time: "2026-01-01T08:00Z" } } }),
      ),
    ).rejects.toMatchObject({ code: "TIME_NOT_MONOTONIC" });
  });

  it("pages through the stream with cursors that hold for one viewer only", needs(reason), async () => {
    await using worlds = await open(new ListedModel());
    const id = await makeHarbour(worlds, OLLAMA);
    for (let i = 1; i <= 7; i++) await beat(worlds, id, `r${i}`, `Line ${i}.`);
    await startScene(worlds.ports, id, { text: "Night falls.", present: ["ANA"] });
    const last = await readPage(worlds.ports, id, { ...whole, limit: 3 });
    expect(last.entries.map(({ text }) => text)).toEqual(["Line 5.", "Line 6.", "Line 7."]);
    expect(last.has_more_before).toBe(true);
    const earlier = await readPage(worlds.ports, id, { ...whole, limit: 3, before: last.cursor_before });
    expect(earlier.entries.map(({ text }) => text)).toEqual(["Line 2.", "Line 3.", "Line 4."]);
    const later = await readPage(worlds.ports, id, { ...whole, limit: 2, after: earlier.cursor_before });
    expect(later.entries.map(({ text }) => text)).toEqual(["Line 3.", "Line 4."]);
    await expect(
      readPage(worlds.ports, id, { ...whole, viewer: "ANA", after: last.cursor_after }),
    ).rejects.toMatchObject({
      code: "CURSOR_INVALID",
    });
  });
});

describe("the cast of a beat", () => {
  it("gives each person a pass with what that person knows, and the narration one with what all know", async () => {
    const model = new ListedModel(says("ANA", "I know a heron.", ["ANA"]));
    await using worlds = await openWorlds({ models: model });
    const id = await makeHarbour(worlds, { ...OLLAMA, cast: "each" });
    await setPresence(worlds.ports, id, ["GEORGE", "ANA", "BEN"]);
    await beat(worlds, id, "r1", "Well?");
    model.prompts.length = 0;
    model.answers.push(says("ANA", "A heron."), says("ANA", "Ben says nothing."), '{"no_write":{}}');
    const { headers } = await worlds.beats.invoke(id, envelope("r2", "And?"));
    expect(headers["Verbatim-Beat-Result"]).toBe("WROTE");
    const sent = model.prompts.map(({ user }) => ({
      as: /"as":"(\w+)"/.exec(user)?.[1],
      knows: user.includes("know a heron"),
    }));
    expect(sent).toEqual([
      { as: "ANA", knows: true },
      { as: "BEN", knows: false },
      { as: "WORLD", knows: false },
    ]);
    // Ben's pass proposed a line of Ana's: only that pass lost its proposal.
    const page = await readPage(worlds.ports, id, { ...whole, viewer: "BEN" });
    expect(page.entries.map(({ text }) => text)).toEqual(["Well?", "And?", "A heron."]);
  });
});

describe("a refusal between claim and writer", () => {
  it("leaves a receipt without any text, and the same request can be sent again", async () => {
    const model = new ListedModel();
    await using worlds = await openWorlds({ models: model });
    const context = { window_tokens: 10_800, output_reserve: 1024, threshold_percent: 95, pack_percent: 5 };
    const id = await makeHarbour(worlds, { ...OLLAMA, context, tools: { beat_bytes: 24_576 } });
    const long = "The tide is out. ".repeat(300);
    await expect(worlds.beats.invoke(id, envelope("r1", long))).rejects.toMatchObject({
      code: "INPUT_EXCEEDS_CONTEXT",
    });
    expect(model.prompts).toEqual([]);
    const records = await worlds.ports.store.read((tx) => tx.ledger.readStream(`world/${id}`, 0, 10));
    expect(records.map(({ kind }) => kind)).toEqual(["WORLD_CREATED", "WORLD_REFUSED"]);
    expect(JSON.parse(records[1]!.body)).toMatchObject({
      request_id: "r1",
      code: "INPUT_EXCEEDS_CONTEXT",
      where: "/operator/input_text",
    });
    expect(records[1]!.body).not.toContain("tide");
    await expect(worlds.beats.invoke(id, envelope("r1", "Short."))).rejects.toMatchObject({
      code: "IDEMPOTENCY_BODY_MISMATCH",
    });
    expect((await beat(worlds, id, "r2", "Short.")).stream.entries).toHaveLength(1);
  });

  it("shows a refresh without writing anything to the ledger", async () => {
    await using worlds = await openWorlds({ models: new ListedModel() });
    const id = await makeHarbour(worlds, OLLAMA);
    await beat(worlds, id, "r1", "One.");
    const before = await worlds.ports.store.read((tx) => tx.ledger.head(`world/${id}`));
    const output = await beat(worlds, id, "r2", "", { mode: { kind: "NO_OP" } });
    expect(output.stream.entries.map(({ text }) => text)).toEqual(["One."]);
    expect(await worlds.ports.store.read((tx) => tx.ledger.head(`world/${id}`))).toEqual(before);
  });
});

describe("two beats at once", () => {
  it("take turns, and the second is shown what the first wrote", async () => {
    const model = new ListedModel(says("ANA", "First answer."), says("ANA", "Second answer."));
    await using worlds = await openWorlds({ models: model });
    const id = await makeHarbour(worlds, OLLAMA);
    await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
    model.before = () => worlds.ports.pace.sleep(30);
    await Promise.all([
      beat(worlds, id, "r1", "First line."),
      worlds.another().invoke(id, envelope("r2", "Second line.")),
    ]);
    expect(model.prompts[0]!.user).not.toContain("answer.");
    expect(model.prompts[1]!.user).toMatch(/(?:First|Second) line\..*First answer\./);
    const page = await readPage(worlds.ports, id, whole);
    expect(page.entries).toHaveLength(4);
  });
});

// Writers that people really have: what each is sent, what it may answer with, and true words for every way it fails.
import { describe, expect, it } from "vitest";
import { makeModels } from "../../src/adapters/models/world-models.ts";
import { parseCall } from "../../src/rooms/world/beat/calls.ts";
import { changeSettings } from "../../src/rooms/world/history/worlds.ts";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { loadWorld } from "../../src/rooms/world/projection/reading.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { toAnswerSchemas } from "../../src/rooms/world/writer/answer-schema.ts";
import { writerOf } from "../../src/rooms/world/writer/writer-settings.ts";
import { testWriter } from "../../src/rooms/world/writer/writer-test.ts";
import { type ModelReply, startModelServer } from "../support/model-server.ts";
import { envelope, makeHarbour, openWorlds, says, type TestWorlds } from "../support/world.ts";

const GOOD = says("ANA", "Tea?");
const OPENAI = "openai-compatible";

async function openHarbour(worlds: TestWorlds, writer: object, more: object = {}): Promise<string> {
  const id = await makeHarbour(worlds, { writer: { kind: OPENAI, model: "mira-7b", ...writer }, ...more });
  await setPresence(worlds.ports, id, ["GEORGE", "ANA"]);
  return id;
}

async function callsOf({ ports }: TestWorlds, requestId = "r1") {
  return (await ports.store.read((tx) => tx.world.calls(1, requestId, 100))).reverse().map(parseCall);
}

async function linesOf({ ports }: TestWorlds, id: string) {
  const page = await readPage(ports, id, { viewer: null, after: null, before: null, limit: 50 });
  return page.entries.map(({ author_label, text }) => `${author_label ?? "-"} ${text}`);
}

const open = (json: object): ModelReply => ({ body: JSON.stringify(json) });
const choice = (message: object, finish_reason = "stop"): ModelReply => open({ choices: [{ message, finish_reason }] });

describe("a writer that fails", () => {
  const CASES: readonly (readonly [string, object, readonly ModelReply[], string, string, string])[] = [
    [
      "has no key here",
      { api_key_env: "NOT_SET" },
      [],
      "WRITER_UNAVAILABLE",
      "WRITER_KEY_MISSING",
      "the variable NOT_SET is not set",
    ],
    [
      "is refused its key",
      {},
      [{ status: 401 }],
      "WRITER_UNAVAILABLE",
      "WRITER_KEY_REFUSED",
      "the provider does not accept the key",
    ],
    [
      "has no such model",
      {},
      [{ status: 404 }],
      "WRITER_UNAVAILABLE",
      "WRITER_MODEL_UNKNOWN",
      "the provider has no model mira-7b",
    ],
    [
      "is refused whatever it is held to",
      {},
      Array(4).fill({ status: 400 }),
      "WRITER_UNAVAILABLE",
      "WRITER_REQUEST_REFUSED",
      "the provider refused with 400",
    ],
    [
      "is busy twice",
      {},
      [{ status: 429 }, { status: 503 }],
      "WRITER_UNAVAILABLE",
      "WRITER_BUSY",
      "the provider is busy (503)",
    ],
    [
      "is nowhere",
      { base_url: "http://127.0.0.1:9" },
      [],
      "WRITER_UNAVAILABLE",
      "WRITER_UNREACHABLE",
      "nobody answers at 127.0.0.1:9",
    ],
    [
      "says nothing in time",
      { timeout_ms: 300 },
      [{ hang: true }],
      "WRITER_UNAVAILABLE",
      "WRITER_TIMEOUT",
      "no answer within 0.3 s",
    ],
    [
      "is a page",
      {},
      [{ body: "<html>", type: "text/html" }],
      "WRITER_UNAVAILABLE",
      "WRITER_ANSWER_MALFORMED",
      "answers, but not as a model",
    ],
    [
      "answers in pictures",
      {},
      [choice({ content: [{ type: "image_url" }] })],
      "WRITER_UNAVAILABLE",
      "WRITER_ANSWER_MALFORMED",
      "answers, but not as a model",
    ],
    [
      "declines",
      {},
      [choice({ content: null, refusal: "No." })],
      "WRITER_REFUSED",
      "WRITER_REFUSED",
      "the model declined to write",
    ],
    [
      "is filtered",
      {},
      [choice({ content: "" }, "content_filter")],
      "WRITER_REFUSED",
      "WRITER_REFUSED",
      "the model declined to write",
    ],
    [
      "is cut twice",
      {},
      [choice({ content: "{" }, "length"), choice({ content: "{" }, "length")],
      "WRITER_OUTPUT_INVALID",
      "WRITER_ANSWER_CUT",
      "PARSE_FAILED:WRITER_ANSWER_CUT",
    ],
  ];

  it.each(CASES)("because it %s says so, and the line is kept", async (_name, writer, replies, result, code, words) => {
    await using server = await startModelServer(...replies);
    await using worlds = await openWorlds({ models: makeModels({}) });
    const id = await openHarbour(worlds, { base_url: server.url, timeout_ms: 60_000, ...writer });
    const { headers } = await worlds.beats.invoke(id, envelope("r1", "I sit down."));
    expect([headers["Verbatim-Beat-Result"], headers["Verbatim-Beat-Code"]]).toEqual([result, code]);
    expect((await callsOf(worlds)).at(-1)!.verdict).toContain(words);
    expect(await linesOf(worlds, id)).toEqual(["- I sit down."]);
    expect(server.replies).toEqual([]);
  });

  it("and has nothing to keep is 503 with its code, and never with its key", async () => {
    await using server = await startModelServer({ status: 401, says: "made-up-key is wrong" });
    await using worlds = await openWorlds({ models: makeModels({ MODELS_KEY: "made-up-key" }) });
    const id = await openHarbour(worlds, { base_url: server.url, api_key_env: "MODELS_KEY" });
    const beat = worlds.beats.invoke(id, envelope("r1", ""));
    await expect(beat).rejects.toMatchObject({ code: "WRITER_UNAVAILABLE", details: { code: "WRITER_KEY_REFUSED" } });
    const [call] = await callsOf(worlds);
    expect(call).toMatchObject({ excerpt: "*** is wrong" });
    expect(JSON.stringify(call)).not.toContain("made-up-key");
  });
});

describe("what a provider is sent", () => {
  it("goes down the ladder once, and what held is remembered", async () => {
    await using server = await startModelServer({ status: 400, says: "strict?" }, { status: 422 }, GOOD, GOOD);
    await using worlds = await openWorlds({ models: makeModels({}) });
    const id = await openHarbour(worlds, { base_url: server.url });
    await worlds.beats.invoke(id, envelope("r1", "Hello."));
    await worlds.beats.invoke(id, envelope("r2", "Again."));
    const formats = server.requests.map(
      ({ body }) => body["response_format"] as { type: string; json_schema?: { strict?: boolean } },
    );
    expect(formats.map((one) => [one.type, one.json_schema?.strict ?? false])).toEqual([
      ["json_schema", true],
      ["json_schema", false],
      ["json_object", false],
      ["json_object", false],
    ]);
    expect((await callsOf(worlds, "r2"))[0]).toMatchObject({ held: "json_object" });
  });

  it("has the limit of its answer under the name the provider knows", async () => {
    await using server = await startModelServer(
      { status: 400, says: "use max_completion_tokens, not max_tokens" },
      GOOD,
    );
    await using worlds = await openWorlds({ models: makeModels({}) });
    const id = await openHarbour(worlds, { base_url: server.url });
    await worlds.beats.invoke(id, envelope("r1", "Hello."));
    expect(server.requests.map(({ body }) => [body["max_tokens"], body["max_completion_tokens"]])).toEqual([
      [2048, undefined],
      [undefined, 2048],
    ]);
  });

  it("says what the owner set, by the dialect, and names the rest", async () => {
    await using server = await startModelServer(GOOD, GOOD, GOOD);
    await using worlds = await openWorlds({ models: makeModels({}) });
    const presets = { calm: { temperature: 0.4, top_k: 20, repeat_penalty: 1.1 } };
    const id = await openHarbour(worlds, { base_url: server.url, sampling: "calm" }, { presets });
    await worlds.beats.invoke(id, envelope("r1", "Hello."));
    expect((await callsOf(worlds))[0]).toMatchObject({ held: "strict", not_sent: ["repeat_penalty", "top_k"] });
    await changeSettings(worlds.ports, id, { writer: { dialect: "vllm" } }, null);
    await worlds.beats.invoke(id, envelope("r2", "Hello."));
    await changeSettings(worlds.ports, id, { writer: { kind: "ollama", model: "mira", base_url: server.url } }, null);
    await worlds.beats.invoke(id, envelope("r3", "Hello."));
    const [first, second, third] = server.requests.map(({ body }) => body);
    expect(first).toMatchObject({ temperature: 0.4, max_tokens: 2048 });
    expect(first).not.toHaveProperty("top_k");
    expect(second).toMatchObject({
      top_k: 20,
      repetition_penalty: 1.1,
      chat_template_kwargs: { enable_thinking: false },
    });
    expect(third).toMatchObject({ think: false, options: { num_ctx: 32_768, num_predict: 2048 } });
  });

  it("allows each pass its own authors and audience, in a form with nothing optional where that is asked for", () => {
    const cast = {
      operator_id: "GEORGE",
      operator_name: "George",
      people: new Map([["ANA", "Ana"]]),
      present: ["ANA", "GEORGE"],
      visibility_default: "presence",
      writer_lint: "off",
    } as const;
    const { strict, plain } = toAnswerSchemas(cast, { actor: "ANA", pass: "PERSON" });
    expect(JSON.stringify(plain)).toContain('"author_id":{"type":"string","enum":["ANA"]}');
    for (const schema of [strict, plain])
      expect(JSON.stringify(schema)).not.toContain('"author_id":{"type":"string","enum":["WORLD"]}');
    expect(JSON.stringify(plain)).toContain('"enum":["ANA","GEORGE","WORLD"]');
    const open: string[] = [];
    const walk = (at: unknown, path: string): void => {
      if (typeof at !== "object" || at === null) return;
      const { properties, required } = at as { readonly properties?: object; readonly required?: readonly string[] };
      if (properties !== undefined && Object.keys(properties).join() !== (required ?? []).join()) open.push(path);
      for (const [key, value] of Object.entries(at)) walk(value, `${path}/${key}`);
    };
    walk(strict, "");
    expect([open, (strict as { type?: string }).type]).toEqual([[], "object"]);
  });
});

describe("a model that does not answer with bare JSON", () => {
  const THINKS = `<think>{"no_write":{}} </think>\n${GOOD}`;
  const FENCES = `\n\`\`\`json\n${GOOD}\n\`\`\`\n`;
  const PROSE = "A gull cries over the pier.";

  it.each([
    ["thinks aloud", "think-json", THINKS, "Ana Tea?"],
    ["fences", "fenced-json", FENCES, "Ana Tea?"],
    ["writes prose", "prose", PROSE, "- A gull cries over the pier."],
  ])("but %s gets its beat with its grammar, and none without", async (_name, reply, answer, line) => {
    await using server = await startModelServer(answer, answer, answer);
    await using worlds = await openWorlds({ models: makeModels({}) });
    const id = await openHarbour(worlds, { base_url: server.url });
    const bare = await worlds.beats.invoke(id, envelope("r1", "Hello."));
    expect(bare.headers).toMatchObject({
      "Verbatim-Beat-Result": "WRITER_OUTPUT_INVALID",
      "Verbatim-Beat-Code": "JSON_SYNTAX",
    });
    await changeSettings(worlds.ports, id, { writer: { reply } }, null);
    const done = await worlds.beats.invoke(id, envelope("r2", "And now?"));
    expect(done.headers["Verbatim-Beat-Result"]).toBe("WROTE");
    expect(await linesOf(worlds, id)).toEqual(["- Hello.", "- And now?", line]);
    const { body } = server.requests.at(-1)!;
    expect(body).not.toHaveProperty("response_format");
    const { messages } = body as { messages: readonly { content: string }[] };
    expect(JSON.parse(messages[1]!.content).tools.available).toBe(reply !== "prose");
  });

  it("has what it thought counted, never read and never kept", async () => {
    const secret = "the key is under the boat";
    await using server = await startModelServer(choice({ content: GOOD, reasoning_content: secret }));
    await using worlds = await openWorlds({ models: makeModels({}) });
    const id = await openHarbour(worlds, { base_url: server.url });
    await worlds.beats.invoke(id, envelope("r1", "Hello."));
    const [call] = await callsOf(worlds);
    expect(call).toMatchObject({ verdict: "ACCEPTED", thinking: secret.length });
    expect(JSON.stringify(call)).not.toContain(secret);
  });
});

describe("one model for each person", () => {
  it("writes that person's pass and sees that person's view", async () => {
    await using server = await startModelServer();
    await using worlds = await openWorlds({ models: makeModels({}) });
    const writers = { ana: { kind: OPENAI, model: "ana-model", base_url: server.url } };
    const id = await openHarbour(worlds, { base_url: server.url }, { cast: "each", writers, casting: { ANA: "ana" } });
    await worlds.beats.invoke(id, envelope("r1", "Hello."));
    const asked = server.requests.map(({ body }) => {
      const { messages } = body as { messages: readonly { content: string }[] };
      return [body["model"], JSON.parse(messages[1]!.content).you_write.as];
    });
    expect(asked).toEqual([
      ["ana-model", "ANA"],
      ["mira-7b", "WORLD"],
    ]);
    const room = changeSettings(worlds.ports, id, { cast: "room" }, null);
    await expect(room).rejects.toMatchObject({ code: "FIELD_VALUE", where: "/casting" });
    const nobody = changeSettings(worlds.ports, id, { casting: { ANA: "ben" } }, null);
    await expect(nobody).rejects.toMatchObject({ code: "FIELD_VALUE", where: "/casting/ANA" });
  });
});

describe("the test of a writer", () => {
  it("goes step by step, with nothing of the world, and proposes the one grammar that the answer has", async () => {
    const fenced = `\`\`\`json\n${says("MIRA", "Good morning!")}\n\`\`\``;
    await using server = await startModelServer(fenced, '{"no_write":{"reason":"larimbel"}}', fenced, "I forgot.");
    await using worlds = await openWorlds({ models: makeModels({}) });
    const id = await openHarbour(worlds, { base_url: server.url }, { title: "The blue boat" });
    const { settings } = (await worlds.ports.store.read((tx) => loadWorld(tx.world, id))).state;
    const first = await testWriter(worlds.ports, settings, writerOf(settings, "WORLD"), id);
    expect(first.steps.map(({ step, ok }) => `${step} ${ok}`)).toEqual([
      "REACH true",
      "KEY true",
      "MODEL true",
      "HELD true",
      "ANSWER false",
      "WINDOW true",
    ]);
    expect(first).toMatchObject({ ok: false, proposes: "fenced-json" });
    const fences = { ...writerOf(settings, "WORLD"), reply: "fenced-json" as const };
    const second = await testWriter(worlds.ports, settings, fences, id);
    expect(second.steps.at(-1)).toMatchObject({ step: "WINDOW", ok: false, code: "WRITER_PROMPT_CUT" });
    expect(JSON.stringify(server.requests)).not.toContain("blue boat");
  });

  it("names the step that fails, in the words of a beat", async () => {
    await using server = await startModelServer({ status: 401 });
    await using worlds = await openWorlds({ models: makeModels({}) });
    const id = await openHarbour(worlds, { base_url: server.url });
    const { settings } = (await worlds.ports.store.read((tx) => loadWorld(tx.world, id))).state;
    const { steps } = await testWriter(worlds.ports, settings, writerOf(settings, "WORLD"), id);
    expect(steps.at(-1)).toMatchObject({ step: "KEY", code: "WRITER_KEY_REFUSED" });
  });

  it("lists the models of a provider", async () => {
    await using server = await startModelServer({
      body: '{"data":[{"id":"mira-7b","context_length":8192},{"id":"big"}]}',
    });
    const place = { kind: OPENAI, base_url: server.url, api_key_env: null } as const;
    expect(await makeModels({}).list(place)).toEqual([
      { name: "mira-7b", window_tokens: 8192 },
      { name: "big", window_tokens: null },
    ]);
  });
});

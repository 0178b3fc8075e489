// Settings are merged as RFC 7396 says, and a key goes only where somebody who types commands said it may go.
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeModels } from "../../src/adapters/models/world-models.ts";
import { forkWorld } from "../../src/rooms/world/history/fork.ts";
import { exportWorld, importWorld } from "../../src/rooms/world/history/history.ts";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { changeSettings, createWorld, mergeSettings } from "../../src/rooms/world/history/worlds.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { settingsSchema, usableOf } from "../../src/rooms/world/settings.ts";
import { startModelServer } from "../support/model-server.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { envelope, makeHarbour, openWorlds } from "../support/world.ts";

const postgres = await usePostgres();

/** RFC 7396 section 2, written down once more. */
function apply(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const isPlain = typeof target === "object" && target !== null && !Array.isArray(target);
  const result: Record<string, unknown> = isPlain ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = apply(result[name], value);
  }
  return result;
}

describe("a change of settings", () => {
  it("merges as RFC 7396 says, whatever is merged into whatever", () => {
    const key = fc.constantFrom("a", "b", "c");
    const { tree } = fc.letrec((tie) => ({
      tree: fc.dictionary(key, tie("value"), { maxKeys: 3, noNullPrototype: true }),
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(null, 1, "x", true),
        fc.array(fc.integer(), { maxLength: 2 }),
        tie("tree"),
      ),
    }));
    fc.assert(
      fc.property(tree, tree, (before, patch) => {
        const [a, b] = [before, patch] as Record<string, unknown>[];
        expect(mergeSettings(a!, b!)).toEqual(apply(a, b));
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ["an object keeps what is not named", { context: { window_tokens: 9000 } }, "context.pack_percent", 40],
    ["null gives the default back", { title: "Gull Rock", writer_lint: null }, "writer_lint", "report"],
    ["a writer keeps its model", { writer: { timeout_ms: 5 } }, "writer.model", "test"],
    ["another kind begins with its own defaults", { writer: { kind: "scripted" } }, "writer.model", null],
    ["a kind that is taken away too", { writer: null }, "writer.kind", "scripted"],
    [
      "another policy begins with its own",
      { time_policy: { kind: "rate", rate_milli: 5 } },
      "time_policy.max_elapsed_ms",
      3_600_000,
    ],
  ])("%s", async (_name, changes, place, value) => {
    await using worlds = await openWorlds();
    const id = await makeHarbour(worlds, { writer: { kind: "ollama", model: "test" }, writer_lint: "off" });
    const { settings } = await changeSettings(worlds.ports, id, changes, null);
    expect(place.split(".").reduce((at, name) => (at as Record<string, unknown>)[name], settings as unknown)).toBe(
      value,
    );
  });

  it("leaves evidence and answers a share of a small window, and today's numbers of the usual one", () => {
    const usable = (window_tokens: number) =>
      usableOf(settingsSchema.parse({ title: "x", timezone: "UTC", context: { window_tokens } }));
    expect([32_768, 8192, 4096].map(usable)).toEqual([22_528, 5120, 2560]);
  });
});

describe("a key of a writer", () => {
  const pair = (base_url: string, api_key_env = "MODELS_KEY") => ({
    writer: { kind: "openai-compatible", model: "test", base_url, api_key_env },
  });

  it("is paired with an address by who types commands, and by nobody else", async () => {
    await using worlds = await openWorlds();
    const typed = worlds.ports;
    const sent = { ...worlds.ports, actor: "http" };
    const id = await makeHarbour(worlds, pair("https://models.example/v1"));
    // The pair is known here now, so it may be named again; its address may not be exchanged under a key that is kept.
    await changeSettings(sent, id, pair("https://models.example/v2"), null);
    const elsewhere = changeSettings(sent, id, { writer: { base_url: "https://elsewhere.example/v1" } }, null);
    await expect(elsewhere).rejects.toMatchObject({ code: "WRITER_PAIR_FORBIDDEN", where: "/writer/api_key_env" });
    const fresh = {
      world_id: null,
      start: null,
      people: [],
      settings: { title: "New", ...pair("https://models.example", "OTHER_KEY") },
    };
    await expect(createWorld(sent, fresh)).rejects.toMatchObject({ code: "WRITER_PAIR_FORBIDDEN" });
    await changeSettings(typed, id, { writer: { base_url: "https://elsewhere.example/v1" } }, null);
    const own = changeSettings(typed, id, { writer: { api_key_env: "VERBATIM_TOKEN" } }, null);
    await expect(own).rejects.toMatchObject({ code: "WRITER_PAIR_FORBIDDEN" });
    expect((await verifyWorld(typed, id)).findings).toEqual([]);
  });

  it("that came with an imported world is not sent until it is paired here", async () => {
    await using server = await startModelServer();
    await using home = await openWorlds();
    await using away = await openWorlds({ models: makeModels({ MODELS_KEY: "made-up-key" }) });
    const id = await makeHarbour(home, pair(server.url));
    await importWorld(away.ports, (await exportWorld(home.ports, id)).map((line) => `${line}\n`).join(""), null);
    const first = await away.beats.invoke(id, envelope("r1", "Is anybody here?"));
    expect([first.headers["Verbatim-Beat-Result"], server.requests]).toEqual(["WRITER_UNAVAILABLE", []]);
    await changeSettings(away.ports, id, pair(server.url), null);
    await away.beats.invoke(id, envelope("r2", "And now?"));
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer made-up-key"]);
  });
});

describe.each([
  { database: "SQLite", reason: null },
  { database: "PostgreSQL", reason: postgres.reason },
])("requests that make a world, on $database", ({ database, reason }) => {
  it("happen once under a key, and are answered alike", needs(reason), async () => {
    const made_there = database === "SQLite" ? null : await postgres.createDatabase();
    onTestFinished(() => made_there?.drop());
    await using worlds = await openWorlds(made_there === null ? {} : { url: made_there.url });
    const wanted = { world_id: null, start: null, people: [], settings: { title: "Gull Rock" } };
    const once = { key: "k1", body: { new: { title: "Gull Rock" } } };
    const made = await Promise.all(Array.from({ length: 8 }, () => createWorld(worlds.ports, wanted, once)));
    expect(new Set(made.map(({ world_id }) => world_id))).toEqual(new Set(["w_gull-rock"]));
    expect(await worlds.ports.store.read((tx) => tx.world.list())).toHaveLength(1);
    await expect(createWorld(worlds.ports, wanted, { key: "k1", body: { new: 2 } })).rejects.toMatchObject({
      code: "IDEMPOTENCY_BODY_MISMATCH",
    });
    await worlds.beats.invoke("w_gull-rock", envelope("r1", "The tide is out."));
    const page = await readPage(worlds.ports, "w_gull-rock", { viewer: null, after: null, before: null, limit: 5 });
    const asked = { cursor: page.cursor_after!, viewer: null, world_id: null, title: null };
    const forks = await Promise.all([1, 2].map(() => forkWorld(worlds.ports, "w_gull-rock", asked, "k2")));
    expect(forks[0]).toEqual(forks[1]);
    const erased = worlds.ports.store.transact((tx) =>
      tx.world.addOnce(1, "k1", { body_sha256: "", outcome: "", headers: "" }),
    );
    await expect(erased).rejects.toMatchObject({ code: "STORE_REFUSED" });
  });
});

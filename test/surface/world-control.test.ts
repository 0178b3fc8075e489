// Control writes over HTTP: under a key each happens once, and whoever asks again is given the same bytes.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "../../src/app/call.ts";
import { openApp } from "../../src/app/call.ts";
import { WorldStreams } from "../../src/surfaces/http/live/stream.ts";
import { makeHttpSurface } from "../../src/surfaces/http/server/server.ts";

let folder: string;
let app: App;
let streams: WorldStreams;
let fetchSurface: (request: Request) => Response | Promise<Response>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-control-"));
  app = openApp({ surface: "http", start: folder, env: {}, platform: process.platform });
  streams = new WorldStreams(app);
  const { hono } = await makeHttpSurface({ app, version: "0.0.0", host: "127.0.0.1", token: null }, streams);
  fetchSurface = (request) => hono.fetch(request);
  await app.call("world.new", {
    title: "Harbour",
    world_id: "w_harbour",
    timezone: "UTC",
    person: ["ANA=Ana", "BEN=Ben"],
  });
  await ask("POST", "/api/worlds/w_harbour/pocket/calendar", { title: "Market" });
});

afterAll(async () => {
  await streams.close();
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly replayed: string | null;
}

async function ask(method: string, path: string, body: unknown, key?: string): Promise<Answer> {
  const type = path.endsWith("/imports") ? "octet-stream" : "json";
  const headers: Record<string, string> = { host: "127.0.0.1", "content-type": `application/${type}` };
  if (key !== undefined) headers["idempotency-key"] = key;
  const init = { method, headers, ...(body === null ? {} : { body: JSON.stringify(body) }) };
  const response = await fetchSurface(new Request(`http://127.0.0.1${path}`, init));
  const replayed = response.headers.get("idempotent-replayed");
  return { status: response.status, text: await response.text(), replayed };
}

async function head(): Promise<unknown> {
  return ((await app.call("world.show", { world: "w_harbour" })) as { readonly head: unknown }).head;
}

async function addItem(): Promise<string> {
  const made = await app.call("world.calendar-add", { world: "w_harbour", title: "Market" });
  return (made as { readonly item_id: string }).item_id;
}

const ROUTES: readonly (readonly [method: string, path: string, body: unknown, other: unknown])[] = [
  ["PATCH", "settings", { title: "Old harbour" }, { title: "New harbour" }],
  ["POST", "people", { person_id: "CLEO", display_name: "Cleo" }, { person_id: "DORA", display_name: "Dora" }],
  ["PATCH", "people/ANA", { display_name: "Ana of the pier" }, { display_name: "Ana" }],
  ["PUT", "presence", { present: ["GEORGE", "ANA"] }, { present: ["GEORGE"] }],
  ["POST", "scene", { text: "The pier, early." }, { text: "The pier, late." }],
  ["POST", "pocket/calendar", { title: "Ferry", time: "2030-01-01T09:00" }, { title: "Boat" }],
  ["POST", "pocket/calendar/{item}/close", {}, undefined],
  ["POST", "pocket/messages", { from: "ANA", text: "Up?", visible_to: ["GEORGE"] }, { from: "ANA", text: "Up!" }],
  ["POST", "imports", { name: "Mira", description: "Mira keeps the lighthouse." }, { name: "Noor" }],
];

describe("a control write with a key", () => {
  it.each(ROUTES)("%s %s happens once and is answered with the same bytes", async (method, path, body, other) => {
    const route = `/api/worlds/w_harbour/${path.replace("{item}", await addItem())}`;
    const before = await head();
    const first = await ask(method, route, body, `key of ${path}`);
    expect([first.status, first.replayed]).toEqual([200, null]);
    const after = await head();
    expect(after).not.toEqual(before);
    const again = await ask(method, route, body, `key of ${path}`);
    expect(again).toEqual({ status: 200, text: first.text, replayed: "true" });
    expect(await head()).toEqual(after);
    if (other === undefined) return;
    const differs = await ask(method, route, { ...(body as object), ...(other as object) }, `key of ${path}`);
    expect([differs.status, differs.replayed]).toEqual([409, null]);
    expect(differs.text).toContain("IDEMPOTENCY_BODY_MISMATCH");
  });

  it("is written by one of many who ask at once, and replayed to the others", async () => {
    const scene = () => ask("POST", "/api/worlds/w_harbour/scene", { text: "Fog." }, "fog");
    const answers = await Promise.all(Array.from({ length: 6 }, scene));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
  });

  it("is marked at the surface of operations too", async () => {
    const input = { world: "w_harbour", text: "Sun.", key: "sun" };
    const first = await ask("POST", "/api/operations/world.scene", input);
    const again = await ask("POST", "/api/operations/world.scene", input);
    expect([first.replayed, again.replayed, again.text]).toEqual([null, "true", first.text]);
  });

  it("is described in the OpenAPI document, as is the mark", async () => {
    const document = JSON.parse((await ask("GET", "/api/openapi.json", null)).text) as {
      readonly paths: Record<string, Record<string, { parameters: { name: string }[]; responses: { 200?: object } }>>;
    };
    for (const [method, path] of ROUTES) {
      const known = path.replace("people/ANA", "people/{person}");
      const route = document.paths[`/api/worlds/{id}/${known}`]![method.toLowerCase()]!;
      expect(route.parameters.map(({ name }) => name)).toContain("Idempotency-Key");
      expect(route.responses[200]).toHaveProperty("headers.Idempotent-Replayed");
    }
  });
});

describe("a control write without a key", () => {
  it("is written every time", async () => {
    const scenes = [
      await ask("POST", "/api/worlds/w_harbour/scene", {}),
      await ask("POST", "/api/worlds/w_harbour/scene", {}),
    ];
    expect(scenes.map(({ replayed }) => replayed)).toEqual([null, null]);
    expect(scenes[0]!.text).not.toBe(scenes[1]!.text);
  });
});

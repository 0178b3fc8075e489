import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "../../src/app/call.ts";
import { openApp } from "../../src/app/call.ts";
import { WorldStreams } from "../../src/surfaces/http/live/stream.ts";
import { makeHttpSurface, type RunningHttp, startHttp } from "../../src/surfaces/http/server/server.ts";

// Server-sent events as a reader gets them: where it left off, and under the cursor of each line.

let folder: string;
let app: App;
let http: RunningHttp;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-sse-"));
  app = openApp({ surface: "http", start: folder, env: {}, platform: process.platform });
  http = await startHttp({ app, version: "0.0.0", host: "127.0.0.1", port: 0, noToken: true });
  await app.call("world.new", { title: "Harbour", timezone: "UTC", person: ["ANA=Ana", "BEN=Ben"] });
  await app.call("world.presence", { world: "w_harbour", present: ["GEORGE", "ANA"] });
  for (const text of ["One.", "Two.", "Three."]) await say(text);
});

afterAll(async () => {
  await http.close();
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

const say = (text: string) =>
  app.call("world.say", { world: "w_harbour", text, request_id: text.replace(/[^A-Za-z]/g, "") });

interface Event {
  readonly id: string | null;
  readonly event: string;
  readonly data: { readonly entry_id?: string; readonly text?: string };
}

/** Reads so many events, then goes. */
async function follow(
  query: string,
  count: number,
  headers: Record<string, string> = {},
  world = "w_harbour",
  atPage: () => Promise<unknown> = async () => undefined,
): Promise<Event[]> {
  const leaving = new AbortController();
  const response = await fetch(`${http.url}/api/worlds/${world}/stream?${query}`, { headers, signal: leaving.signal });
  expect(response.headers.get("cache-control")).toBe("no-store, no-transform");
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    const before = toEvents(text).length;
    text += decoder.decode(chunk, { stream: true });
    const events = toEvents(text).length;
    if (events >= count) break;
    if (before < 200 && events >= 200) await atPage();
  }
  leaving.abort();
  return toEvents(text).slice(0, count);
}

function toEvents(text: string): Event[] {
  const blocks = text.split("\n\n").slice(0, -1);
  return blocks.flatMap((block) => {
    const field = (name: string) =>
      block
        .split("\n")
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2);
    const event = field("event");
    if (event === undefined) return [];
    return [{ id: field("id") ?? null, event, data: JSON.parse(field("data")!) as Event["data"] }];
  });
}

interface Page {
  readonly entries: readonly { readonly entry_id: string; readonly text: string }[];
  readonly cursor_before: string;
}

const pageOf = async (viewer: string) => (await app.call("world.projection", { world: "w_harbour", viewer })) as Page;

it("a reader that comes back gets every line since under the line's own cursor", async () => {
  const { entries, cursor_before } = await pageOf("ANA");
  const missed = await follow("viewer=ANA", entries.length - 1, { "last-event-id": cursor_before });
  expect(missed.map(({ event, data }) => `${event} ${data.text}`)).toEqual(
    entries.slice(1).map(({ text }) => `entry ${text}`),
  );
  for (const { id, data } of missed) expect(id?.split(".")[1]).toBe(data.entry_id);
  // Whoever leaves in the middle goes on after the last line it saw.
  const rest = await follow("viewer=ANA", entries.length - 3, { "last-event-id": missed[1]!.id! });
  expect(rest).toEqual(missed.slice(2));
});

it("a reader that is more than a page behind gets every line, each once and in order", async () => {
  const world = "w_long";
  await app.call("world.new", { title: "Long", world_id: world, timezone: "UTC", person: ["ANA=Ana"] });
  await app.call("world.presence", { world, present: ["GEORGE", "ANA"], scene: "Line 0." });
  const { cursor_before } = (await app.call("world.projection", { world, viewer: "ANA" })) as Page;
  // One more than the service reads at once.
  const lines = Array.from({ length: 201 }, (_, i) => `Line ${i + 1}.`);
  for (const text of lines) await app.call("world.scene", { world, text, present: ["GEORGE", "ANA"] });
  const after = { "last-event-id": cursor_before };
  const seen = follow("viewer=ANA", lines.length, after, world, () =>
    // A reader that lost a line would wait for ever if nothing followed.
    app.call("world.scene", { world, text: "More.", present: ["GEORGE", "ANA"] }),
  );
  expect((await seen).map(({ data }) => data.text)).toEqual(lines);
});

it("what the reader's own head says wins over the address", async () => {
  const { entries, cursor_before } = await pageOf("ANA");
  const [first] = await follow("viewer=ANA&after=garbage", 1, { "last-event-id": cursor_before });
  expect(first!.data.text).toBe(entries[1]!.text);
});

it("a place that does not hold is told, whoever's it is", async () => {
  const { cursor_before } = await pageOf("ANA");
  for (const after of ["garbage", cursor_before]) {
    const [told] = await follow(`viewer=BEN&after=${after}`, 1);
    expect(told).toEqual({ id: null, event: "reset", data: {} });
  }
});

it("lines that are written while a reader catches up come once, after the others", async () => {
  const { entries, cursor_before } = await pageOf("ANA");
  const [read] = await Promise.all([
    follow("viewer=ANA", entries.length + 1, { "last-event-id": cursor_before }),
    say("Four."),
  ]);
  const texts = read.filter(({ event }) => event === "entry").map(({ data }) => data.text);
  expect(texts.slice(0, entries.length)).toEqual([...entries.slice(1).map(({ text }) => text), "Four."]);
  const ids = read.flatMap(({ data }) => data.entry_id ?? []);
  expect(new Set(ids).size).toBe(ids.length);
});

it("two thousand readers are served, the next one is refused, and may come when somebody has left", async () => {
  const streams = new WorldStreams(app);
  const { hono } = await makeHttpSurface({ app, version: "0.0.0", host: "127.0.0.1", token: null }, streams);
  const ask = () => hono.request("/api/worlds/w_harbour/stream?viewer=ANA", { headers: { host: "127.0.0.1" } });
  const query = { world: "w_harbour", viewer: "ANA", after: undefined, reader: "viewer" } as const;
  const readers = Array.from({ length: 1999 }, () => streams.open(query));
  const last = await ask();
  expect(last.status).toBe(200);
  const refused = await ask();
  // A stream that was let in would not end, so its status is asked first.
  expect(refused.status).toBe(503);
  expect(await refused.json()).toEqual({ error: expect.objectContaining({ code: "SSE_LIMIT" }) });
  await readers[0]!.cancel();
  const next = await ask();
  expect(next.status).toBe(200);
  await streams.close();
});

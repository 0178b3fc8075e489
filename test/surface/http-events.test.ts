// Guards: what happened is told, to the owner and nobody else, whoever did it, and nothing is lost over a break.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type App, openApp } from "../../src/app/call.ts";
import { Sessions } from "../../src/surfaces/http/access/sessions.ts";
import { type RunningHttp, startHttp } from "../../src/surfaces/http/server/server.ts";

const TOKEN = "harbour-token-of-the-owner";

let app: App;
let http: RunningHttp;
let start: string;
const sessions = new Sessions();

beforeAll(async () => {
  start = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-events-")));
  app = openApp({ surface: "http", start, env: { HOME: start }, platform: process.platform });
  http = await startHttp({ app, version: "0.0.0", host: "127.0.0.1", port: 0, token: TOKEN, sessions });
});

afterAll(async () => {
  await http.close();
  await app.close();
  rmSync(start, { recursive: true, force: true });
});

interface Told {
  readonly event: string;
  readonly id: string | null;
  readonly data: Record<string, unknown>;
}

/** Listens until the test ends; what was told is there to look at. */
async function listen(headers: Record<string, string> = {}, secret = TOKEN) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(`${http.url}/api/events`, {
    headers: { authorization: `Bearer ${secret}`, ...headers },
    signal: stop.signal,
  });
  const told: Told[] = [];
  const state = { isOver: false };
  const read = async () => {
    let text = "";
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (text + part).split("\n\n");
      text = blocks.pop()!;
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? null;
        const event = field("event");
        if (event !== null) told.push({ event, id: field("id"), data: JSON.parse(field("data")!) as Told["data"] });
      }
    }
  };
  void read().then(
    () => {
      state.isOver = true;
    },
    () => undefined,
  );
  return { status: response.status, type: response.headers.get("content-type"), told, state, stop: () => stop.abort() };
}

const say = (text: string) => app.call("world.say", { world: "w_harbour", text });
const worldsIn = (told: readonly Told[]) => told.filter(({ event }) => event === "world");

describe("events", () => {
  it("tell what was appended, by whom it may be, from the moment somebody listens", async () => {
    await app.call("world.new", { title: "Harbour", world_id: "w_harbour", timezone: "UTC" });
    const { status, type, told } = await listen();
    expect([status, type]).toEqual([200, "text/event-stream; charset=utf-8"]);
    await expect.poll(async () => (await say("The lamp is on."), worldsIn(told).length)).toBeGreaterThan(0);
    // Another program on the same store.
    await using other = openApp({ surface: "library", start, env: { HOME: start }, platform: process.platform });
    await other.call("world.new", { title: "Gull Rock", world_id: "w_gull-rock", timezone: "UTC" });
    await expect.poll(() => worldsIn(told).map(({ data }) => data["world_id"])).toContain("w_gull-rock");
    const { total, entries } = await app.call("ledger.show", { from: 0, limit: 1000 });
    for (const { id, data } of worldsIn(told)) {
      const entry = entries[Number(id)]!;
      expect([`world/${String(data["world_id"])}`, data["what"]]).toEqual([entry.stream, entry.kind]);
    }
    const ledger = told.filter(({ event }) => event === "ledger").at(-1)!;
    expect([ledger.data["size"], ledger.id]).toEqual([total, String(total - 1)]);
  });

  it("go on after the last one that was seen, without a gap and without a repetition", async () => {
    const { total } = await app.call("ledger.show", { from: 0, limit: 1 });
    for (const text of ["One.", "Two.", "Three."]) await say(text);
    const { total: now } = await app.call("ledger.show", { from: 0, limit: 1 });
    const { told } = await listen({ "last-event-id": String(total - 1) });
    await say("Four.");
    const { total: end } = await app.call("ledger.show", { from: 0, limit: 1 });
    await expect.poll(() => Number(told.at(-1)?.id ?? -1)).toBe(end - 1);
    const ids = worldsIn(told).map(({ id }) => Number(id));
    expect(ids).toEqual(Array.from({ length: end - total }, (_, i) => total + i));
    expect(now).toBeGreaterThan(total);
  });

  it("begin anew for an id that this ledger does not have", async () => {
    const { told } = await listen({ "last-event-id": "999999" });
    await expect.poll(() => told.map(({ event }) => event)).toContain("reset");
    const { total } = await app.call("ledger.show", { from: 0, limit: 1 });
    expect(told.find(({ event }) => event === "reset")?.id).toBe(String(total - 1));
  });

  it("tell how a task goes on", async () => {
    const { told } = await listen();
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const body = JSON.stringify({ operation: "world.list", input: {}, key: "events" });
    const begun = await fetch(`${http.url}/api/tasks`, { method: "POST", headers, body });
    const { task_id } = (await begun.json()) as { readonly task_id: string };
    await expect
      .poll(() => told.filter(({ event, data }) => event === "task" && data["id"] === task_id).at(-1)?.data["state"])
      .toBe("done");
    expect(told.filter(({ event }) => event === "task").every(({ id }) => id === null)).toBe(true);
  });

  it("are nobody's but the owner's, and end with the session that listens", async () => {
    expect((await listen({}, "guess")).status).toBe(401);
    await app.call("world.people-add", { world: "w_harbour", person_id: "ANA", display_name: "Ana" });
    const ana = await app.call("world.people-token", { world: "w_harbour", person_id: "ANA" });
    expect((await listen({}, ana.token)).status).toBe(403);
    const { secret, session } = sessions.open(
      "Chrome",
      { role: "owner", world_id: null, viewer: null, counted_as: null, session_id: null },
      "link",
    );
    const { told, state } = await listen({}, secret);
    sessions.end(session.id);
    await expect.poll(() => state.isOver).toBe(true);
    expect(told.at(-1)).toEqual({ event: "session", id: null, data: { ended: true } });
    const before = told.length;
    await say("Nobody hears this there.");
    const { told: others } = await listen({ "last-event-id": "0" });
    await expect.poll(() => worldsIn(others).length).toBeGreaterThan(0);
    expect(told).toHaveLength(before);
  });
});

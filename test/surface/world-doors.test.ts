// What goes in and out of the doors of a world: files that are imported, names that are not known, ids that are taken.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, openApp } from "../../src/app/call.ts";
import { showWritten } from "../../src/core/text/index.ts";
import { WorldStreams } from "../../src/surfaces/http/live/stream.ts";
import { makeHttpSurface } from "../../src/surfaces/http/server/server.ts";
import { runInProcess } from "../support/cli-in-process.ts";

let start: string;
let app: App;
let surface: Awaited<ReturnType<typeof makeHttpSurface>>;

beforeAll(async () => {
  start = mkdtempSync(join(tmpdir(), "verbatim-doors-"));
  app = openApp({ surface: "http", start, env: {}, platform: process.platform });
  surface = await makeHttpSurface({ app, version: "0.0.0", host: "127.0.0.1", token: null }, new WorldStreams(app));
  await app.call("world.new", { title: "Harbour", world_id: "w_harbour", timezone: "UTC", person: ["ANA=Ana"] });
});

afterAll(async () => {
  await app.close();
  rmSync(start, { recursive: true, force: true });
});

async function ask(method: string, path: string, body?: string | object, headers: Record<string, string> = {}) {
  const type = typeof body === "string" ? "application/octet-stream" : "application/json";
  const response = await surface.hono.request(`/api/worlds${path}`, {
    method,
    headers: { host: "127.0.0.1", "content-type": type, ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) as never };
}

const codeOf = (text: string) => (JSON.parse(text) as { error: { code: string; where: string } }).error;
const card = JSON.stringify({ name: "Ebba", first_mes: "Good morning.", description: "A fisher." });

describe("a file that becomes a new world", () => {
  it("touches no world that is there, and is told its key once", async () => {
    const before = await app.call("world.verify", { world: "w_harbour" });
    const made = await ask("POST", "/import?as=w_new", card, { "idempotency-key": "card-1" });
    expect([made.status, made.json()]).toMatchObject([200, { world_id: "w_new", entries: 2, format: "V1" }]);
    const again = await ask("POST", "/import?as=w_new", card, { "idempotency-key": "card-1" });
    expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([made.text, "true"]);
    expect(await app.call("world.verify", { world: "w_harbour" })).toEqual(before);
    expect((await app.call("world.verify", { world: "w_new" })).ok).toBe(true);
    expect((await app.call("world.show", { world: "w_new" })).settings.title).toBe("Ebba");
  });

  it("is refused where neither a world nor a new one is asked for, and an export where a world is", async () => {
    const base64 = Buffer.from(card).toString("base64");
    await expect(app.call("world.import-bytes", { base64 })).rejects.toMatchObject({ code: "USAGE" });
    const exported = await ask("GET", "/w_harbour/export");
    const added = await ask("POST", "/w_harbour/imports", exported.text);
    expect([added.status, codeOf(added.text).code]).toEqual([422, "IMPORT_FORMAT_UNKNOWN"]);
  });
});

describe("a route of worlds", () => {
  it("refuses a parameter that it does not know", async () => {
    const typo = await ask("POST", "/w_harbour/imports?previw=true", card);
    expect([typo.status, codeOf(typo.text)]).toMatchObject([400, { code: "INPUT_INVALID", where: "/query/previw" }]);
    expect((await ask("GET", "/w_harbour/people?vewer=ANA")).status).toBe(400);
  });

  it("refuses request ids that the room makes for its own writes", async () => {
    const mode = { kind: "BEAT" };
    const operator = { operator_id: "GEORGE", input_text: "Hello." };
    const invoker = { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" };
    for (const request_id of ["sys:import:1", "auto:w_harbour:1"]) {
      const sent = await ask("POST", "/w_harbour/invocations", { request_id, invoker, operator, mode });
      expect([sent.status, codeOf(sent.text)]).toMatchObject([400, { code: "FIELD_PATTERN", where: "/request_id" }]);
    }
  });

  it("gives every import a request id of its own", async () => {
    const ids = [];
    for (const name of ["One", "Two"]) {
      const done = (await ask("POST", "/w_harbour/imports", card.replace("Ebba", name))).json() as { world_id: string };
      const { entries } = await app.call("world.projection", { world: done.world_id, limit: 1 });
      const written = await ask("GET", `/w_harbour/entries/${entries.at(-1)!.entry_id}`);
      ids.push((written.json() as { request_id: string }).request_id);
    }
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^sys:import:[0-9a-f-]{36}$/);
  });

  it("shows nothing of a pocket that is not available", async () => {
    await ask("POST", "/w_harbour/pocket/calendar", { title: "Market" });
    await ask("PATCH", "/w_harbour/settings", { pocket: { available: false } });
    expect((await ask("GET", "/w_harbour/projection")).json()).toMatchObject({
      pocket: { is_available: false, clock: { world_time: null, timezone: null }, calendar: { items: [] } },
    });
    await ask("PATCH", "/w_harbour/settings", { pocket: null });
  });
});

describe("what a frame has to hold", () => {
  it("is bounded where it is set: those present, and rules", async () => {
    const present = Array.from({ length: 65 }, (_, i) => `GUEST_${i}`);
    const many = await ask("PUT", "/w_harbour/presence", { present });
    expect([many.status, codeOf(many.text)]).toMatchObject([422, { code: "PRESENCE_TOO_MANY", where: "/present" }]);
    const rules = await ask("PATCH", "/w_harbour/settings", { writer: { rules: "Be brief. ".repeat(2000) } });
    expect([rules.status, codeOf(rules.text)]).toMatchObject([
      422,
      { code: "CONTEXT_BUDGET_TOO_SMALL", where: "/writer/rules" },
    ]);
  });

  it("takes a text in its longest spelling, and says how much of one that is too long fits", async () => {
    const text = Array.from({ length: 65_536 }, () => "\\u0061").join("");
    const sent = `{"request_id":"long-1","invoker":{"invoker_id":"SYSTEM_INVOKER","invoker_role":"INVOKER"},"operator":{"operator_id":"GEORGE","input_text":"${text}"},"mode":{"kind":"BEAT"}}`;
    const response = await surface.hono.request("/api/worlds/w_harbour/invocations", {
      method: "POST",
      headers: { host: "127.0.0.1", "content-type": "application/json" },
      body: sent,
    });
    const { error } = (await response.json()) as { error: { code: string; details: Record<string, number> } };
    expect([response.status, error.code, error.details["bytes"]]).toEqual([413, "INPUT_EXCEEDS_CONTEXT", 65_536]);
    const fitting = "a".repeat(error.details["max_bytes"]!);
    const mode = { kind: "BEAT" };
    const operator = { operator_id: "GEORGE", input_text: fitting };
    const invoker = { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" };
    const done = await ask("POST", "/w_harbour/invocations", { request_id: "long-2", invoker, operator, mode });
    expect(done.status).toBe(200);
  });
});

describe("the command line", () => {
  it("takes --world where a world is an argument, and refuses two different ones", async () => {
    const shown = await runInProcess(["world", "show", "--world", "w_harbour"], start);
    expect([shown.exit, shown.stdout.split(" ")[0]]).toEqual([0, "w_harbour"]);
    const two = await runInProcess(["world", "show", "w_harbour", "--world", "w_new"], start);
    expect([two.exit, two.stderr]).toMatchObject([2, expect.stringContaining("error[USAGE]")]);
  });

  it("sets, shows and resets settings under their names", async () => {
    const set = await runInProcess(
      ["world", "settings", "set", "context.window_tokens=9000", "--world", "w_harbour"],
      start,
    );
    expect(set.stdout).toContain("context.window_tokens=9000\n");
    const reset = await runInProcess(["world", "settings", "reset", "context", "--world", "w_harbour"], start);
    expect(reset.stdout).toContain("context.window_tokens=32768\n");
    const word = await runInProcess(["world", "settings", "set", "title=Gull", "--world", "w_harbour"], start);
    expect([word.exit, word.stderr]).toMatchObject([2, expect.stringContaining("the value of title is not JSON")]);
    const writer = ["world", "writer", "set", "--kind", "ollama", "--model", "test", "--world", "w_harbour"];
    expect((await runInProcess(writer, start)).stdout).toContain('kind="ollama"\n');
  });

  it("prints CRLF as a line break and a lone CR escaped", () => {
    expect(showWritten("a\r\nb\rc")).toBe("a\nb\\u{d}c");
  });
});

// Guards: over HTTP a token says who speaks, opens its story's kept versions and nothing else, and ends when it is revoked.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, openApp } from "../../src/app/call.ts";
import { WorldStreams } from "../../src/surfaces/http/live/stream.ts";
import { makeHttpSurface } from "../../src/surfaces/http/server/server.ts";

const OWNER = "token-of-the-owner";
let folder: string;
let app: App;
let ask: (method: string, path: string, token: string, body?: unknown) => Promise<{ status: number; body: never }>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-story-"));
  app = openApp({ surface: "http", start: folder, env: {}, platform: process.platform });
  const { hono } = await makeHttpSurface(
    { app, version: "0.0.0", host: "127.0.0.1", token: OWNER },
    new WorldStreams(app),
  );
  ask = async (method, path, token, body) => {
    const headers = { host: "127.0.0.1", authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await hono.request(`/api/worlds${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as never };
  };
  const person = ["ANA=Ana", "BEN=Ben"];
  await app.call("world.new", { title: "Harbour", world_id: "w_harbour", timezone: "UTC", person });
  await app.call("world.presence", { world: "w_harbour", present: ["GEORGE", "ANA", "BEN"] });
});

afterAll(async () => {
  await app?.close();
  rmSync(folder, { recursive: true, force: true });
});

const say = (request_id: string, input_text: string) => ({
  request_id,
  invoker: { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" },
  operator: { operator_id: "GEORGE", input_text },
  mode: { kind: "BEAT" },
});

it("lets a player play, in the kept version of its story, until its token is taken back", async () => {
  const made = await ask("POST", "/w_harbour/tokens", OWNER, { person_id: "ANA", role: "player", label: "phone" });
  const { token, token_id } = made.body as { token: string; token_id: string };
  expect(made.status).toBe(201);
  const own = "ANA.0123456789abcdef";
  const said = await ask("POST", "/w_harbour/invocations", token, say(own, "Good morning."));
  expect(said).toMatchObject({
    status: 200,
    body: { stream: { entries: [{ author_label: "Ana", text: "Good morning." }] } },
  });
  expect(await ask("GET", `/w_harbour/invocations/${own}`, token)).toMatchObject({
    status: 200,
    body: { status: "DONE" },
  });
  const codes = async (method: string, path: string, body?: unknown) => {
    const { status, body: answer } = await ask(method, path, token, body);
    return [status, (answer as { error?: { code: string } }).error?.code];
  };
  expect(await codes("POST", "/w_harbour/invocations?speaker=BEN", say(`${own}1`, "x"))).toEqual([
    403,
    "VIEWER_DENIED",
  ]);
  expect(await codes("POST", "/w_harbour/invocations", say("free-1", "x"))).toEqual([400, "FIELD_PATTERN"]);
  expect(await codes("GET", "/w_harbour/invocations/free-1")).toEqual([404, "INVOCATION_NOT_FOUND"]);
  expect(await codes("GET", "/w_harbour/beats")).toEqual([403, "OPERATOR_ONLY"]);
  expect(await codes("GET", "/w_harbour/versions")).toEqual([403, "OPERATOR_ONLY"]);
  expect(await codes("PUT", "/w_harbour/presence", { present: [] })).toEqual([403, "OPERATOR_ONLY"]);
  expect(await codes("GET", "/w_harbour/tokens")).toEqual([403, "OWNER_ONLY"]);
  expect(await codes("POST", "/w_harbour/count", { text: "Hello" })).toEqual([200, undefined]);
  // A version is nowhere for it until it was kept.
  const again = await ask("POST", "/w_harbour/versions", OWNER, { request_id: "v-1", input_text: "Good evening." });
  const { version } = again.body as { version: { world_id: string } };
  expect(again.status).toBe(201);
  const hidden = await ask("GET", `/${version.world_id}/projection`, token);
  expect(hidden.status).toBe(404);
  expect(JSON.stringify(hidden.body)).toBe(
    JSON.stringify((await ask("GET", "/w_nowhere/projection", token)).body).replace("w_nowhere", version.world_id),
  );
  expect((await ask("PUT", "/w_harbour/kept", OWNER, { world_id: version.world_id })).status).toBe(200);
  const shown = await ask("GET", `/${version.world_id}/projection`, token);
  expect(shown).toMatchObject({ status: 200, body: { viewer: "ANA", entries: [{ text: "Good evening." }] } });
  const list = await ask("GET", "", token);
  expect((list.body as { worlds: unknown[] }).worlds).toMatchObject([
    { world_id: version.world_id, kept_world_id: version.world_id, viewer: "ANA", parent: null },
  ]);
  expect(JSON.stringify(list.body)).not.toContain("purpose");
  const { body } = await ask("GET", "/w_harbour/tokens", OWNER);
  expect((body as { tokens: object[] }).tokens).toMatchObject([
    {
      token_id,
      role: "player",
      viewer: "ANA",
      label: "phone",
      last_used_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    },
  ]);
  expect((await ask("DELETE", `/w_harbour/tokens/${token_id}`, OWNER)).status).toBe(200);
  expect(await codes("GET", "/w_harbour/projection")).toEqual([401, "AUTH_REQUIRED"]);
});

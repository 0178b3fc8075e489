import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { App } from "../../src/app/call.ts";
import { openApp } from "../../src/app/call.ts";
import { type RunningHttp, startHttp } from "../../src/surfaces/http/server/server.ts";

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, never> & { readonly error?: { readonly code: string } };
}

interface Described {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Record<string, object>;
  readonly requestBody?: { readonly content: Record<string, { readonly schema: { readonly properties: object } }> };
}

interface Written {
  readonly visibility: { readonly scope: string; readonly visible_to: readonly string[] };
}

let folder: string;
let app: App;
let http: RunningHttp;
let guarded: RunningHttp;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-http-"));
  app = openApp({ surface: "http", start: folder, env: {}, platform: process.platform });
  http = await startHttp({ app, version: "0.0.0", host: "127.0.0.1", port: 0 });
  guarded = await startHttp({
    app,
    version: "0.0.0",
    host: "0.0.0.0",
    port: 0,
    token: "token-from-far-away",
    insecureHttp: true,
  });
  const made = await call("POST", "/api/worlds", {
    title: "Harbour",
    world_id: "w_harbour",
    timezone: "UTC",
    start: "2026-01-01T07:30Z",
    person: ["ANA=Ana", "BEN=Ben"],
  });
  expect(made.status).toBe(201);
  // What is next is said in the words of this surface.
  expect(made.body).toMatchObject({ next: { method: "POST", path: "/api/worlds/w_harbour/invocations" } });
  await call("PUT", "/api/worlds/w_harbour/presence", { present: ["GEORGE", "ANA"] });
});

afterAll(async () => {
  await http.close();
  await guarded.close();
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A server that listens everywhere names an address of this machine; tests stay on loopback. */
function toLoopback(url: string): string {
  return `http://127.0.0.1:${new URL(url).port}`;
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  options: { readonly to?: RunningHttp; readonly token?: string; readonly headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { to = http, token = to.token } = options;
  const response = await fetch(`${toLoopback(to.url)}${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${token}`,
      ...options.headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && !text.includes("\n{") ? JSON.parse(text) : text,
  } as Answer;
}

function envelope(requestId: string, text: string): object {
  return {
    request_id: requestId,
    invoker: { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" },
    operator: { operator_id: "GEORGE", input_text: text },
    mode: { kind: "BEAT" },
  };
}

async function makeToken(person: string): Promise<string> {
  const { body } = await call("POST", `/api/worlds/w_harbour/people/${person}/tokens`);
  return String(body["token"]);
}

describe("invocations over HTTP", () => {
  it("answer with the projection output and how the beat ended, and replay byte for byte", async () => {
    const first = await call("POST", "/api/worlds/w_harbour/invocations", envelope("h1", "The tide is out."));
    expect(first.status).toBe(200);
    expect(first.headers.get("verbatim-beat-result")).toBe("WROTE");
    const again = await call("POST", "/api/worlds/w_harbour/invocations", envelope("h1", "The tide is out."));
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.headers.get("verbatim-beat-result")).toBe("WROTE");
    const other = await call("POST", "/api/worlds/w_harbour/invocations", envelope("h1", "Other."));
    expect([other.status, other.body.error?.code]).toEqual([409, "IDEMPOTENCY_BODY_MISMATCH"]);
    const state = await call("GET", "/api/worlds/w_harbour/invocations/h1");
    expect(state.body).toMatchObject({ status: "DONE" });
  });

  it.each([
    ['{"request_id":"a","request_id":"b"}', 400, "JSON_DUPLICATE_KEY"],
    ["{", 400, "JSON_SYNTAX"],
    [JSON.stringify({ request_id: "x" }), 400, "FIELD_MISSING"],
    [`{"x":${"[".repeat(40)}${"]".repeat(40)}}`, 400, "JSON_TOO_DEEP"],
    [" ".repeat(600 * 1024), 413, "BODY_TOO_LARGE"],
  ])("refuse %.40s with their code", async (body, status, code) => {
    const answer = await call("POST", "/api/worlds/w_harbour/invocations", body);
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
  });
});

describe("rights over HTTP", () => {
  it("need a token everywhere, on loopback too", async () => {
    expect(http.token).toMatch(/^vo_[0-9a-f]{48}$/);
    for (const to of [http, guarded]) {
      const url = toLoopback(to.url);
      for (const path of ["/api/worlds", "/api/openapi.json", "/api/docs", "/api/metrics", "/api/nothing"]) {
        const none = await fetch(`${url}${path}`);
        expect([path, none.status, none.headers.get("www-authenticate")]).toEqual([path, 401, "Bearer"]);
        expect(await none.json()).toMatchObject({ error: { code: "AUTH_REQUIRED" } });
      }
      for (const authorization of ["Bearer guess", `Basic ${to.token}`, `${to.token}`, "Bearer "]) {
        const wrong = await call("GET", "/api/worlds", undefined, { to, headers: { authorization } });
        expect([authorization, wrong.status]).toEqual([authorization, 401]);
      }
      expect((await call("GET", "/api/worlds", undefined, { to })).status).toBe(200);
      expect(
        (await call("GET", "/api/worlds", undefined, { to, headers: { "sec-fetch-site": "same-site" } })).status,
      ).toBe(403);
    }
    expect((await call("GET", "/api/worlds", undefined, { token: "token-from-far-away" })).status).toBe(401);
  });

  it("are everybody's only where somebody chose so, on loopback", async () => {
    await using open = await startHttp({ app, version: "0.0.0", host: "127.0.0.1", port: 0, noToken: true });
    expect((await fetch(`${open.url}/api/worlds`)).status).toBe(200);
    const away = { app, version: "0.0.0", host: "0.0.0.0", port: 0 };
    await expect(startHttp({ ...away, noToken: true })).rejects.toMatchObject({ code: "USAGE" });
    await expect(startHttp({ ...away, noToken: true, token: "x" })).rejects.toMatchObject({ code: "USAGE" });
    await expect(startHttp({ ...away, token: "two words" })).rejects.toMatchObject({ code: "USAGE" });
    await expect(startHttp({ ...away, token: "" })).rejects.toMatchObject({ code: "USAGE" });
  });

  it("let a person's token read as that person only, and nothing of other worlds", async () => {
    const token = await makeToken("BEN");
    const mine = { to: guarded, token };
    expect((await call("GET", "/api/worlds/w_harbour/projection", undefined, mine)).body).toMatchObject({
      viewer: "BEN",
      entries: [],
    });
    const denied = await call("GET", "/api/worlds/w_harbour/projection?viewer=ANA", undefined, mine);
    expect([denied.status, denied.body.error?.code]).toEqual([403, "VIEWER_DENIED"]);
    const written = await call("POST", "/api/worlds/w_harbour/invocations", envelope("h9", "x"), mine);
    expect([written.status, written.body.error?.code]).toEqual([403, "OPERATOR_ONLY"]);
    const calls = await call("GET", "/api/worlds/w_harbour/calls", undefined, mine);
    expect([calls.status, calls.body.error?.code]).toEqual([403, "OWNER_ONLY"]);
    const exported = await call("GET", "/api/worlds/w_harbour/export?kind=full", undefined, mine);
    expect(exported.status).toBe(403);
    await call("POST", "/api/worlds", { title: "Hidden", world_id: "w_hidden", timezone: "UTC" });
    const { error } = (await call("POST", "/api/operations/world.show", {})).body;
    expect(error).toMatchObject({ message: "there are several worlds", fix: "Name one of them." });
    const hidden = await call("GET", "/api/worlds/w_hidden/projection", undefined, mine);
    const unknown = await call("GET", "/api/worlds/w_nowhere/projection", undefined, mine);
    expect(hidden.status).toBe(404);
    expect(JSON.stringify(hidden.body).replace("w_hidden", "")).toBe(
      JSON.stringify(unknown.body).replace("w_nowhere", ""),
    );
    expect(JSON.stringify((await call("GET", "/api/worlds", undefined, mine)).body)).not.toContain("w_hidden");
    expect((await call("GET", "/api/worlds/w_harbour/verify", undefined, mine)).body).toEqual({ ok: true });
  });

  it("let an operator's token write, and read as the operator only", async () => {
    const mine = { to: guarded, token: await makeToken("GEORGE") };
    const own = await call("GET", "/api/worlds/w_harbour/projection", undefined, mine);
    expect([own.status, own.body["viewer"]]).toEqual([200, "GEORGE"]);
    for (const path of ["projection?viewer=ANA", "projection?viewer=ALL", "stream?viewer=ANA"]) {
      const denied = await call("GET", `/api/worlds/w_harbour/${path}`, undefined, mine);
      expect([path, denied.status, denied.body.error?.code]).toEqual([path, 403, "VIEWER_DENIED"]);
    }
  });

  it("limit how often a token may invoke", async () => {
    const token = await makeToken("GEORGE");
    // On a busy machine sixty requests take so long that none of them would be too many.
    const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
    onTestFinished(() => clock.mockRestore());
    const asked = await Promise.all(
      Array.from({ length: 60 }, () => call("POST", "/api/worlds/w_harbour/invocations", "{", { to: guarded, token })),
    );
    const limited = asked.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThanOrEqual(40);
    expect(limited[0]!.headers.get("retry-after")).toBe("1");
    expect(limited[0]!.body.error?.code).toBe("RATE_LIMITED");
  });

  it("refuse a foreign host and a foreign origin", async () => {
    const port = new URL(http.url).port;
    const status = await new Promise<number>((resolve) => {
      request({ host: "127.0.0.1", port, path: "/api/worlds", headers: { host: "evil.example" } }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      }).end();
    });
    expect(status).toBe(403);
    const crossed = await call("GET", "/api/worlds", undefined, { headers: { origin: "http://evil.example" } });
    expect([crossed.status, crossed.body.error?.code]).toEqual([403, "HOST_REFUSED"]);
  });

  it.each([
    "http://HERE.evil.example",
    "https://HERE@evil.example",
    "http://HERE0",
    "http://evil.example/http://HERE",
    "null",
  ])("refuse the origin %s, which only looks like ours", async (shape) => {
    const origin = shape.replace("HERE", new URL(http.url).host);
    const crossed = await call("POST", "/api/operations/world.list", {}, { headers: { origin } });
    expect([crossed.status, crossed.body.error?.code]).toEqual([403, "HOST_REFUSED"]);
    const own = await call("POST", "/api/operations/world.list", {}, { headers: { origin: http.url } });
    expect(own.status).toBe(200);
  });
});

describe("the stream of events", () => {
  it("sends committed lines with cursors, to those who may see them, and goes on from a cursor", async () => {
    const first = await listen("ANA");
    const second = await listen("BEN");
    await call("POST", "/api/worlds/w_harbour/invocations", envelope("s1", "A gull cries."));
    const heard = await first.until(2);
    expect(heard.map(({ data }) => data["text"])).toEqual(["A gull cries.", "I hear you."]);
    await call("POST", "/api/worlds/w_harbour/scene", {
      text: "Everybody is here.",
      present: ["GEORGE", "ANA", "BEN"],
    });
    expect((await second.until(1)).map(({ data }) => data["text"])).toEqual(["Everybody is here."]);
    const resumed = await listen("ANA", heard[0]!.id);
    expect((await resumed.until(2)).map(({ data }) => data["text"])).toEqual(["I hear you.", "Everybody is here."]);
    for (const one of [first, second, resumed]) one.close();
  });

  it("asks for a new start when the cursor does not hold", async () => {
    const stream = await listen("ANA", "c1.e_aaaaaaaaaaaaaaaa.AAAAAAAAAAAAAAAA");
    expect((await stream.until(1, "reset"))[0]!.event).toBe("reset");
    stream.close();
  });
});

interface Event {
  readonly event: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
}

async function listen(
  viewer: string,
  after?: string,
): Promise<{ until(count: number, kind?: string): Promise<Event[]>; close(): void }> {
  const abort = new AbortController();
  const query = after === undefined ? "" : `&after=${encodeURIComponent(after)}`;
  const response = await fetch(`${http.url}/api/worlds/w_harbour/stream?viewer=${viewer}${query}`, {
    headers: { authorization: `Bearer ${http.token}` },
    signal: abort.signal,
  });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  const events: Event[] = [];
  return {
    async until(count, kind = "entry") {
      while (events.filter(({ event }) => event === kind).length < count) {
        const { value, done } = await reader.read();
        if (done) break;
        buffer += value;
        const blocks = buffer.split("\n\n");
        buffer = blocks.pop() ?? "";
        for (const block of blocks) {
          const fields = new Map(
            block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
          );
          const data = fields.get("data");
          if (data !== undefined)
            events.push({ event: fields.get("event") ?? "", id: fields.get("id") ?? "", data: JSON.parse(data) });
        }
      }
      return events.filter(({ event }) => event === kind);
    },
    close: () => abort.abort(),
  };
}

describe("the rest of the API", () => {
  it("runs every operation for the owner, with the errors of the house", async () => {
    const listed = await call("POST", "/api/operations/world.list", {});
    expect(listed.status).toBe(200);
    const unknown = await call("POST", "/api/operations/world.nothing", {});
    expect([unknown.status, unknown.body.error?.code]).toEqual([404, "OPERATION_UNKNOWN"]);
    const file = await call("POST", "/api/operations/world.verify", { file: "/etc/hostname" });
    expect([file.status, file.body.error?.code]).toEqual([400, "USAGE"]);
    const signed = await call("POST", "/api/operations/world.export", { world: "w_harbour", sign: "ci" });
    expect([signed.status, signed.body.error?.code]).toEqual([400, "USAGE"]);
  });

  it("publishes health, metrics, an OpenAPI document and a page without inline script", async () => {
    expect(await (await fetch(`${http.url}/api/health`)).json()).toEqual({ ok: true });
    expect((await call("GET", "/api/health")).body).toEqual({ ok: true });
    expect((await call("GET", "/api/metrics")).body).toContain('verbatim_world_beats_total{result="WROTE"}');
    const document = (await call("GET", "/api/openapi.json")).body as unknown as { openapi: string; paths: object };
    expect(document.openapi).toBe("3.1.0");
    expect(Object.keys(document.paths)).toContain("/api/worlds/{id}/invocations");
    expect(Object.keys(document.paths)).toContain("/api/operations/world.say");
    const page = await fetch(http.url);
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
    expect(await page.text()).not.toMatch(/<script>|onclick/);
  });

  it("describes every route with its parameters, its body and its answer", async () => {
    const { paths } = (await call("GET", "/api/openapi.json")).body as unknown as {
      paths: Record<string, Record<string, Described>>;
    };
    const routes = Object.entries(paths).filter(([path]) => path.startsWith("/api/worlds"));
    expect(routes.length).toBeGreaterThanOrEqual(23);
    for (const [path, methods] of routes) {
      for (const [method, route] of Object.entries(methods)) {
        const named = [...path.matchAll(/\{([a-z]+)\}/g)].map(([, name]) => name);
        const inPath = route.parameters.filter((one) => one.in === "path").map(({ name }) => name);
        expect(inPath, `${method} ${path}`).toEqual(named);
        expect(route.responses["default"], `${method} ${path}`).toBeDefined();
        const isWrite = ["post", "put", "patch"].includes(method);
        expect(route.requestBody !== undefined, `${method} ${path}`).toBe(isWrite);
      }
    }
    const item = paths["/api/worlds/{id}/pocket/calendar"]!["post"]!.requestBody!.content["application/json"]!.schema;
    expect(Object.keys(item.properties).sort()).toEqual(["location", "notes", "time", "title", "visible_to"]);
    const query = paths["/api/worlds/{id}/search"]!["get"]!.parameters.filter((one) => one.in === "query");
    expect(query.map(({ name }) => name)).toEqual(["viewer", "q", "person", "from", "to", "limit"]);
  });

  it("tells a viewer nothing that counts what is hidden", async () => {
    await call("PUT", "/api/worlds/w_harbour/presence", { present: ["GEORGE", "ANA"] });
    await call("POST", "/api/worlds/w_harbour/invocations", envelope("h-count", "Only Ana hears this."));
    const mine = { to: guarded, token: await makeToken("ANA") };
    expect((await call("GET", "/api/health", undefined, mine)).body).toEqual({ ok: true });
    expect((await call("GET", "/api/metrics", undefined, mine)).status).toBe(403);
    expect((await call("GET", "/api/worlds/w_harbour", undefined, mine)).body).not.toHaveProperty("head");
    const page = (await call("GET", "/api/worlds/w_harbour/projection?limit=1", undefined, mine)).body as unknown as {
      entries: { entry_id: string }[];
      cursor_after: string;
    };
    const path = `/api/worlds/w_harbour/entries/${page.entries[0]!.entry_id}`;
    const asViewer = (await call("GET", path, undefined, mine)).body as unknown as Written;
    expect(asViewer.visibility).toEqual({ scope: "PRIVATE", visible_to: ["ANA"] });
    const asOwner = (await call("GET", path)).body as unknown as Written;
    expect(asOwner.visibility).toEqual({ scope: "PRIVATE", visible_to: ["ANA", "GEORGE"] });
    // A cursor holds for the viewer it was made for and for nobody else.
    const foreign = await call("GET", `/api/worlds/w_harbour/projection?after=${page.cursor_after}&viewer=GEORGE`);
    expect([foreign.status, foreign.body.error?.code]).toEqual([400, "CURSOR_INVALID"]);
    const note = await call("GET", "/api/worlds/w_harbour/capsules/ANA?derived=true", undefined, mine);
    expect([note.status, note.body.error?.code]).toEqual([403, "OWNER_ONLY"]);
    const world = await call("GET", "/api/worlds/w_harbour/projection?viewer=WORLD");
    expect([world.status, world.body.error?.code]).toEqual([400, "PERSON_UNKNOWN"]);
  });

  it("refuses bodies that are too large, in one piece or in many, and stays alive", async () => {
    const path = "/api/worlds/w_harbour/invocations";
    const large = await call("POST", path, "x".repeat(512 * 1024 + 1));
    expect([large.status, large.body.error?.code]).toEqual([413, "BODY_TOO_LARGE"]);
    const pieces = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode("y".repeat(64 * 1024))),
    });
    const headers = { "content-type": "application/json", authorization: `Bearer ${http.token}` };
    const options = { method: "POST", headers, body: pieces, duplex: "half" } as unknown as RequestInit;
    // The server answers before it has read everything; some clients then see the answer, others a closed connection.
    const status = await fetch(`${http.url}${path}`, options).then(
      (response) => response.status,
      () => 413,
    );
    expect(status).toBe(413);
    expect((await call("GET", "/api/health")).status).toBe(200);
    const deep = await call("POST", path, `${"[".repeat(40)}${"]".repeat(40)}`);
    expect(deep.body.error?.code).toBe("JSON_TOO_DEEP");
  });

  it.each([
    ["/api/operations/world.list", "text/plain", "{}"],
    ["/api/operations/world.list", "application/x-www-form-urlencoded", "{}"],
    ["/api/operations/world.list", "application/octet-stream", "{}"],
    ["/api/operations/world.list", "", "{}"],
    ["/api/worlds/w_harbour/invocations", "multipart/form-data; boundary=x", "{}"],
    ["/api/worlds/w_harbour/imports", "application/json", "{}"],
    ["/api/worlds/w_harbour/people/ANA/tokens", "application/x-www-form-urlencoded", ""],
  ])("refuses %s of the type %s", async (path, type, body) => {
    const bytes = body === "" ? undefined : new Blob([body]).stream();
    const headers = { authorization: `Bearer ${http.token}`, ...(type === "" ? {} : { "content-type": type }) };
    const init = { method: "POST", headers, body: bytes, duplex: "half" } as unknown as RequestInit;
    const answer = await fetch(`${http.url}${path}`, init);
    expect([answer.status, await answer.json()]).toMatchObject([415, { error: { code: "BODY_TYPE_REFUSED" } }]);
  });

  it("takes the pocket's own names, and imports under a key once", async () => {
    const item = { title: "Market", time: "2026-01-02T09:00", visible_to: ["GEORGE", "ANA"] };
    expect((await call("POST", "/api/worlds/w_harbour/pocket/calendar", item)).status).toBe(200);
    const message = { from: "ANA", text: "Are you up?", visible_to: ["GEORGE"] };
    expect((await call("POST", "/api/worlds/w_harbour/pocket/messages", message)).status).toBe(200);
    const pocket = await call("GET", "/api/worlds/w_harbour/pocket?viewer=ANA");
    expect(JSON.stringify(pocket.body)).toContain("Market");
    const card = { name: "Mira", description: "Mira keeps the lighthouse." };
    const headers = { "idempotency-key": "mira", "content-type": "application/octet-stream" };
    const first = await call("POST", "/api/worlds/w_harbour/imports?enter=false", card, { headers });
    const again = await call("POST", "/api/worlds/w_harbour/imports?enter=false", card, { headers });
    expect(first.body).toMatchObject({ people: [{ person_id: "MIRA" }], entries: 1 });
    expect(again.body).toEqual(first.body);
    const people = (await call("GET", "/api/worlds/w_harbour/people")).body as unknown as { people: object[] };
    expect(people.people).toHaveLength(3);
  });

  it("keeps control writes with a key to one", async () => {
    const headers = { "idempotency-key": "k1" };
    const path = "/api/worlds/w_harbour/pocket/calendar";
    const first = await call("POST", path, { title: "Ferry" }, { headers });
    const again = await call("POST", path, { title: "Ferry" }, { headers });
    expect(again.body).toEqual(first.body);
    const other = await call("POST", path, { title: "Train" }, { headers });
    expect(other.body.error?.code).toBe("IDEMPOTENCY_BODY_MISMATCH");
  });

  it("answers the list with a slash at its end, and refuses windows and messages that mean nothing", async () => {
    expect((await call("GET", "/api/worlds/")).body).toEqual((await call("GET", "/api/worlds")).body);
    const window = "from=2026-01-02T00:00Z&to=2026-01-01T00:00Z";
    const inverted = await call("GET", `/api/worlds/w_harbour/search?q=tide&${window}`);
    expect([inverted.status, inverted.body.error?.code]).toEqual([400, "TIME_WINDOW_INVERTED"]);
    const message = { from: "ANA", text: "To nobody.", visible_to: [] };
    const nobody = await call("POST", "/api/worlds/w_harbour/pocket/messages", message);
    expect([nobody.status, nobody.body.error?.code]).toEqual([400, "VISIBILITY_EMPTY"]);
  });

  it("keeps the keys of control writes apart from the ids of requests", async () => {
    const path = "/api/worlds/w_harbour/pocket/calendar";
    await call("POST", path, { title: "Regatta" }, { headers: { "idempotency-key": "k2" } });
    for (const id of ["control:k2", "control%2Fk2", "k2"]) {
      const state = await call("GET", `/api/worlds/w_harbour/invocations/${id}`);
      expect([state.status, state.body.error?.code]).toEqual([404, "INVOCATION_NOT_FOUND"]);
      const stopped = await call("DELETE", `/api/worlds/w_harbour/invocations/${id}`);
      expect([stopped.status, stopped.body.error?.code]).toEqual([404, "INVOCATION_NOT_FOUND"]);
    }
    const beat = await call("POST", "/api/worlds/w_harbour/invocations", envelope("control:k2", "A line of my own."));
    expect(beat.status).toBe(200);
    const again = await call("POST", path, { title: "Regatta" }, { headers: { "idempotency-key": "k2" } });
    expect(again.status).toBe(200);
    const forged = await call("POST", "/api/worlds/w_harbour/invocations", envelope("control/k2", "x"));
    expect([forged.status, forged.body.error?.code]).toEqual([400, "FIELD_PATTERN"]);
  });

  it("refuses an export before its answer begins, and a preview that is mistyped", async () => {
    const kind = await call("GET", "/api/worlds/w_harbour/export?kind=all");
    expect([kind.status, kind.body.error?.code]).toEqual([400, "INPUT_INVALID"]);
    const viewer = await call("GET", "/api/worlds/w_harbour/export?kind=viewer&viewer=NOBODY_HERE");
    expect(viewer.status).toBe(400);
    const nowhere = await call("GET", "/api/worlds/w_nowhere/export");
    expect([nowhere.status, nowhere.body.error?.code]).toEqual([404, "WORLD_NOT_FOUND"]);
    const card = { name: "Nils", description: "Nils mends nets." };
    for (const query of ["preview=yes", "enter=no", "macros=leave", "lore=all"]) {
      const headers = { "content-type": "application/octet-stream" };
      const refused = await call("POST", `/api/worlds/w_harbour/imports?${query}`, card, { headers });
      expect([refused.status, refused.body.error?.code]).toEqual([400, "INPUT_INVALID"]);
    }
  });
});

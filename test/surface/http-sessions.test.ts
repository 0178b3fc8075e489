// Guards: a link is good once, a session is not a token, and nobody comes in by guessing.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, openApp } from "../../src/app/call.ts";
import { Sessions } from "../../src/surfaces/http/access/sessions.ts";
import { type RunningHttp, startHttp } from "../../src/surfaces/http/server/server.ts";

const TOKEN = "harbour-token-of-the-owner";
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

let app: App;
let http: RunningHttp;
let start: string;

beforeAll(async () => {
  const sessions = new Sessions();
  start = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-sessions-")));
  app = openApp({
    surface: "http",
    start,
    env: { HOME: start },
    platform: process.platform,
    sessions: () => sessions.list(),
  });
  http = await startHttp({ app, version: "0.0.0", host: "127.0.0.1", port: 0, token: TOKEN, sessions });
});

afterAll(async () => {
  await http.close();
  await app.close();
  rmSync(start, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly error?: { readonly code: string; readonly message: string } };
}

async function ask(method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${http.url}${path}`, {
    method,
    headers: { "content-type": "application/json", "user-agent": BROWSER, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Answer["body"]) };
}

const enter = (given: unknown, headers?: Record<string, string>) => ask("POST", "/api/session", given, headers);
const as = (secret: unknown) => ({ authorization: `Bearer ${String(secret)}` });
const codeOf = (link: string) => link.split("#k=")[1]!;
const list = async (secret: unknown) => {
  const { body } = await ask("POST", "/api/operations/studio.sessions", {}, as(secret));
  return (body["sessions"] as { readonly id: string; readonly label: string; readonly opened_by: string }[]) ?? body;
};

describe("a link", () => {
  it("is exchanged for a session that may do what the owner may, and is listed", async () => {
    const link = http.makeLink();
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#k=[0-9a-f]{32}$/);
    const { status, body } = await enter({ code: codeOf(link) });
    expect([status, body["role"], body["world_id"]]).toEqual([200, "owner", null]);
    const [mine] = (await list(body["session"])).filter(({ id }) => id === body["id"]);
    expect(mine).toMatchObject({ label: "Firefox on Linux", opened_by: "link" });
    expect((await ask("GET", "/api/worlds", undefined, as(body["session"]))).status).toBe(200);
    expect((await ask("GET", "/api/worlds", undefined, as(codeOf(http.makeLink())))).status).toBe(401);
  });

  it("for another device is made by the owner alone, and gives no more than its maker had", async () => {
    const make = (secret: unknown) => ask("POST", "/api/session/link", undefined, as(secret));
    const byLink = await enter({ code: codeOf(http.makeLink()) });
    for (const [secret, opened_by] of [
      [byLink.body["session"], "link"],
      [(await enter({ token: TOKEN })).body["session"], "token"],
      [TOKEN, "token"],
    ] as const) {
      const made = await make(secret);
      expect([made.status, made.body["code"]]).toEqual([200, expect.stringMatching(/^[0-9a-f]{32}$/)]);
      const { body } = await enter({ code: made.body["code"] });
      expect((await list(TOKEN)).find(({ id }) => id === body["id"])).toMatchObject({ opened_by });
    }
    expect((await make("nobody")).status).toBe(401);
  });

  it("that is used twice ends its session, and both are told why", async () => {
    const code = codeOf(http.makeLink());
    const { body } = await enter({ code });
    const again = await enter({ code });
    expect([again.status, again.body.error?.code, again.body.error?.message]).toEqual([
      401,
      "LINK_SPENT",
      "the link was used before; the session it had opened was ended",
    ]);
    const first = await ask("GET", "/api/worlds", undefined, as(body["session"]));
    expect([first.status, first.body.error?.code]).toEqual([401, "SESSION_ENDED"]);
  });
});

describe("a session", () => {
  it("is ended by itself, or by the owner through its id, and not a second time", async () => {
    const [one, two] = [await enter({ token: TOKEN }), await enter({ token: TOKEN })];
    expect((await ask("DELETE", "/api/session", undefined, as(one.body["session"]))).status).toBe(204);
    expect((await ask("GET", "/api/worlds", undefined, as(one.body["session"]))).body.error?.code).toBe(
      "SESSION_ENDED",
    );
    expect((await ask("DELETE", `/api/session/${String(two.body["id"])}`, undefined, as(TOKEN))).status).toBe(204);
    const gone = await ask("DELETE", `/api/session/${String(two.body["id"])}`, undefined, as(TOKEN));
    expect([gone.status, gone.body.error?.code]).toEqual([404, "SESSION_NOT_FOUND"]);
    expect((await ask("DELETE", "/api/session", undefined, as(TOKEN))).body.error?.code).toBe("SESSION_NOT_FOUND");
  });

  it("of a world's token has its rights and no others", async () => {
    const owner = as(TOKEN);
    const world_id = "w_harbour";
    await ask("POST", "/api/worlds", { title: "Harbour", world_id, timezone: "UTC", person: ["ANA=Ana"] }, owner);
    const made = await ask("POST", `/api/worlds/${world_id}/people/ANA/tokens`, undefined, owner);
    const { body } = await enter({ token: made.body["token"] });
    expect([body["role"], body["world_id"], body["viewer"]]).toEqual(["viewer", world_id, "ANA"]);
    const mine = as(body["session"]);
    expect((await ask("GET", `/api/worlds/${world_id}/projection`, undefined, mine)).status).toBe(200);
    for (const [method, path] of [
      ["POST", "/api/operations/studio.sessions"],
      ["DELETE", "/api/session/other"],
      ["POST", "/api/session/link"],
      ["POST", "/api/tasks"],
      ["GET", "/api/tasks/t_0"],
      ["GET", "/api/metrics"],
    ] as const) {
      expect([path, (await ask(method, path, undefined, mine)).body.error?.code]).toEqual([path, "OWNER_ONLY"]);
    }
  });

  it("is not opened for a page of another site, by a form, or for anything but a code or a token", async () => {
    const code = codeOf(http.makeLink());
    const tries: [Record<string, string>, unknown][] = [
      [{ origin: "http://127.0.0.1:1" }, { code }],
      [{ "sec-fetch-site": "same-site" }, { code }],
      [{ "content-type": "text/plain" }, { code }],
      [{}, { code, token: TOKEN }],
      [{}, { code: 7 }],
      [{}, {}],
    ];
    const said = [];
    for (const [headers, given] of tries) said.push((await enter(given, headers)).body.error?.code);
    expect(said).toEqual([
      "HOST_REFUSED",
      "HOST_REFUSED",
      "BODY_TYPE_REFUSED",
      "INPUT_INVALID",
      "INPUT_INVALID",
      "INPUT_INVALID",
    ]);
    // None of them has used it up.
    expect((await enter({ code })).status).toBe(200);
  });
});

describe("guessing", () => {
  it("is over after five wrong tokens in a minute, for right ones too, and never for links", async () => {
    const code = codeOf(http.makeLink());
    const said = [];
    for (let i = 0; i < 6; i++) said.push((await enter({ token: `guess-number-${i}-of-six` })).status);
    expect(said).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await enter({ token: TOKEN })).body.error?.code).toBe("RATE_LIMITED");
    expect((await enter({ code: "0".repeat(32) })).body.error?.code).toBe("LINK_SPENT");
    expect((await enter({ code })).status).toBe(200);
    // Whoever holds the token still sends it with every request.
    expect((await ask("GET", "/api/worlds", undefined, as(TOKEN))).status).toBe(200);
  });
});

describe("a task", () => {
  it("runs an operation that takes long, is looked at by its id, and is the owner's", async () => {
    const owner = as(TOKEN);
    const begun = await ask("POST", "/api/tasks", { operation: "world.list", input: {}, key: "first" }, owner);
    expect([begun.status, begun.body["operation"]]).toEqual([202, "world.list"]);
    const path = `/api/tasks/${String(begun.body["task_id"])}`;
    await expect.poll(async () => (await ask("GET", path, undefined, owner)).body["state"]).toBe("done");
    const { body } = await ask("GET", path, undefined, owner);
    const direct = await ask("POST", "/api/operations/world.list", {}, owner);
    expect(body["output"]).toEqual(direct.body);
    expect((await ask("DELETE", path, undefined, owner)).body["state"]).toBe("done");
    for (const headers of [{}, as("guess")]) expect((await ask("GET", path, undefined, headers)).status).toBe(401);
  });

  it("is refused at once where it cannot be: another operation, a field, a key, a local one", async () => {
    const tries = [
      { operation: "ledger.nothing", key: "a" },
      { operation: "world.list", input: { no: 1 }, key: "b" },
      { operation: "agent.run", input: {}, key: "c" },
      { operation: "world.list" },
      { operation: "world.list", key: "two words" },
    ];
    const said = [];
    for (const one of tries) said.push((await ask("POST", "/api/tasks", one, as(TOKEN))).body.error?.code);
    expect(said).toEqual(["OPERATION_UNKNOWN", "INPUT_INVALID", "OPERATION_UNKNOWN", "INPUT_INVALID", "INPUT_INVALID"]);
    expect((await ask("GET", "/api/tasks/t_0", undefined, as(TOKEN))).body.error?.code).toBe("TASK_NOT_FOUND");
  });
});

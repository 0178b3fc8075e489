// Who may speak MCP over HTTP: asked at both of its doors, alone and in the Studio, of requests as they arrive.
import { describe, expect, it } from "vitest";
import type { App } from "../../app/call.ts";
import { ownNames } from "./access/host-check.ts";
import { WorldStreams } from "./live/stream.ts";
import { makeMcpRoute } from "./mcp-route.ts";
import { makeHttpSurface } from "./server/server.ts";

const TOKEN = "token-of-the-keeper";
const HOST = "127.0.0.1:4680";
const GOOD = { host: HOST, authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };

/** MCP that counts who reaches it. */
function makeMcp() {
  const reached: string[] = [];
  const fetch = async (request: Request) => {
    reached.push(`${request.method} ${await request.text()}`);
    return Response.json({ reached: reached.length });
  };
  return { reached, fetch };
}

async function alone(token: string | null = TOKEN) {
  const mcp = makeMcp();
  const own = ownNames({ host: "127.0.0.1", tls: null, publicUrl: null });
  const hono = makeMcpRoute({ mcp, own, token, log: () => undefined });
  return { mcp, hono };
}

async function inStudio() {
  const mcp = makeMcp();
  // Whoever holds no token of the owner is looked up in the store, which knows nobody.
  const app = { call: async () => ({ role: null, world_id: null, viewer: null }) } as unknown as App;
  const { hono } = await makeHttpSurface(
    { app, mcp, version: "0.0.0", host: "127.0.0.1", token: TOKEN },
    new WorldStreams(app),
  );
  return { mcp, hono };
}

describe.each([
  ["alone", alone],
  ["in the Studio", inStudio],
] as const)("MCP %s", (_, make) => {
  let opened: ReturnType<typeof make> | undefined;
  const open = async () => {
    opened ??= make();
    const { mcp, hono } = await opened;
    mcp.reached.length = 0;
    return { mcp, hono };
  };

  it("is reached by whoever has the token", async () => {
    const { mcp, hono } = await open();
    const answer = await hono.request("/mcp", { method: "POST", headers: GOOD, body: "{}" });
    expect([answer.status, await answer.json(), mcp.reached]).toEqual([200, { reached: 1 }, ["POST {}"]]);
  });

  it.each<[string, Readonly<Record<string, string | undefined>>, number, string, string | undefined]>([
    ["by another name", { host: "evil.example" }, 403, "HOST_REFUSED", "Host"],
    ["without a name", { host: undefined }, 403, "HOST_REFUSED", "Host"],
    ["from another page", { origin: "http://evil.example" }, 403, "HOST_REFUSED", "Origin"],
    ["for another site", { "sec-fetch-site": "cross-site" }, 403, "HOST_REFUSED", "Sec-Fetch-Site"],
    ["for a neighbouring site", { "sec-fetch-site": "same-site" }, 403, "HOST_REFUSED", "Sec-Fetch-Site"],
    ["without a token", { authorization: undefined }, 401, "AUTH_REQUIRED", undefined],
    ["with another token", { authorization: `Bearer ${TOKEN}x` }, 401, "AUTH_REQUIRED", undefined],
    ["with a token of another kind", { authorization: `Basic ${TOKEN}` }, 401, "AUTH_REQUIRED", undefined],
    ["with a form", { "content-type": "text/plain" }, 415, "BODY_TYPE_REFUSED", undefined],
    ["with a body of no type", { "content-type": undefined }, 415, "BODY_TYPE_REFUSED", undefined],
  ])("is not reached %s", async (_how, change, status, code, where) => {
    const { mcp, hono } = await open();
    const headers = Object.entries({ ...GOOD, ...change }).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    );
    const answer = await hono.request("/mcp", { method: "POST", headers, body: "{}" });
    const { error } = (await answer.json()) as { error: { code: string; where?: string } };
    expect([answer.status, error.code, mcp.reached]).toEqual([status, code, []]);
    if (where !== undefined) expect(error.where).toBe(where);
  });
});

it("MCP alone without a token is everybody's who comes by its own name, and has no other page", async () => {
  const { mcp, hono } = await alone(null);
  const headers = { host: HOST, "content-type": "application/json" };
  expect((await hono.request("/mcp", { method: "POST", headers, body: "{}" })).status).toBe(200);
  expect((await hono.request("/mcp", { method: "POST", headers: { ...headers, host: "a" }, body: "{}" })).status).toBe(
    403,
  );
  expect((await hono.request("/api/health", { headers })).status).toBe(404);
  expect(mcp.reached).toEqual(["POST {}"]);
});

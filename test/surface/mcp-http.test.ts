import { type ChildProcess, spawn } from "node:child_process";
import { request } from "node:http";
import { StreamableHTTPClientTransport as NewTransport } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "../../src/app/call.ts";
import { openApp } from "../../src/app/call.ts";
import { type RunningHttp, startHttp } from "../../src/surfaces/http/server/server.ts";
import { openMcpHttp } from "../../src/surfaces/mcp/mcp.ts";
import {
  type AnyClient,
  callWith,
  longMessage,
  type McpWorkspace,
  makeClients,
  makeMcpWorkspace,
  type Progress,
  type ToolResult,
} from "../support/mcp.ts";

// Guards: MCP over HTTP, alone and in the studio, has the checks of the whole HTTP surface.

const BIN = new URL("../../bin/verbatim.js", import.meta.url).pathname;
const TOKEN = "token-of-the-owner";
const GENERATIONS = ["modern", "legacy"] as const;

let workspace: McpWorkspace;
let child: ChildProcess;
let address: string;
let token: string;
let app: App;
let mcp: ReturnType<typeof openMcpHttp>;
let studio: RunningHttp;
const clients: Record<"modern" | "legacy", AnyClient> = {} as never;

beforeAll(async () => {
  workspace = await makeMcpWorkspace();
  const env = { PATH: process.env["PATH"], ...workspace.env };
  child = spawn(process.execPath, [BIN, "mcp", "--http", "--port", "0"], { cwd: workspace.root, env });
  const printed = await new Promise<string>((resolve) =>
    child.stdout!.once("data", (line: Buffer) => resolve(line.toString().trim())),
  );
  [address, token] = printed.split("#k=") as [string, string];
  const { modern, legacy } = makeClients();
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await modern.connect(new NewTransport(new URL(address), { requestInit }));
  await legacy.connect(new OldTransport(new URL(address), { requestInit }) as never);
  clients.modern = modern as unknown as AnyClient;
  clients.legacy = legacy as unknown as AnyClient;
  app = openApp({ surface: "http", start: workspace.root, env, platform: process.platform });
  mcp = openMcpHttp({ env, platform: process.platform, stderr: process.stderr, version: "0.0.0" }, workspace.root);
  studio = await startHttp({ app, version: "0.0.0", host: "127.0.0.1", port: 0, token: TOKEN, mcp });
});

afterAll(async () => {
  await Promise.all([clients.modern.close(), clients.legacy.close()]);
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
  await studio.close();
  await mcp.close();
  await app.close();
  workspace.remove();
});

describe.each(GENERATIONS)("over HTTP the %s client", (generation) => {
  const client = () => clients[generation];

  it("sees the same tools and resources", async () => {
    const { tools } = await client().listTools();
    expect(tools).toHaveLength(8);
    const read = await client().readResource({ uri: "symbol://@NOTES/RULES" });
    expect(read.contents[0]).toMatchObject({ text: "# Rules\nBe kind." });
  });

  it("gets answers, and refusals with their codes", async () => {
    const found = (await client().callTool({ name: "context_search", arguments: { query: "tides" } })) as ToolResult;
    // The word as it is written comes first, its other forms after it.
    expect(found.answer["total"]).toBe(2);
    const { results } = found.answer as unknown as { readonly results: readonly { readonly ref: string }[] };
    expect(results.map(({ ref }) => ref.split("#")[0])).toEqual(["notes/rules.md", "notes/long.md"]);
    const refused = (await client().callTool({ name: "job_status", arguments: { job_id: "job_none" } })) as ToolResult;
    expect([refused.isError, refused.answer.error!.code]).toEqual([true, "JOB_UNKNOWN"]);
  });

  it("hears of progress", async () => {
    const seen: Progress[] = [];
    const message = longMessage(`count over HTTP for ${generation}`);
    const result = (await callWith(
      client(),
      generation,
      { name: "job_submit", arguments: { message } },
      { onprogress: (progress) => void seen.push(progress) },
    )) as ToolResult;
    // A thousand steps do not fit into one answer; which job it was does.
    expect(result.answer.error).toMatchObject({
      code: "RESPONSE_TOO_LARGE",
      details: { answer: { state: "SUCCEEDED" } },
    });
    const numbers = seen.map(({ progress }) => progress);
    expect(numbers.at(-1)).toBe(1000);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  });
});

describe.each(GENERATIONS)("over HTTP the %s client", (generation) => {
  it("stops the work it gives up, which can go on later", async () => {
    const job_id = await postJob(`give up over HTTP for ${generation}`);
    const stop = new AbortController();
    const given = callWith(
      clients[generation],
      generation,
      { name: "job_submit", arguments: { action: "run", job_id } },
      { signal: stop.signal, onprogress: () => stop.abort() },
    );
    await expect(given).rejects.toThrow();
    expect(await settle(job_id)).toBeLessThan(1000);
    await call("job_submit", { action: "cancel", job_id });
  });
});

async function call(name: string, input: Record<string, unknown>) {
  return ((await clients.modern.callTool({ name, arguments: input })) as ToolResult).answer;
}

async function postJob(intent: string): Promise<string> {
  const posted = await call("job_submit", { action: "post", message: longMessage(intent) });
  return (posted as unknown as { readonly job_id: string }).job_id;
}

/** How many steps of a job are committed when no more are. */
async function settle(job_id: string): Promise<number> {
  let last = -1;
  // The server hears of it a moment later: the count stands still when it has.
  for (let same = 0; same < 5; ) {
    const { jobs } = (await call("job_status", { action: "list", open: true })) as unknown as {
      jobs: { job_id: string; committed: number }[];
    };
    const now = jobs.find((job) => job.job_id === job_id)?.committed ?? 1000;
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return last;
}

describe("a client of the older protocol that writes its requests itself", () => {
  const VERSION = { "mcp-protocol-version": "2025-11-25" };
  const ID = 7;

  const open = async () => {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "0" } };
    const answer = await post(address, {}, JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }));
    await answer.text();
    return answer.headers.get("mcp-session-id");
  };
  /** Runs a job in a session; the stream has begun, and the first progress was heard. */
  const begin = async (job_id: string, session: string | null, signal?: AbortSignal) => {
    const headers = { ...VERSION, ...(session === null ? {} : { "mcp-session-id": session }) };
    const params = { name: "job_submit", arguments: { action: "run", job_id }, _meta: { progressToken: 1 } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: ID, method: "tools/call", params });
    const { body: stream } = await post(address, headers, body, signal);
    const reader = stream!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toContain("notifications/progress");
    return reader;
  };
  const rest = async (reader: ReadableStreamDefaultReader<string>) => {
    let text = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    return text;
  };
  const cancel = async (session: string | null) => {
    const headers = { ...VERSION, ...(session === null ? {} : { "mcp-session-id": session }) };
    const body = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: ID } };
    expect((await post(address, headers, JSON.stringify(body))).status).toBe(202);
  };

  it("gets a session of its own from every initialize", async () => {
    const [one, other] = [await open(), await open()];
    expect(one).toMatch(/^[0-9a-f-]{36}$/);
    expect(other).not.toBe(one);
    expect((await post(address, VERSION)).headers.has("mcp-session-id")).toBe(false);
  });

  it("stops its call by a cancellation, and gets no answer to it", async () => {
    const [job_id, session] = [await postJob("cancelled in a session"), await open()];
    const reader = await begin(job_id, session);
    await cancel(session);
    expect(await rest(reader)).not.toContain('"result"');
    expect(await settle(job_id)).toBeLessThan(1000);
    await call("job_submit", { action: "cancel", job_id });
  });

  it("stops its call when it hangs up", async () => {
    const [job_id, session] = [await postJob("hung up"), await open()];
    const hang = new AbortController();
    const reader = await begin(job_id, session, hang.signal);
    hang.abort();
    await expect(rest(reader)).rejects.toThrow();
    expect(await settle(job_id)).toBeLessThan(1000);
    await call("job_submit", { action: "cancel", job_id });
  });

  it("cannot stop the call of another session, whose id is the same", async () => {
    const [job_id, session, other] = [await postJob("not yours"), await open(), await open()];
    const reader = await begin(job_id, session);
    await cancel(other);
    await cancel(null);
    expect(await rest(reader)).toContain("SUCCEEDED");
  });

  it("is not waited for when the server ends: its call is stopped", async () => {
    const job_id = await postJob("the server ends");
    const ending = openMcpHttp(
      { env: workspace.env, platform: process.platform, stderr: process.stderr, version: "0.0.0" },
      workspace.root,
    );
    const params = { name: "job_submit", arguments: { action: "run", job_id }, _meta: { progressToken: 1 } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: ID, method: "tools/call", params });
    const answer = await ending.fetch(
      new Request(address, { method: "POST", headers: { ...JSONS, ...VERSION }, body }),
    );
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toContain("notifications/progress");
    await ending.close();
    expect(await settle(job_id)).toBeLessThan(1000);
    await call("job_submit", { action: "cancel", job_id });
  });

  it("stops its only call without a session", async () => {
    const job_id = await postJob("cancelled without a session");
    const reader = await begin(job_id, null);
    await cancel(null);
    await rest(reader);
    expect(await settle(job_id)).toBeLessThan(1000);
    await call("job_submit", { action: "cancel", job_id });
  });
});

const JSONS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const PING = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };

async function post(
  url: string,
  headers: Record<string, string>,
  body: string = JSON.stringify(PING),
  signal: AbortSignal | null = null,
) {
  return fetch(url, {
    method: "POST",
    signal,
    headers: { ...JSONS, authorization: `Bearer ${token}`, ...headers },
    body,
  });
}

describe("the studio", () => {
  const url = () => `${studio.url}/mcp`;

  it("serves MCP to the owner", async () => {
    const { legacy } = makeClients();
    const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
    await legacy.connect(new OldTransport(new URL(url()), { requestInit }) as never);
    expect((await legacy.listTools()).tools).toHaveLength(8);
    await legacy.callTool({ name: "context_expand", arguments: { refs: ["@NOTES/RULES"] } });
    await legacy.close();
    const { entries } = (await app.call("ledger.show", { stream: "context", limit: 1000 })) as {
      entries: readonly { readonly actor: string }[];
    };
    expect(entries.at(-1)!.actor).toBe("mcp");
  });

  it("lets nobody in with a wrong token, a foreign host or a foreign origin", async () => {
    expect((await post(url(), { authorization: "Bearer guess" })).status).toBe(401);
    expect((await post(url(), { origin: "http://evil.example" })).status).toBe(403);
    const foreign = await new Promise<number>((resolve) => {
      const { port } = new URL(url());
      const headers = { host: "evil.example", "content-type": "application/json" };
      request({ host: "127.0.0.1", port, path: "/mcp", method: "POST", headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      }).end(JSON.stringify(PING));
    });
    expect(foreign).toBe(403);
  });

  it("refuses the holder of a world's token, who is not the owner", async () => {
    const made = (await app.call("world.people-token", { world: "w_harbour", person_id: "ANA" })) as { token: string };
    expect((await post(url(), { authorization: `Bearer ${made.token}` })).status).toBe(403);
  });
});

describe("alone", () => {
  it("answers at /mcp only", async () => {
    expect((await post(address.replace("/mcp", "/api/health"), {})).status).toBe(404);
    expect((await post(address, { origin: "http://evil.example" })).status).toBe(403);
  });

  it("answers nobody without its token, and nothing but JSON", async () => {
    for (const url of [address, `${studio.url}/mcp`]) {
      const none = await fetch(url, { method: "POST", headers: JSONS, body: JSON.stringify(PING) });
      expect([none.status, none.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      const right = { authorization: `Bearer ${url === address ? token : TOKEN}` };
      const form = await post(url, { ...right, "content-type": "text/plain" });
      expect([form.status, await form.json()]).toMatchObject([415, { error: { code: "BODY_TYPE_REFUSED" } }]);
    }
  });

  // Last, because the server hangs up on who sends too much.
  it("takes whole JSON of at most 256 KiB", async () => {
    for (const version of ["2025-11-25", "2026-07-28"]) {
      const half = await post(address, { "mcp-protocol-version": version }, "{");
      expect([half.status, await half.json()]).toMatchObject([400, { id: null, error: { code: -32_700 } }]);
    }
    const large = JSON.stringify({ ...PING, params: { x: "x".repeat(300 * 1024) } });
    expect((await post(address, {}, large)).status).toBe(413);
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { openApp } from "../../src/app/call.ts";
import { startHttp } from "../../src/surfaces/http/server/server.ts";
import { openMcpHttp } from "../../src/surfaces/mcp/mcp.ts";
import { makeClients } from "../../test/support/mcp.ts";
import type { FrozenFiles } from "./files.ts";
import { formatJson, sha256 } from "./table.ts";

const VERSION = "VERSION";

/** The OpenAPI document, and what an MCP client is told: both asked of a server on an empty workspace. */
export async function freezeSurfaces(): Promise<FrozenFiles> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-freeze-"));
  try {
    const [openapi, mcp] = await ask(folder, false, (server) => Promise.all([readOpenApi(server), readMcp(server)]));
    const { tools } = await ask(folder, true, readMcp);
    return new Map([
      ["openapi.json", formatJson(openapi)],
      ["mcp.json", formatJson({ ...mcp, tools_for_agents: tools.map(({ name }) => name) })],
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Server {
  readonly url: string;
  readonly headers: { readonly authorization: string };
}

/** Asks a server; `caged` is the one that an agent in its view is given. */
async function ask<T>(folder: string, caged: boolean, read: (server: Server) => Promise<T>): Promise<T> {
  const { platform, stderr } = process;
  const env = { PATH: process.env["PATH"], HOME: folder };
  await using app = openApp({ surface: "http", start: folder, env, platform });
  await using mcp = openMcpHttp({ env, platform, stderr, version: VERSION }, folder, caged);
  const token = "token-of-the-owner";
  await using http = await startHttp({ app, version: VERSION, host: "127.0.0.1", port: 0, token, mcp });
  return await read({ url: http.url, headers: { authorization: `Bearer ${token}` } });
}

/** The document with each schema of an operation as its hash: those are frozen with the contracts. */
async function readOpenApi({ url, headers }: Server): Promise<unknown> {
  const document: unknown = await (await fetch(`${url}/api/openapi.json`, { headers })).json();
  return JSON.parse(JSON.stringify(document), (key, value: unknown) => {
    if (key !== "schema") return value;
    const text = JSON.stringify(value);
    return text.length > 200 ? `sha256 ${sha256(text)}` : value;
  });
}

async function readMcp({ url, headers }: Server) {
  const { modern: client } = makeClients();
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  try {
    return {
      server: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
      tools: (await client.listTools()).tools,
      resources: (await client.listResources()).resources,
      templates: (await client.listResourceTemplates()).resourceTemplates,
    };
  } finally {
    await client.close();
  }
}

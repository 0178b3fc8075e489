import { StreamableHTTPClientTransport as NewTransport } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { openMcpHttp } from "../../src/surfaces/mcp/mcp.ts";
import { type AnyClient, makeClients } from "./mcp.ts";

export interface InProcess extends AsyncDisposable {
  readonly clients: Readonly<Record<"modern" | "legacy", AnyClient>>;
}

const ADDRESS = new URL("http://127.0.0.1/mcp");

/** Real clients of both generations, and the server they speak to without a socket between them. */
export async function openInProcess(
  root: string,
  env: Readonly<Record<string, string>>,
  caged = false,
): Promise<InProcess> {
  const stderr = { write: () => true };
  const mcp = openMcpHttp({ env, platform: process.platform, stderr, version: "0.0.0" }, root, caged);
  const fetch = (url: string | URL | Request, init?: RequestInit) => mcp.fetch(new Request(url, init));
  const { modern, legacy } = makeClients();
  await modern.connect(new NewTransport(ADDRESS, { fetch }));
  await legacy.connect(new OldTransport(ADDRESS, { fetch }) as never);
  return {
    clients: { modern: modern as unknown as AnyClient, legacy: legacy as unknown as AnyClient },
    async [Symbol.asyncDispose]() {
      await Promise.all([modern.close(), legacy.close()]);
      await mcp.close();
    },
  };
}

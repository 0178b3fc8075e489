import { randomUUID } from "node:crypto";
import { createMcpHandler, readRequestBody } from "@modelcontextprotocol/server";
import { createMcpSurface, type McpOptions, SESSION_HEADER } from "./server.ts";

/** MCP over HTTP as a function from request to response; who may call is for the server around it to say. */
export interface McpHttp {
  fetch(request: Request): Promise<Response>;
  /** Ends what is running and waits until it is put back. */
  close(): Promise<void>;
}

/**
 * Serves both generations of the protocol. Nothing is kept between requests: the session that clients of the older one
 * are given only tells whose call a cancellation means.
 */
export function createMcpHttp(options: McpOptions & { readonly maxBodyBytes: number }): McpHttp {
  const { factory, idle, cancelAll } = createMcpSurface(options);
  const handler = createMcpHandler(factory, {
    maxRequestBodySize: options.maxBodyBytes,
    ...(options.log === undefined ? {} : { onerror: options.log }),
  });
  return {
    async fetch(request) {
      const isFirst = await asksToInitialize(request, options.maxBodyBytes);
      const response = await handler.fetch(request);
      if (isFirst && response.ok) response.headers.set(SESSION_HEADER, randomUUID());
      return response;
    },
    async close() {
      await handler.close();
      cancelAll();
      await idle();
    },
  };
}

/** Whether a request opens a session of the older protocol. Only one without the headers of later ones is looked into. */
async function asksToInitialize(request: Request, maxBytes: number): Promise<boolean> {
  const { headers } = request;
  if (request.method !== "POST" || headers.has(SESSION_HEADER) || headers.has("mcp-protocol-version")) return false;
  try {
    const body = await readRequestBody(request.clone(), maxBytes);
    const message: unknown = body.tooLarge ? null : JSON.parse(body.text);
    return (Array.isArray(message) ? message : [message]).some((one) => one?.method === "initialize");
  } catch (thrown) {
    // What cannot be read or is not JSON is answered by the handler, which meets it as well.
    if (thrown instanceof Error) return false;
    throw thrown;
  }
}

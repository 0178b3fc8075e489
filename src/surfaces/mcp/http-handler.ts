import { createMcpHandler } from "@modelcontextprotocol/server";
import { createMcpDoor, type McpOptions } from "./server.ts";

/** MCP over HTTP as a function from request to response; who may call is for the server around it to say. */
export interface McpHttp {
  fetch(request: Request): Promise<Response>;
  /** Ends what is running and waits until it is put back. */
  close(): Promise<void>;
}

/** Serves both generations of the protocol, without sessions. */
export function createMcpHttp(options: McpOptions & { readonly maxBodyBytes: number }): McpHttp {
  const { factory, idle } = createMcpDoor(options);
  const handler = createMcpHandler(factory, {
    maxRequestBodySize: options.maxBodyBytes,
    ...(options.log === undefined ? {} : { onerror: options.log }),
  });
  return {
    fetch: (request) => handler.fetch(request),
    async close() {
      await handler.close();
      await idle();
    },
  };
}

import { onTestFinished } from "vitest";
import { openApp } from "../../src/app/call.ts";
import type { Input, OperationName, Output } from "../../src/app/operations.ts";
import { startHttp } from "../../src/surfaces/http/server/server.ts";
import type { AgentRepo } from "./agent-repo.ts";

const TOKEN = "harbour-token-of-the-owner";

/** A task as it ended. */
export interface EndedTask {
  readonly state: string;
  readonly output?: unknown;
  readonly error?: { readonly code: string };
}

interface ServerOptions {
  readonly noStart?: boolean;
  readonly noToken?: boolean;
  readonly publicUrl?: string;
}

/** A server over the repository of a test, until the test ends. */
export async function serveRepo(repo: AgentRepo, more: ServerOptions = {}) {
  const app = openApp({ surface: "http", start: repo.root, env: repo.env, platform: process.platform });
  const http = await startHttp({
    app,
    version: "0.0.0",
    host: "127.0.0.1",
    port: 0,
    ...(more.noToken ? {} : { token: TOKEN }),
    ...more,
  });
  onTestFinished(async () => {
    await http.close();
    await app.close();
  });
  const send = (path: string, init: RequestInit = {}, token: string | null = more.noToken ? null : TOKEN) =>
    fetch(`${http.url}${path}`, {
      ...init,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(init.body === undefined ? {} : { "content-type": "application/json" }),
      },
    });
  const post = async (path: string, body: unknown) => {
    const response = await send(path, { method: "POST", body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return {
    url: http.url,
    http,
    send,
    post,
    /** The answer of an operation, or the error it was refused with. */
    async call<N extends OperationName>(name: N, input: Input<N>): Promise<Output<N>> {
      const { status, body } = await post(`/api/operations/${name}`, input);
      if (status !== 200) throw new Error(JSON.stringify(body));
      return body as Output<N>;
    },
    /** The code an operation is refused with, and where. */
    async refusal(name: string, input: object): Promise<readonly [number, string, string | null]> {
      const { status, body } = await post(`/api/operations/${name}`, input);
      const { code, where } = (body["error"] ?? { code: "none", where: null }) as {
        code: string;
        where: string | null;
      };
      return [status, code, where];
    },
    /** A task, from its beginning to its end. */
    async task(operation: OperationName, input: object, key: string): Promise<EndedTask> {
      const { status, body } = await post("/api/tasks", { operation, input, key });
      if (status !== 202) throw new Error(JSON.stringify(body));
      const id = body["task_id"] as string;
      for (const until = Date.now() + 120_000; Date.now() < until; ) {
        const task = (await (await send(`/api/tasks/${id}`)).json()) as EndedTask;
        if (task.state !== "waiting" && task.state !== "running") return task;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error(`the task ${id} did not end`);
    },
  };
}

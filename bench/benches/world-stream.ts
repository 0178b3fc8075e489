import { mkdtempSync, rmSync } from "node:fs";
import { Agent, get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApp } from "../../src/app/call.ts";
import { startHttp } from "../../src/surfaces/http/server/server.ts";
import type { Bench } from "../harness.ts";

const GOAL_MS = 250;

/** Fan-out: from the answer to a beat until the last of N clients has its line. */
export const worldStream: Bench = {
  name: "world-stream",
  onAsking: true,
  what: "a beat and its line at every one of N clients of server-sent events on one process",
  baseline: `${GOAL_MS} ms`,
  corpus: "one world, clients in the same process as the server",
  sizes: [100, 1_000],
  goal: { kind: "time", atMost: 1 },
  async prepare(size) {
    const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-sse-"));
    const app = openApp({ surface: "http", start: folder, env: {}, platform: process.platform });
    await app.call("world.new", { title: "Bench", world_id: "w_bench", timezone: "UTC" });
    const http = await startHttp({ app, version: "0.0.0", host: "127.0.0.1", port: 0, noToken: true });
    const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
    let got = 0;
    let wanted = "";
    let all: () => void = () => undefined;
    const clients = await Promise.all(
      Array.from({ length: size }, () =>
        connect(`${http.url}/api/worlds/w_bench/stream`, agent, (text) => {
          if (text.includes(wanted) && ++got === size) all();
        }),
      ),
    );
    let n = 0;
    return {
      async ours() {
        got = 0;
        wanted = `line number ${++n} of the bench`;
        const done = new Promise<void>((resolve) => {
          all = resolve;
        });
        await app.call("world.say", { world: "w_bench", text: wanted });
        await done;
      },
      baseline: GOAL_MS,
      async close() {
        for (const client of clients) client.destroy();
        agent.destroy();
        await http.close();
        await app.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

function connect(url: string, agent: Agent, onText: (text: string) => void): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.setEncoding("utf8");
      response.once("data", () => resolve(response));
      response.on("data", (text: string) => {
        if (text.includes("event: entry")) onText(text);
      });
    }).once("error", reject);
  });
}

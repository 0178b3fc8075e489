import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createGuards } from "../../src/adapters/guards/index.ts";
import type { Connection } from "../../src/core/network/connections.ts";
import { LISTED, makeCageFolder, removeCage, runCaged } from "../../test/support/network-cage.ts";
import { makeTable, openOrigins } from "../../test/support/network-origin.ts";
import type { Bench } from "../harness.ts";

const unavailable = () =>
  process.platform === "linux" && process.getuid?.() === 0 ? null : "needs port 443 of loopback on Linux";

/** Opens N connections one after another, as a program inside or outside does it; prints the milliseconds of the middle one. */
const CLIENT = `
const { connect: tcp } = require("node:net"); const { connect: tls } = require("node:tls");
const [how, host, count] = process.argv.slice(1);
const open = () => how === "proxy"
  ? new Promise((done) => { const s = tcp(3128, "127.0.0.1"); s.write("CONNECT good.test:443 HTTP/1.1\\r\\n\\r\\n"); s.once("data", () => done(s)); })
  : new Promise((done) => { const s = tcp(443, host, () => done(s)); });
(async () => { const times = [];
  for (let i = 0; i < Number(count); i++) { const begun = performance.now(); const socket = await open();
    const s = tls({ socket, servername: "good.test", rejectUnauthorized: false });
    await new Promise((done, fail) => { s.once("error", fail); s.once("data", done); s.write("GET / HTTP/1.1\\r\\nHost: good.test\\r\\nConnection: close\\r\\n\\r\\n"); });
    times.push(performance.now() - begun); s.destroy(); }
  times.sort((a, b) => a - b); console.log(times[times.length >> 1]); process.exit(0); })();`;

function makeConnectBench(how: "proxy" | "name", atMost: number): Bench {
  return {
    name: `agent-network-${how}`,
    what: `a new TLS connection of an agent ${how === "proxy" ? "through the proxy" : "by name"}, the median of N`,
    baseline: "the same to the same server on loopback without a guard",
    corpus: "a TLS server on loopback",
    sizes: [60],
    goal: { kind: "time", atMost },
    onAsking: true,
    unavailable,
    async prepare(size) {
      const origins = await openOrigins();
      const table = makeTable(origins);
      const { execFile } = await import("node:child_process");
      const { promisify } = await import("node:util");
      const words = (host: string, by: string) => ["-e", CLIENT, by, host, String(size)];
      return {
        async ours() {
          const base = makeCageFolder();
          const { output } = await runCaged({
            guard: "ns-overlay",
            bind: "perl",
            base,
            command: [process.execPath, ...words("good.test", how)],
            hosts: LISTED,
            network: "allow",
            resolve: async (name) => table[name] ?? [],
          });
          removeCage(base);
          return { took_ms: Number(output) };
        },
        async baseline() {
          const { stdout } = await promisify(execFile)(process.execPath, words(origins.good, "direct"));
          return { took_ms: Number(stdout) };
        },
        close: () => origins.close(),
      };
    },
  };
}

export const agentNetworkProxy = makeConnectBench("proxy", 2.5);
export const agentNetworkName = makeConnectBench("name", 2.0);

const MORE_MS = 60;

/** How much later a command starts when it has a network with a relay. */
export const agentNetworkStart: Bench = {
  name: "agent-network-start",
  what: "the start of true under ns-overlay with the network allow, from the call until the command runs",
  baseline: `the same with the network inherit, and ${MORE_MS} ms more`,
  corpus: "one empty domain",
  sizes: [1],
  goal: { kind: "time", atMost: 1.0 },
  onAsking: true,
  unavailable,
  async prepare() {
    const base = makeCageFolder();
    const guards = createGuards(null, base, "perl", async () => []);
    let count = 0;
    const start = async (network: "allow" | "inherit") => {
      const work = join(base, `work-${++count}`);
      mkdirSync(work);
      const begun = performance.now();
      const running = await guards.launch({
        guard: "ns-overlay",
        run_id: `bench-${count}`,
        root: join(base, "root"),
        work,
        layers: [{ index: 0, kind: "overlay", path: join(base, "root") }],
        writable: [],
        holes: [],
        keeps: [],
        command: ["true"],
        cwd: join(base, "root"),
        env: { PATH: "/usr/bin:/bin" },
        network,
        reach: { hosts: LISTED, onConnection: (_: Connection) => undefined, onLost: () => undefined },
        timeout_ms: 10_000,
        stdin: "null",
        onOutput: () => undefined,
      });
      const took_ms = performance.now() - begun;
      await running.ended;
      await running.release();
      return { took_ms };
    };
    return {
      ours: () => start("allow"),
      baseline: () => start("inherit"),
      allowed_ms: MORE_MS,
      close: () => removeCage(base),
    };
  },
};

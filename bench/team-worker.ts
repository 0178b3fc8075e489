// A worker of a team that takes jobs only while it is told to: `go` opens its gate and `wait` closes it. WAIT_MS is what a payload
// takes to read besides, so that steps cost waiting and no processor.
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { Engine } from "../src/adapters/pgboss/engine.ts";
import { PostgresContentStore } from "../src/adapters/sql/postgres/content-store.ts";
import { openApp } from "../src/app/call.ts";

const [folder = ""] = process.argv.slice(2);
const waits = Number(process.env["WAIT_MS"] ?? 0);

let open: () => void = () => undefined;
let gate = new Promise<void>((resolve) => {
  open = resolve;
});
let closing = new AbortController();

const { next } = Engine.prototype;
let isReady = false;
Engine.prototype.next = async function (this: Engine, queues, signal) {
  for (;;) {
    if (!isReady) console.log("ready");
    isReady = true;
    let stop = () => undefined as unknown;
    const over = new Promise<void>((resolve) => {
      stop = resolve;
    });
    signal.addEventListener("abort", stop);
    if (!signal.aborted) await Promise.race([gate, over]);
    signal.removeEventListener("abort", stop);
    if (signal.aborted) return null;
    const item = await next.call(this, queues, AbortSignal.any([signal, closing.signal]));
    if (item !== null || signal.aborted) return item;
  }
};

const { get } = PostgresContentStore.prototype;
if (waits > 0) {
  PostgresContentStore.prototype.get = async function (this: PostgresContentStore, hash) {
    await wait(waits);
    return get.call(this, hash);
  };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "go") return open();
  closing.abort();
  closing = new AbortController();
  gate = new Promise((resolve) => {
    open = resolve;
  });
});
// Nobody is there any more who would stop it.
process.stdin.on("close", () => process.exit(0));

const kinds = (process.env["KINDS"] ?? "read").split(",");
const app = openApp({ surface: "cli", start: folder, env: process.env, platform: process.platform });
await app.call("team.worker", { kinds: kinds as ["read"], min_free: 0 });
await app.close();
// What is still to be read on standard input would keep it.
process.exit(0);

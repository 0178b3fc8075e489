import { randomUUID } from "node:crypto";
import { writeSync } from "node:fs";
import { nodeCrypto } from "../../../src/adapters/crypto/node-crypto.ts";
import { createContentStore } from "../../../src/adapters/disk/durable/content-store.ts";
import { openPostgresStore } from "../../../src/adapters/sql/postgres/store.ts";
import { openSqliteStore } from "../../../src/adapters/sql/sqlite/store.ts";

// A process that writes and says so, one hash per line, when it is safe: writer.ts KIND PLACE NAME COUNT.
// KIND is `sqlite` or `postgres` (appends to one stream) or `content` (stores payloads in a folder).
// An error of the table goes to standard error as JSON.

const [kind, place, name, count] = process.argv.slice(2) as [string, string, string, string];
const ports = { crypto: nodeCrypto, clock: { now: () => Date.now() }, ids: { uuid: () => randomUUID() } };

/** Waits until the line is in the pipe: a stream would keep it here while the reader is busy, and a kill would take it along. */
function acknowledge(hash: string): void {
  writeSync(1, `${hash}\n`);
}

async function append(): Promise<void> {
  const store = await (kind === "sqlite"
    ? // A busy machine may let a writer wait long; how long is no matter here.
      openSqliteStore({ ...ports, path: place, busyMs: 200_000 })
    : openPostgresStore({ ...ports, url: place }));
  for (let i = 0; i < Number(count); i++) {
    const [entry] = await store.transact((tx) =>
      tx.ledger.append("shared", "next", [{ kind: "NOTE_ADDED", actor: name, body: { turn: i } }]),
    );
    acknowledge(entry!.hash);
  }
  await store.close();
}

async function put(): Promise<void> {
  const content = createContentStore({ ...ports, folder: place });
  for (let i = 0; i < Number(count); i++) {
    acknowledge(await content.put(new TextEncoder().encode(`${name} ${i}`)));
  }
}

try {
  await (kind === "content" ? put() : append());
} catch (thrown) {
  const { code, where, fix } = thrown as { code?: string; where?: string; fix?: string };
  process.stderr.write(`${JSON.stringify({ code, where, fix })}\n`);
  process.exitCode = 1;
}

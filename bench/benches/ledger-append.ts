import { hash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { loadSqlite } from "../../src/adapters/sql/sqlite/driver.ts";
import { openSqliteStore } from "../../src/adapters/sql/sqlite/store.ts";
import { sealEntry } from "../../src/core/ledger/index.ts";
import type { EntryRecord } from "../../src/core/ports.ts";
import type { Bench } from "../harness.ts";
import { seededIntegers, seededWords } from "../seed.ts";

const STREAM = "job/lantern";
const ZEROS = "0".repeat(64);
const APPENDS = 100;
const PAGE = 1_000;

// The same journal as a store's, so that both pay for the same checkpoints.
const SETTINGS = [
  "pragma journal_mode = wal",
  "pragma synchronous = full",
  "pragma cache_size = -16384",
  "pragma wal_autocheckpoint = 16000",
];

const TABLE = `
create table ledger_entry (
  idx integer primary key, stream text not null, position integer not null, previous text not null, kind text not null,
  time text not null, actor text not null, body_hash text not null, hash text not null unique, body text not null,
  unique (stream, position)
) strict`;

/** A durable append: one entry, one transaction, synchronous=FULL. What it costs must not depend on what is there. */
export const ledgerAppend: Bench = {
  name: "ledger-append",
  what: "100 appends of one entry to a SQLite ledger that has N, each its own transaction",
  baseline: "a bare transaction doing the same insert, no triggers, hashes ready",
  corpus: "seeded entries with bodies of about 300 bytes, all in one stream",
  sizes: [1_000, 50_000],
  goal: { kind: "rate", atLeast: 0.7 },
  async prepare(size) {
    const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
    const next = seededIntegers(4);
    const bodies = Array.from({ length: APPENDS }, (_, step) => ({ step, text: seededWords(next, 40) }));
    const entries = bodies.map((body) => ({ kind: "STEP_DONE", actor: "library", body }));
    const clock = { now: () => 1_735_787_045_000 };
    const ids = { uuid: () => "00000000-0000-4000-8000-000000000000" };
    const store = await openSqliteStore({ path: join(folder, "ours.db"), crypto: nodeCrypto, clock, ids });
    const bare = await openBare(join(folder, "bare.db"));
    const ready = bodies.map((body, position) => {
      const time = "2025-01-02T03:04:05.000Z";
      const head = { stream: STREAM, position, previous: ZEROS, kind: "STEP_DONE", time, actor: "library" };
      return sealEntry(nodeCrypto, { ...head, body });
    });
    for (let there = 0; there < size; there += PAGE) {
      const page = Array.from({ length: PAGE }, (_, i) => i % APPENDS);
      await store.transact(({ ledger }) =>
        ledger.append(
          STREAM,
          "next",
          page.map((i) => entries[i]!),
        ),
      );
      bare.insert(page.map((i) => ready[i]!));
    }
    return {
      async ours() {
        for (const entry of entries) await store.transact((tx) => tx.ledger.append(STREAM, "next", [entry]));
      },
      baseline() {
        for (const entry of ready) bare.insert([entry]);
      },
      async close() {
        await store.close();
        bare.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

/** The floor. Hashes are as good as random, as real ones are, so that their index is written all over. */
async function openBare(path: string): Promise<{ insert(entries: readonly EntryRecord[]): void; close(): void }> {
  const { module } = await loadSqlite();
  const database = new module.DatabaseSync(path, {});
  for (const sql of [...SETTINGS, TABLE]) database.exec(sql);
  const begin = database.prepare("begin immediate");
  const commit = database.prepare("commit");
  const insert = database.prepare("insert into ledger_entry values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const hashes: string[] = [];
  const refill = (from: number) => {
    for (let i = 0; i < 100_000; i++) hashes.push(hash("sha256", String(from + i)));
  };
  let index = 0;
  return {
    insert(entries) {
      if (hashes.length < index + entries.length) refill(hashes.length);
      begin.run();
      for (const e of entries) {
        // Every round writes the same bodies again, so hash and position come from the running index.
        const at = BigInt(index);
        insert.run(at, e.stream, at, e.previous, e.kind, e.time, e.actor, e.body_hash, hashes[index++]!, e.body);
      }
      commit.run();
    },
    close: () => database.close(),
  };
}

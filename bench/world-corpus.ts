import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { nodeCrypto } from "../src/adapters/crypto/node-crypto.ts";
import { createContentStore } from "../src/adapters/disk/durable/content-store.ts";
import { createLocalFiles } from "../src/adapters/disk/guarded/local-files.ts";
import { createLocalFolders } from "../src/adapters/disk/guarded/local-folders.ts";
import { intlGraphemes } from "../src/adapters/intl/graphemes.ts";
import { makeZones } from "../src/adapters/intl/zones.ts";
import { processPace } from "../src/adapters/process/timer.ts";
import { readWorker } from "../src/adapters/process/worker.ts";
import { loadSqlite } from "../src/adapters/sql/sqlite/driver.ts";
import { zlibInflater } from "../src/adapters/zlib/inflater.ts";
import { openStore } from "../src/app/compose/store/store.ts";
import { formatState, keyOf } from "../src/rooms/world/history/state.ts";
import { createWorld } from "../src/rooms/world/history/worlds.ts";
import { toEntryId } from "../src/rooms/world/ids.ts";
import { DEFAULT_TIMES, type WorldPorts } from "../src/rooms/world/operations/ports.ts";
import { toLines } from "../src/rooms/world/people/audience.ts";
import { BYTES_BY_THREE } from "../src/rooms/world/people/tokens.ts";
import type { EntryRow, WorldWriter } from "../src/rooms/world/ports.ts";
import { loadWorld } from "../src/rooms/world/projection/reading.ts";
import { indexEntries } from "../src/rooms/world/retrieval/terms-index.ts";
import { seededIntegers } from "./seed.ts";

const VOCABULARY = 4000;
const WORDS_A_LINE = 14;
const BLOCK = 2048;
const START = Date.UTC(2026, 0, 1);

/** The room's ports on a fresh SQLite store in a temporary folder. */
export async function openBenchRoom(): Promise<{
  readonly ports: WorldPorts;
  readonly path: string;
  close(): Promise<void>;
}> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-world-"));
  const path = join(folder, "store.db");
  let uuid = 0;
  const base = {
    crypto: nodeCrypto,
    clock: { now: () => Date.now() },
    ids: { uuid: () => `00000000-0000-4000-8000-${String(++uuid).padStart(12, "0")}` },
  };
  const store = await openStore({ path, url: undefined, ...base });
  const ports: WorldPorts = {
    ...base,
    store,
    content: createContentStore({ folder: join(folder, "blobs"), ...base }),
    random: { bytes: (count) => Uint8Array.from({ length: count }, (_, i) => (i * 7 + ++uuid) % 256) },
    pace: processPace,
    worker: readWorker(),
    zones: makeZones(),
    graphemes: intlGraphemes,
    inflater: zlibInflater,
    tokenizer: BYTES_BY_THREE,
    models: {
      chat: async () => ({ down: { code: "WRITER_UNREACHABLE", message: "no model here" } }),
      isReachable: async () => false,
      list: async () => [],
    },
    files: createLocalFiles(folder, nothing()),
    folders: createLocalFolders(folder),
    actor: "library",
    system_zone: "UTC",
    times: DEFAULT_TIMES,
  };
  return {
    ports,
    path,
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function* nothing(): AsyncIterable<Uint8Array> {
  yield new Uint8Array();
}

/** A word; low numbers are frequent, as in speech. */
export function wordOf(next: (bound: number) => number): string {
  const rank = Math.min(next(VOCABULARY), next(VOCABULARY), next(VOCABULARY));
  return `w${rank.toString(36)}`;
}

export function lineOf(next: (bound: number) => number): string {
  return Array.from({ length: WORDS_A_LINE }, () => wordOf(next)).join(" ");
}

/** Fills twenty worlds: the first has 25,000 entries (or its share of a smaller corpus), 30 % are PRIVATE. */
export async function fillWorlds(
  ports: WorldPorts,
  path: string,
  entries: number,
): Promise<{ readonly first: string; readonly first_size: number; readonly second: string }> {
  const firstSize = Math.min(25_000, Math.floor(entries / 4));
  const rest = Math.ceil((entries - firstSize) / 19);
  const next = seededIntegers(21);
  for (let w = 0; w < 20; w++) {
    const world_id = `w_bench-${w}`;
    const people = [
      { person_id: "ANA", display_name: "Ana" },
      { person_id: "BEN", display_name: "Ben" },
    ];
    const settings = { title: `Bench ${w}`, timezone: "UTC" };
    await createWorld(ports, { world_id, start: "2026-01-01T00:00Z", people, settings });
    if (w < 2) await fillWorld(ports, world_id, w === 0 ? firstSize : rest, next);
  }
  await copySecondWorld(ports, path, rest);
  return { first: "w_bench-0", first_size: firstSize, second: "w_bench-1" };
}

const FILLED = {
  world_entry:
    "wseq, entry_id, bundle_id, position, request_id, created_ms, created_at, author_id, author_class, channel, scope, audience, text",
  world_entry_visible: "person, wseq",
  world_terms: "key, block, lows",
  world_recent_terms: "wseq, keys",
};

/** Worlds that nobody reads get the rows of the second: only the size of the store counts, and copies take seconds. */
async function copySecondWorld(ports: WorldPorts, path: string, size: number): Promise<void> {
  const { module } = await loadSqlite();
  const database = new module.DatabaseSync(path, {});
  database.exec("pragma synchronous = off; pragma cache_size = -524288; pragma wal_autocheckpoint = 100000");
  for (let number = 3; number <= 20; number++) {
    database.exec("begin immediate");
    for (const [table, columns] of Object.entries(FILLED)) {
      database.exec(
        `insert into ${table} (world, ${columns}) select ${number}, ${columns} from ${table} where world = 2`,
      );
    }
    database.exec("commit");
    await ports.store.transact((tx) => setEnd(tx.world, `w_bench-${number - 1}`, size + 1));
  }
  // On disk before anything is measured: later the system would write it while others wait for the disk.
  database.exec("pragma synchronous = full; pragma wal_checkpoint(restart)");
  database.close();
}

async function fillWorld(
  ports: WorldPorts,
  worldId: string,
  count: number,
  next: (bound: number) => number,
): Promise<void> {
  for (let from = 1; from <= count; from += BLOCK) {
    await ports.store.transact(async (tx) => {
      const world = await loadWorld(tx.world, worldId);
      const key = keyOf(world.state);
      const rows: EntryRow[] = [];
      for (let wseq = from; wseq < from + BLOCK && wseq <= count; wseq++)
        rows.push(toRow(wseq, toEntryId(ports.crypto, key, wseq), next));
      const { visible, indexed } = toLines(ports.crypto, world.numbers, rows);
      const recent = await indexEntries(tx.world, world.number, indexed);
      await tx.world.addEntries(world.number, rows, visible, recent);
      await setEnd(tx.world, worldId, from + rows.length);
    });
  }
}

async function setEnd(tables: WorldWriter, worldId: string, next_wseq: number): Promise<void> {
  const { number, state } = await loadWorld(tables, worldId);
  await tables.saveState(number, formatState({ ...state, next_wseq, clock_ms: START + next_wseq * 1000 }));
}

function toRow(wseq: number, entry_id: string, next: (bound: number) => number): EntryRow {
  const isPrivate = next(10) < 3;
  const ms = START + wseq * 1000;
  return {
    wseq,
    entry_id,
    bundle_id: `b_${Math.floor(wseq / 3)}`,
    position: 1,
    request_id: "bench",
    created_ms: ms,
    created_at: `${new Date(ms).toISOString().slice(0, 19)}+00:00`,
    author_id: "ANA",
    author_class: "PERSON",
    channel: "PEOPLE",
    scope: isPrivate ? "PRIVATE" : "PUBLIC",
    audience: isPrivate ? (next(2) === 0 ? '["ANA","GEORGE"]' : '["ANA"]') : "[]",
    text: lineOf(next),
  };
}

type Corpus = Awaited<ReturnType<typeof openBenchRoom>> & Awaited<ReturnType<typeof fillWorlds>>;

// Several benches use the same worlds; making a million entries takes longer than reading them.
const made = new Map<number, Promise<Corpus>>();

/** Twenty filled worlds, made once for every bench of a run that wants so many entries. */
export function corpusOf(size: number): Promise<Corpus> {
  let corpus = made.get(size);
  if (corpus === undefined) {
    corpus = openBenchRoom().then(async (room) => {
      // Nothing that waits is waited for at the exit, so the files go without closing the store.
      process.once("exit", () => rmSync(dirname(room.path), { recursive: true, force: true }));
      return { ...room, ...(await fillWorlds(room.ports, room.path, size)) };
    });
    made.set(size, corpus);
  }
  return corpus;
}

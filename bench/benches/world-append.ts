import { createHash } from "node:crypto";
import { loadSqlite } from "../../src/adapters/sql/sqlite/driver.ts";
import { formatCanonical } from "../../src/core/canonical/index.ts";
import { toWriteBundle } from "../../src/rooms/world/beat/bundle.ts";
import { appendRecord } from "../../src/rooms/world/history/commit.ts";
import { makeRows } from "../../src/rooms/world/history/make-rows.ts";
import { formatState } from "../../src/rooms/world/history/state.ts";
import { createWorld } from "../../src/rooms/world/history/worlds.ts";
import { toNumbers } from "../../src/rooms/world/people/audience.ts";
import type { EntryRow, PostingRow } from "../../src/rooms/world/ports.ts";
import { loadWorld } from "../../src/rooms/world/projection/reading.ts";
import { BLOCK, type IndexedEntry, toPostings, toRecentRow } from "../../src/rooms/world/retrieval/postings.ts";
import type { Bench } from "../harness.ts";
import { seededIntegers } from "../seed.ts";
import { lineOf, openBenchRoom } from "../world-corpus.ts";

const PEOPLE = [{ person_id: "ANA", display_name: "Ana" }];
const SETTINGS = { title: "Bench", timezone: "UTC", writer: { kind: "scripted", script: [] } };
/** Rounds of the harness at most, and the one before them. */
const ROUNDS = 41;
/** Rounds of both sides before that: a server that is up has its code compiled. */
const WARM_ROUNDS = 10;

/** The commit of a write bundle of three entries: record, chain, entries, audiences, terms, answer. */
export const worldAppend: Bench = {
  name: "world-append",
  what: "N commits of a write bundle of three entries with record, audiences, terms and answer, synchronous=FULL",
  baseline: "a bare transaction doing the same inserts, no triggers, ids and texts ready",
  corpus: "seeded 14-word lines",
  sizes: [50, 200],
  goal: { kind: "rate", atLeast: 0.8 },
  async prepare(size) {
    const { ports, path, close } = await openBenchRoom();
    await createWorld(ports, { world_id: "w_bench", start: null, people: PEOPLE, settings: SETTINGS });
    const next = seededIntegers(8);
    const author = { author_id: "ANA", author_class: "PERSON" } as const;
    const visibility = { scope: "PRIVATE", visible_to: ["ANA", "GEORGE"] } as const;
    const bundles = Array.from({ length: size }, () =>
      Array.from({ length: 3 }, () => ({ author, channel: "PEOPLE" as const, text: lineOf(next), visibility })),
    );
    const world = await ports.store.read((tx) => loadWorld(tx.world, "w_bench"));
    const numbers = toNumbers(world.cast, [{ number: 3, ...PEOPLE[0]! }]);
    const answer = "x".repeat(900);
    let run = 0;
    const toRecord = (state: typeof world.state, lines: (typeof bundles)[number]) => ({
      beat_no: state.next_beat,
      clock_after_ms: state.clock_ms,
      zone: state.zone,
      paused: false,
      due: [],
      packs: [],
      script_used: [],
      write_bundle: toWriteBundle(ports.crypto, state, {
        request_id: "bench",
        created_at_world: "2026-01-01T00:00:00+00:00",
        proposed_by: { engine: "ENGINE_1_INVOCATION", actor: "bench" },
        lines,
      }),
    });
    // What the floor inserts is worked out beforehand, from the state each bundle would have met.
    let state = world.state;
    const ready = bundles.map((lines, position) => {
      const record = toRecord(state, lines);
      const placed = { record: { kind: "WORLD_BEAT", body: record }, position } as const;
      const { effects, lines: made } = makeRows(ports.crypto, { state, numbers }, [placed]);
      state = effects.state;
      return {
        body: formatCanonical(record),
        entries: effects.entries,
        ...made,
        state: formatState(state),
      };
    });
    const bare = await openBare(`${path}.bare`, ready, WARM_ROUNDS + ROUNDS);
    const pair = {
      async ours() {
        run++;
        for (const [i, lines] of bundles.entries()) {
          await ports.store.transact(async (tx) => {
            const open = await loadWorld(tx.world, "w_bench");
            await appendRecord(ports, tx, open, "WORLD_BEAT", toRecord(open.state, lines) as never);
            const row = {
              body_sha256: "x",
              status: "DONE",
              fence: 1,
              lease_until: 0,
              outcome: answer,
              headers: "{}",
            } as const;
            await tx.world.putInvocation(open.number, { request_id: `r${run}-${i}`, ...row });
          });
        }
      },
      baseline() {
        for (let i = 0; i < size; i++) bare.commit(answer);
      },
      async close() {
        bare.close();
        await close();
      },
    };
    for (let i = 0; i < WARM_ROUNDS; i++) {
      await pair.ours();
      pair.baseline();
    }
    return pair;
  },
};

type Ready = {
  readonly body: string;
  readonly entries: readonly EntryRow[];
  readonly visible: readonly { readonly wseq: number; readonly person: number }[];
  readonly indexed: readonly IndexedEntry[];
  readonly state: string;
};

/** What one commit adds to the index: the keys of its lines, or a block that it fills and the keys behind it. */
interface IndexWrites {
  readonly settled: readonly PostingRow[];
  readonly recent: { readonly wseq: number; readonly keys: string } | null;
}

/** The index writes of so many commits, one after the other, worked out beforehand. */
function planIndex(ready: readonly Ready[], commits: number): IndexWrites[] {
  let waiting: IndexedEntry[] = [];
  let wseq = 1;
  return Array.from({ length: commits }, (_, at) => {
    const added = ready[at % ready.length]!.indexed.map(({ keys }) => ({ wseq: wseq++, keys }));
    const all = [...waiting, ...added];
    const full = wseq - (wseq % BLOCK);
    waiting = all.filter((entry) => entry.wseq >= full);
    const settled = toPostings(all.filter((entry) => entry.wseq < full));
    const rest = added.filter((entry) => entry.wseq >= full);
    return { settled, recent: rest.length === 0 ? null : toRecentRow(rest) };
  });
}

async function openBare(
  path: string,
  ready: readonly Ready[],
  rounds: number,
): Promise<{ commit(answer: string): void; close(): void }> {
  const { module } = await loadSqlite();
  const database = new module.DatabaseSync(path, {});
  for (const sql of [
    "pragma journal_mode = wal",
    "pragma synchronous = full",
    "create table ledger (idx integer primary key, stream text not null, position integer not null, previous text not null, kind text not null, time text not null, actor text not null, body_hash text not null, hash text not null unique, body text not null, unique (stream, position)) strict",
    "create table world (number integer primary key, state text not null) strict",
    "create table entry (world integer, wseq integer, entry_id text, bundle_id text, position integer, request_id text, created_ms integer, created_at text, author_id text, author_class text, channel text, scope text, audience text, text text, primary key (world, wseq), unique (world, entry_id)) strict, without rowid",
    "create table visible (world integer, person integer, wseq integer, primary key (world, person, wseq)) strict, without rowid",
    "create table terms (world integer, key text, block integer, lows blob, primary key (world, key, block)) strict, without rowid",
    "create table recent (world integer, wseq integer, keys text, primary key (world, wseq)) strict, without rowid",
    "create table invocation (world integer, request_id text, body_sha256 text, status text, fence integer, lease_until integer, outcome text, headers text, unique (world, request_id)) strict",
    "insert into world values (1, '')",
  ]) {
    database.exec(sql);
  }
  const prepared = {
    begin: database.prepare("begin immediate"),
    commit: database.prepare("commit"),
    ledger: database.prepare("insert into ledger values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
    entry: database.prepare("insert into entry values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
    visible: database.prepare("insert into visible values (?, ?, ?)"),
    terms: database.prepare(
      "insert into terms values (?, ?, ?, ?) on conflict (world, key, block) do update set lows = cast(lows || excluded.lows as blob)",
    ),
    recent: database.prepare("insert into recent values (?, ?, ?)"),
    settle: database.prepare("delete from recent where world = ?"),
    world: database.prepare("update world set state = ? where number = 1"),
    invocation: database.prepare("insert into invocation values (?, ?, ?, ?, ?, ?, ?, ?)"),
  };
  // Every round writes the same rows again under ids of its own: hashes like ours, which land anywhere in an index.
  const commits = ready.length * rounds;
  const ids = Array.from({ length: commits }, (_, at) => toIds(at));
  const plan = planIndex(ready, commits);
  let index = 0;
  return {
    commit(answer) {
      const at = index++;
      const { body, entries, visible, state } = ready[at % ready.length]!;
      const { settled, recent } = plan[at]!;
      const { hash, bundle_id, entry_ids } = ids[at]!;
      const shift = at * 3;
      prepared.begin.run();
      prepared.ledger.run(
        BigInt(at),
        "world/w_bench",
        BigInt(at),
        hash,
        "WORLD_BEAT",
        "2026-01-01T00:00:00.000Z",
        "library",
        hash,
        hash,
        body,
      );
      for (const [i, e] of entries.entries()) {
        const wseq = BigInt(shift + i + 1);
        prepared.entry.run(
          1n,
          wseq,
          entry_ids[i]!,
          bundle_id,
          BigInt(at),
          e.request_id,
          BigInt(e.created_ms),
          e.created_at,
          e.author_id,
          e.author_class,
          e.channel,
          e.scope,
          e.audience,
          e.text,
        );
      }
      for (const [i, { person }] of visible.entries())
        prepared.visible.run(1n, BigInt(person), BigInt(shift + Math.floor(i / 2) + 1));
      for (const { key, block, lows } of settled) prepared.terms.run(1n, key, BigInt(block), lows);
      if (settled.length > 0) prepared.settle.run(1n);
      if (recent !== null) prepared.recent.run(1n, BigInt(recent.wseq), recent.keys);
      prepared.world.run(state);
      prepared.invocation.run(1n, `r${at}`, "x", "DONE", 1n, 0n, answer, "{}");
      prepared.commit.run();
    },
    close: () => database.close(),
  };
}

function toIds(at: number): {
  readonly hash: string;
  readonly bundle_id: string;
  readonly entry_ids: readonly string[];
} {
  const hash = createHash("sha256").update(`${at}`).digest("hex");
  const id = (from: number) => hash.slice(from, from + 16);
  return { hash, bundle_id: `b_${id(0)}`, entry_ids: [`e_${id(16)}`, `e_${id(32)}`, `e_${id(48)}`] };
}

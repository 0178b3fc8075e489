import { z } from "zod";
import { compareCodePoints, parseJson } from "../canonical/index.ts";
import { VerbatimError } from "../errors/index.ts";
import { defineOperation, READER } from "../operation.ts";
import type { IndexedEntry, LedgerReader } from "../ports.ts";
import { formatTime, isTime, parseTime } from "../time.ts";
import { formatEntry } from "./entry.ts";
import { findBegin } from "./find-begin.ts";
import type { LedgerPorts } from "./operation-ports.ts";
import { TRUST_RECORDS } from "./records.ts";

const EXCERPT = 80;
const MOST_NAMES = 50;

const count = z.int().min(0);
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const stream = z.string().min(1);
const time = z.string().refine(isTime, "must be a time like 2025-01-02T03:04:05.000Z");
const names = z.array(z.string().min(1).max(500)).min(1).max(MOST_NAMES);

const line = z.strictObject({
  index: count,
  stream,
  position: count,
  kind: z.string(),
  time: z.string(),
  actor: z.string(),
  hash,
  excerpt: z.string().describe("The first 80 characters of the body."),
});

export const ledgerBrowse = defineOperation({
  name: "ledger.browse",
  summary: "Lists entries of all streams, newest first, by stream, kind, actor and time.",
  effect: "read",
  who: READER,
  input: z.strictObject({
    before: count.optional().describe("Only entries below this global index: where the last page ended."),
    streams: names.optional().describe("Only these streams."),
    kinds: names.optional().describe("Only these kinds."),
    actor: z.string().min(1).max(500).optional().describe("Only what this actor wrote."),
    from: time.optional().describe("Only what was written at this time or later."),
    to: time.optional().describe("Only what was written before this time."),
    limit: z.int().min(1).max(200).default(50).describe("Maximum number of entries."),
  }),
  output: z.strictObject({
    total: count.describe("Entries of the whole ledger."),
    items: z.array(line),
    next: count.nullable().describe("Where the next page goes on; null: this is the last one."),
  }),
  run: async ({ store }: LedgerPorts, { limit, ...query }) =>
    store.read(async ({ ledger }) => {
      const found = await ledger.browse({ ...query, limit: limit + 1 });
      const items = found.slice(0, limit).map(toLine);
      return { total: await ledger.size(), items, next: found.length > limit ? items.at(-1)!.index : null };
    }),
});

function toLine({ index, entry }: IndexedEntry) {
  const { stream: name, position, kind, time: at, actor, hash: sealed, body } = entry;
  return { index, stream: name, position, kind, time: at, actor, hash: sealed, excerpt: cut(body) };
}

/** Whole characters only: half of one is no text. */
function cut(body: string): string {
  return [...body.slice(0, EXCERPT * 2)].slice(0, EXCERPT).join("");
}

export const ledgerEntry = defineOperation({
  name: "ledger.entry",
  summary: "Shows one entry: its fields, its exact bytes, and its neighbours in its stream.",
  effect: "read",
  who: READER,
  input: z.strictObject({
    index: count.optional().describe("Global index of the entry."),
    hash: hash.optional().describe("Hash of the entry, instead of its index."),
  }),
  output: z.strictObject({
    index: count,
    stream,
    position: count,
    previous: hash,
    kind: z.string(),
    time: z.string(),
    actor: z.string(),
    body: z.unknown().describe("The body of the entry, any JSON value."),
    body_text: z.string().describe("The body as the canonical JSON that was hashed."),
    body_hash: hash,
    hash,
    line: z.string().describe("The whole entry as one line of canonical JSON."),
    before: count.nullable().describe("Global index of the entry before it in its stream."),
    after: count.nullable().describe("Global index of the entry after it in its stream."),
    size: count.describe("Entries of the whole ledger."),
  }),
  run: async ({ store }: LedgerPorts, input) =>
    store.read(async ({ ledger }) => {
      const { index, entry } = await findEntry(ledger, input);
      const { body, ...head } = entry;
      return {
        ...head,
        index,
        body: parseJson(body),
        body_text: body,
        line: formatEntry(entry),
        before: await indexAt(ledger, entry.stream, entry.position - 1),
        after: await indexAt(ledger, entry.stream, entry.position + 1),
        size: await ledger.size(),
      };
    }),
});

async function findEntry(
  ledger: LedgerReader,
  asked: { readonly index?: number | undefined; readonly hash?: string | undefined },
): Promise<IndexedEntry> {
  if ((asked.index === undefined) === (asked.hash === undefined))
    throw new VerbatimError("INPUT_INVALID", { message: "give either the index of an entry or its hash" });
  const found =
    asked.hash === undefined ? (await ledger.readAll(asked.index!, 1))[0] : await ledger.findByHash(asked.hash);
  if (found !== undefined && found !== null) return found;
  throw new VerbatimError("LEDGER_ENTRY_UNKNOWN", { details: { entry: asked.hash ?? asked.index } });
}

async function indexAt(ledger: LedgerReader, name: string, position: number): Promise<number | null> {
  if (position < 0) return null;
  const [entry] = await ledger.readStream(name, position, 1);
  return entry === undefined ? null : ((await ledger.findByHash(entry.hash))?.index ?? null);
}

export const ledgerStreams = defineOperation({
  name: "ledger.streams",
  summary: "Lists the streams of the ledger with their lengths, by name.",
  effect: "read",
  who: READER,
  input: z.strictObject({
    prefix: z.string().max(500).default("").describe("Only streams whose names begin so."),
    after: z.string().max(500).optional().describe("Only streams after this one, by name."),
    limit: z.int().min(1).max(200).default(50).describe("Maximum number of streams."),
  }),
  output: z.strictObject({
    items: z.array(z.strictObject({ stream, length: count })),
    next: stream.nullable().describe("Where the next page goes on; null: this is the last one."),
  }),
  run: async ({ store }: LedgerPorts, { prefix, after, limit }) =>
    store.read(async ({ ledger }) => {
      const fitting = (await ledger.streams())
        .filter((one) => one.stream.startsWith(prefix))
        .filter((one) => after === undefined || compareCodePoints(one.stream, after) > 0)
        .sort((a, b) => compareCodePoints(a.stream, b.stream));
      const items = fitting.slice(0, limit);
      return { items, next: fitting.length > limit ? items.at(-1)!.stream : null };
    }),
});

export const ledgerGrowth = defineOperation({
  name: "ledger.growth",
  summary: "Counts the entries written in each part of a time, by room.",
  effect: "read",
  who: READER,
  input: z.strictObject({
    from: time.optional().describe("Beginning of the time (default: when the first entry was written)."),
    to: time.optional().describe("End of the time (default: after the last entry)."),
    buckets: z.int().min(1).max(500).default(60).describe("Parts of equal length."),
  }),
  output: z.strictObject({
    from: z.string().nullable().describe("Null: the ledger is empty."),
    to: z.string().nullable(),
    rooms: z.array(z.string()).describe("First words of the names of streams."),
    buckets: z.array(z.strictObject({ at: z.string(), entries: z.array(count).describe("One number for each room.") })),
  }),
  run: async ({ store }: LedgerPorts, input) => store.read(({ ledger }) => measureGrowth(ledger, input)),
});

async function measureGrowth(
  ledger: LedgerReader,
  input: { readonly from?: string | undefined; readonly to?: string | undefined; readonly buckets: number },
) {
  const size = await ledger.size();
  const timeOf = async (index: number) => parseTime((await ledger.readAll(index, 1))[0]!.entry.time);
  if (size === 0) return { from: null, to: null, rooms: [], buckets: [] };
  const start = input.from === undefined ? await timeOf(0) : parseTime(input.from);
  const end = Math.max(input.to === undefined ? (await timeOf(size - 1)) + 1 : parseTime(input.to), start + 1);
  const parts = Math.min(input.buckets, end - start);
  const edge = (n: number) => Math.floor(start + ((end - start) * n) / parts);
  const bounds: number[] = [];
  for (let n = 0; n <= parts; n++) bounds.push(await findBegin(timeOf, edge(n), bounds.at(-1) ?? 0, size));
  const counted: ReadonlyMap<string, number>[] = [];
  for (let n = 0; n < parts; n++) counted.push(await countRooms(ledger, bounds[n]!, bounds[n + 1]!));
  const rooms = [...new Set(counted.flatMap((one) => [...one.keys()]))].sort(compareCodePoints);
  return {
    from: formatTime(start),
    to: formatTime(end),
    rooms,
    buckets: counted.map((one, n) => ({
      at: formatTime(edge(n)),
      entries: rooms.map((room) => one.get(room) ?? 0),
    })),
  };
}

async function countRooms(ledger: LedgerReader, from: number, to: number): Promise<ReadonlyMap<string, number>> {
  const rooms = new Map<string, number>();
  if (from === to) return rooms;
  for (const { stream: name, entries } of await ledger.tally(from, to)) {
    const room = /^[^/:]*/.exec(name)![0];
    rooms.set(room, (rooms.get(room) ?? 0) + entries);
  }
  return rooms;
}

export const ledgerCheckpoints = defineOperation({
  name: "ledger.checkpoints",
  summary: "Lists the checkpoints that were signed, newest first.",
  effect: "read",
  who: READER,
  input: z.strictObject({
    before: count.optional().describe("Only checkpoints recorded below this global index."),
    limit: z.int().min(1).max(200).default(50).describe("Maximum number of checkpoints."),
  }),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        index: count.describe("Global index of the entry that records it."),
        time: z.string(),
        actor: z.string(),
        ledger_id: z.string(),
        tree_size: count,
        root_hash: hash,
        key_id: hash.describe("Key that signed it."),
        signer: z.string().nullable().describe("What this machine calls that key; null: it is not one of its keys."),
      }),
    ),
    next: count.nullable().describe("Where the next page goes on; null: this is the last one."),
  }),
  async run({ store, listKeys }: LedgerPorts, { before, limit }) {
    const signers = new Map((await listKeys()).map(({ key_id, name }) => [key_id, name]));
    return store.read(async ({ ledger }) => {
      const found = await ledger.browse({ before, streams: ["trust"], kinds: ["CHECKPOINT"], limit: limit + 1 });
      const items = found.slice(0, limit).map(({ index, entry }) => {
        const { frontier: _, ...body } = TRUST_RECORDS.read(entry).body;
        return { index, time: entry.time, actor: entry.actor, ...body, signer: signers.get(body.key_id) ?? null };
      });
      return { items, next: found.length > limit ? items.at(-1)!.index : null };
    });
  },
});

/** What a reader asks of the ledger: pages, one entry, streams, growth, checkpoints. */
export const BROWSE_OPERATIONS = [ledgerBrowse, ledgerEntry, ledgerStreams, ledgerGrowth, ledgerCheckpoints] as const;

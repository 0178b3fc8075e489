import { describe, expect, it } from "vitest";
import { intlGraphemes } from "../../src/adapters/intl/graphemes.ts";
import { makeZones } from "../../src/adapters/intl/zones.ts";
import type { JsonValue } from "../../src/core/canonical/index.ts";
import type { CheckContext, LedgerEntry } from "../../src/rooms/world/contracts/context.ts";
import {
  checkCapsule,
  checkRehydration,
  checkRetrievalPack,
  checkSceneAnchor,
} from "../../src/rooms/world/contracts/packs.ts";
import { checkProjectionOutput } from "../../src/rooms/world/contracts/projection-output.ts";
import { checkWriteBundle } from "../../src/rooms/world/contracts/write-bundle.ts";
import type { Cast } from "../../src/rooms/world/people/cast.ts";
import { setPresence, startScene } from "../../src/rooms/world/people/people.ts";
import { readCapsule, readPage, search } from "../../src/rooms/world/projection/views.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { envelope, ListedModel, makeHarbour, OLLAMA, openWorlds, type TestWorlds } from "../support/world.ts";
import { answerOf, foundBy, knownTo, onScreen } from "../support/world-oracle.ts";

// Everything a world answers, judged by the contracts and against what its records alone say.

const postgres = await usePostgres();
const EVERYBODY = ["ANA", "BEN", "GEORGE"];
const WORDS = ["boat", "lamp", "tea", "pier", "key", "storm"];
const judge = { zones: makeZones(), graphemes: intlGraphemes };

interface Lived {
  /** Entries in the order of the records. */
  readonly entries: LedgerEntry[];
  readonly records: readonly { readonly kind: string; readonly body: string }[];
}

async function readLedger({ ports }: TestWorlds, id: string): Promise<Lived> {
  const records = await ports.store.read((tx) => tx.ledger.readStream(`world/${id}`, 0, 1000));
  const written = records.flatMap(({ body }) => {
    const { write_bundle: bundle } = JSON.parse(body) as { write_bundle?: { entries: LedgerEntry[] } | null };
    return bundle?.entries ?? [];
  });
  return { records, entries: written.map((entry, i) => ({ ...entry, wseq: i + 1 })) };
}

const castOf = (present: readonly string[]): Cast => ({
  operator_id: "GEORGE",
  operator_name: "George",
  people: new Map([
    ["ANA", "Ana"],
    ["BEN", "Ben"],
  ]),
  present,
  visibility_default: "presence",
  writer_lint: "report",
});

/** Judges what the newest record holds. */
function judgeRecord({ records, entries }: Lived, cast: Cast): void {
  const body = JSON.parse(records.at(-1)!.body) as Record<string, JsonValue>;
  const known = new Map(entries.map((entry) => [entry.entry_id, entry]));
  const context: CheckContext = { ...judge, cast, entries: known, view: { kind: "room", present: cast.present } };
  if (body["write_bundle"] !== null) checkWriteBundle(body["write_bundle"]!, { ...context, position: "committed" });
  for (const anchor of body["anchors"] as JsonValue[]) checkSceneAnchor(anchor, context);
  for (const pack of body["rehydration"] as JsonValue[]) checkRehydration(pack, context);
}

/** Compares every read of every viewer with what the entries say. */
async function judgeReads(worlds: TestWorlds, id: string, { entries }: Lived, cast: Cast): Promise<void> {
  const known = new Map(entries.map((entry) => [entry.entry_id, entry]));
  for (const viewer of EVERYBODY) {
    const view = { kind: "viewer", id: viewer } as const;
    const page = await readPage(worlds.ports, id, { viewer, after: null, before: null, limit: 200 });
    expect(page.entries).toEqual(knownTo(viewer, entries).slice(-200).map(onScreen));
    const words = ["boat", "tea", "key"];
    const query = { query_text: words.join(" "), limit: 20, person_id: null, from: null, to: null };
    const pack = await search(worlds.ports, id, viewer, query);
    checkRetrievalPack(pack as never, { ...judge, cast, view, entries: known });
    expect(pack.results.map(({ entry_id }) => entry_id)).toEqual(foundBy(viewer, entries, words, 20));
    for (const person of EVERYBODY) {
      const capsule = await readCapsule(worlds.ports, id, person, viewer);
      checkCapsule(capsule as never, { ...judge, cast, view, entries: known });
    }
  }
}

/** Tells a story and judges it beat by beat; gives how many lines it came to. */
async function tell(worlds: TestWorlds, models: ListedModel, seed: number): Promise<number> {
  let state = seed;
  const dice = (sides: number) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * sides);
  };
  const pick = <T>(from: readonly T[]): T => from[dice(from.length)]!;
  const words = () => Array.from({ length: 1 + dice(6) }, () => pick(WORDS)).join(" ");
  const context = { window_tokens: 18_000, output_reserve: 1024, threshold_percent: 50, pack_percent: 20 };
  const id = await makeHarbour(worlds, { ...OLLAMA, context });
  let present: string[] = ["GEORGE"];
  for (let beat = 0; beat < 12; beat++) {
    if (dice(3) === 0) {
      present = EVERYBODY.filter(() => dice(3) > 0);
      if (dice(2) === 0) await setPresence(worlds.ports, id, present);
      else await startScene(worlds.ports, id, { text: words(), present });
    }
    const cast = castOf(present);
    const here = present.filter((one) => one !== "GEORGE");
    const entries = here.map((one) => ({
      author: { author_id: one, author_class: "PERSON" },
      channel: "PEOPLE",
      text: words().repeat(1 + dice(30)),
      ...(dice(3) === 0 ? { visibility: { scope: "PRIVATE", visible_to: [one] } } : {}),
    }));
    models.answers.splice(0, Number.POSITIVE_INFINITY, JSON.stringify({ proposed_write_bundle: { entries } }));
    const before = await readLedger(worlds, id);
    const after = dice(2) === 0 ? null : (knownTo("GEORGE", before.entries).at(-1)?.entry_id ?? null);
    const cursor = after === null ? null : await cursorOf(worlds, id, after);
    const sent = envelope(`r${beat}`, dice(4) === 0 ? "" : words(), { ui: { stream_cursor: cursor } });
    const output = checkProjectionOutput(JSON.parse((await worlds.beats.invoke(id, sent)).body) as JsonValue, {
      request_id: `r${beat}`,
    });
    const lived = await readLedger(worlds, id);
    judgeRecord(lived, cast);
    const bundle = (JSON.parse(lived.records.at(-1)!.body) as { write_bundle: { bundle_id: string } | null })
      .write_bundle;
    const expected = answerOf("GEORGE", lived.entries, after, bundle?.bundle_id ?? null);
    expect(output.stream.entries).toEqual(expected.entries);
    expect(output.debug).toEqual(expected.debug);
    expect(output.stream.cursor_before).toBe(cursor);
    expect(output.stream.cursor_after?.split(".")[1] ?? null).toBe(expected.last);
    if (beat % 4 === 3) await judgeReads(worlds, id, lived, cast);
  }
  return (await readLedger(worlds, id)).entries.length;
}

async function cursorOf({ ports }: TestWorlds, id: string, entryId: string): Promise<string> {
  const page = await readPage(ports, id, { viewer: null, after: null, before: null, limit: 1 });
  expect(page.entries[0]!.entry_id).toBe(entryId);
  return page.cursor_after!;
}

describe.each([
  { database: "SQLite", reason: null, stories: [1, 2, 3] },
  { database: "PostgreSQL", reason: postgres.reason, stories: [4] },
])("a world on $database", ({ database, reason, stories }) => {
  it.each(stories)(
    "answers as the contracts say and as its records have it (story %i)",
    needs(reason),
    async (seed) => {
      const models = new ListedModel();
      const made = database === "SQLite" ? null : await postgres.createDatabase();
      try {
        await using worlds = await openWorlds({ models, ...(made === null ? {} : { url: made.url }) });
        expect(await tell(worlds, models, seed)).toBeGreaterThan(8);
      } finally {
        await made?.drop();
      }
    },
  );
});

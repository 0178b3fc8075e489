import { formatCanonical, toJson } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { WorldPorts, WorldReadTransaction } from "../operations/ports.ts";
import type { CalendarRow, MarkChange, PersonRow, WorldRow, WorldWriter } from "../ports.ts";
import { type LineageRecord, readAncestors, readRecord, readRecords, toRecord } from "./lineage.ts";
import { compareMarks } from "./marks.ts";
import { type Effects, mergeEffects, reduceRecord } from "./reduce.ts";
import { parseState, streamOf, type WorldState } from "./state.ts";

/** A world at one place of its stream, but for its lines and messages: those a fork reads where they are. */
export interface Image {
  readonly state: WorldState;
  readonly people: readonly PersonRow[];
  readonly calendar: readonly CalendarRow[];
  /** Absent in a world that has none. */
  readonly marks?: readonly MarkChange[];
}

/** Every so many beats what a world was is kept, so that a fork of a recent beat replays few records. */
const EVERY = 16;
/** With the distance above, each of the newest 32 beats has one before it. */
const KEEP_IMAGES = 3;

/** Keeps what a world is before the beat that is being written, when its turn has come. */
export function keepImage(
  tables: WorldWriter,
  row: WorldRow,
  state: WorldState,
  position: number,
): Promise<void> | undefined {
  if (state.next_beat % EVERY !== 0) return undefined;
  return readImage(tables, row).then((image) => storeImage(tables, row.number, image, position));
}

/** Keeps an image as what the world was before a position of its stream. */
export function storeImage(tables: WorldWriter, world: number, image: Image, position: number): Promise<void> {
  return tables.addStateAt(world, { position, body: formatImage(image) }, KEEP_IMAGES);
}

/** The image as the store keeps it. */
export function formatImage({ state, people, calendar, marks = [] }: Image): string {
  const sorted = [...marks].sort(compareMarks).map(({ kind, id, number, body }) => ({ kind, id, number, body }));
  return formatCanonical(toJson({ state, people, calendar, ...(sorted.length === 0 ? {} : { marks: sorted }) }));
}

/** The image of what the store kept. */
export function parseImage(body: string): Image {
  return JSON.parse(body) as Image;
}

async function readImage(tables: WorldReadTransaction["world"], row: WorldRow): Promise<Image> {
  const [people, calendar] = [await tables.people(row.number), await tables.calendar(row.number)];
  const state = parseState(row);
  return { state, people, calendar, marks: state.marks === undefined ? [] : await tables.marks(row.number) };
}

/** What a world was after a record of its own: as it is now, from what was kept, or from all of its records. */
export async function imageAfter(
  ports: Pick<WorldPorts, "store" | "content">,
  worldId: string,
  position: number,
): Promise<Image> {
  const near = await ports.store.read(async (tx) => {
    const row = await tx.world.find(worldId);
    if (row === null) throw new VerbatimError("WORLD_NOT_FOUND", { where: worldId });
    if ((await tx.ledger.head(streamOf(worldId)))?.position === position) return readImage(tx.world, row);
    const kept = (await tx.world.statesAt(row.number)).findLast((one) => one.position <= position + 1);
    if (kept === undefined) return null;
    const wanted = position + 1 - kept.position;
    const entries = wanted === 0 ? [] : await tx.ledger.readStream(streamOf(worldId), kept.position, wanted);
    const records = entries.map((entry) => toRecord(entry, worldId, null));
    return replay(parseImage(kept.body), records);
  });
  if (near !== null) return near;
  const own = await ports.store.read((tx) => readRecords(tx.ledger, worldId));
  return toImage([...(await readAncestors(ports, own[0])), ...own.filter((record) => record.position <= position)]);
}

/** What a world is after all of these records of its lineage. */
export function toImage(records: readonly LineageRecord[]): Image {
  return replay(null, records);
}

/** An image after some more records. */
export function replay(from: Image | null, records: readonly LineageRecord[]): Image {
  const nothing = { renamed: [], entries: [], calendar_states: [], messages: [] } as const;
  const effects: Effects[] = from === null ? [] : [{ ...nothing, marks: [], ...from }];
  for (const record of records) {
    effects.push(reduceRecord(effects.at(-1)?.state ?? null, readRecord(record), record.position));
  }
  if (effects.length === 0) throw new VerbatimError("INTERNAL", { message: "a world has no records" });
  const { state, people, calendar, marks } = mergeEffects(effects);
  return { state, people, calendar, marks };
}

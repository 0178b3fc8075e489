import type { JsonShape } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toHex } from "../../../core/hex.ts";
import { WORLD_RECORDS } from "../contracts/records.ts";
import type { WorldPorts, WorldReadTransaction } from "../operations/ports.ts";
import type { LineageRow } from "../ports.ts";
import { loadWorld, resolveCursor, viewerView } from "../projection/reading.ts";
import { listVersion, numberVersion, plantCopy, type Target } from "./history.ts";
import { type Image, imageAfter, parseImage, replay, storeImage, toImage } from "./image.ts";
import { type LineageRecord, readAncestors, readRecord, readRecords, toRecord } from "./lineage.ts";
import { makeOnce, type OnceKey } from "./once.ts";
import { reduceRecord } from "./reduce.ts";
import { MAX_SEGMENTS, shareRows } from "./shared-rows.ts";
import { formatState, streamOf, type WorldState } from "./state.ts";
import { exists, requireWorldId, toWorldId } from "./worlds.ts";

/** Where a fork begins: behind a record of a world that is here. */
export interface ForkOrigin {
  readonly parent: Pick<LineageRecord, "world_id" | "position" | "hash">;
  readonly image: Image;
}

/** Forks a world after the beat that holds an entry. The parent stays as it is. */
export async function forkWorld(
  ports: WorldPorts,
  worldId: string,
  wanted: {
    readonly cursor: string;
    readonly viewer: string | null;
    readonly world_id: string | null;
    readonly title: string | null;
  },
  key: string | null = null,
): Promise<{ readonly world_id: string; readonly parent_world_id: string; readonly parent_position: number }> {
  const { wseq, title } = await ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const viewer = wanted.viewer ?? world.cast.operator_id;
    viewerView(world, viewer);
    const at = await resolveCursor(ports, tx.world, world, viewer, wanted.cursor, "/cursor");
    return { wseq: at, title: world.state.settings.title };
  });
  const forkId = requireWorldId(wanted.world_id ?? (await freeId(ports, worldId, wanted.title)));
  const target = {
    world_id: forkId,
    title: wanted.title ?? `${title.slice(0, 113).toWellFormed()} (fork)`,
    world_key: toHex(ports.random.bytes(32)),
    outcomes: [],
  };
  const once = { key, body: { fork: worldId, ...wanted } };
  const answer = ({ world_id, position }: ForkOrigin["parent"]) => ({
    world_id: forkId,
    parent_world_id: world_id,
    parent_position: position,
  });
  const parent = await findRecord(ports, worldId, wseq);
  if (parent !== null) {
    const origin = { parent, image: await imageAfter(ports, parent.world_id, parent.position) };
    return plantFork(ports, origin, target, once, answer(parent));
  }
  // What an export brought along lies in no stream of this ledger, and an older fork does not say where it begins.
  const own = await ports.store.read((tx) => readRecords(tx.ledger, worldId));
  const lineage = [...(await readAncestors(ports, own[0])), ...own];
  const at = findRecordOf(lineage, wseq);
  const record = lineage[at];
  if (record === undefined) {
    throw new VerbatimError("INTERNAL", { message: "no record contains the entry of the cursor" });
  }
  const records = lineage.slice(0, at + 1);
  if (record.source === null) {
    return plantFork(ports, { parent: record, image: toImage(records) }, target, once, answer(record));
  }
  return plantCopy(ports, { records, parent: record, source_sha256: record.source }, target, once, answer(record));
}

/** Writes a fork that shares the rows of its parent; one of very many generations gets rows of its own. */
export async function plantFork<T extends object>(
  ports: WorldPorts,
  { parent, image }: ForkOrigin,
  target: Target,
  once: OnceKey | null,
  value: T & JsonShape<T>,
): Promise<T> {
  const lineage = await ports.store.read((tx) => lineageOf(tx, parent.world_id, image.state));
  if (lineage.length >= MAX_SEGMENTS) {
    const own = await ports.store.read((tx) => readRecords(tx.ledger, parent.world_id));
    const records = [...(await readAncestors(ports, own[0])), ...own.slice(0, parent.position + 1)];
    return plantCopy<T>(ports, { records, parent: records.at(-1)!, source_sha256: null }, target, once, value);
  }
  const body = {
    world_id: target.world_id,
    title: target.title,
    world_key: target.world_key,
    parent_world_id: parent.world_id,
    parent_position: parent.position,
    parent_hash: parent.hash,
    source_sha256: null,
  };
  return makeOnce<T>(ports, once, async (tx) => {
    const stream = streamOf(target.world_id);
    if ((await tx.ledger.head(stream)) !== null) throw exists(target.world_id);
    const planted = { ...body, ...(await numberVersion(tx.world, target.version)) };
    const entry = WORLD_RECORDS.make("WORLD_FORKED", ports.actor, planted);
    const [sealed] = await tx.ledger.append(stream, 0, [entry]);
    const forked = replay(image, [toRecord(sealed!, target.world_id, null)]);
    const number = await tx.world.addWorld(target.world_id, formatState(forked.state));
    await tx.world.addPeople(number, forked.people);
    await tx.world.addCalendar(number, forked.calendar);
    if ((forked.marks ?? []).length > 0) await tx.world.setMarks(number, forked.marks!);
    await tx.world.addLineage(number, lineage);
    await listVersion(tx.world, number, forked.state);
    await storeImage(tx.world, number, forked, 1);
    return { world: number, value };
  });
}

async function lineageOf(tx: WorldReadTransaction, parentId: string, state: WorldState): Promise<LineageRow[]> {
  const parent = await loadWorld(tx.world, parentId);
  const point = { wseq: state.next_wseq - 1, message: state.next_message - 1 };
  return shareRows(parent.number, await tx.world.lineage(parent.number), point);
}

/** Which record of this ledger wrote an entry, found by the entry's row; null where the row does not tell. */
async function findRecord(ports: WorldPorts, worldId: string, wseq: number): Promise<ForkOrigin["parent"] | null> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const lineage = await tx.world.lineage(world.number);
    const owner = lineage.find(({ upto_wseq }) => wseq <= upto_wseq)?.ancestor ?? world.number;
    const ownerId = (await tx.world.idOf(owner))!;
    const first = await firstOwn(tx, owner, ownerId);
    if (first === null || wseq < first) return null;
    const [entry] = await tx.world.scan(world.number, wseq - 1, 1);
    const [record] = await tx.ledger.readStream(streamOf(ownerId), entry!.position, 1);
    return { world_id: ownerId, position: record!.position, hash: record!.hash };
  });
}

/** Number of the first line that a world wrote itself; null where only its records know. */
async function firstOwn(tx: WorldReadTransaction, world: number, worldId: string): Promise<number | null> {
  const [record] = await tx.ledger.readStream(streamOf(worldId), 0, 1);
  if (record?.kind === "WORLD_CREATED") return 1;
  const lineage = await tx.world.lineage(world);
  if (lineage.length > 0) return lineage.at(-1)!.upto_wseq + 1;
  const [planted] = await tx.world.statesAt(world);
  return planted?.position === 1 ? parseImage(planted.body).state.next_wseq : null;
}

/** Which record wrote an entry: the first behind which its number is taken. */
function findRecordOf(records: readonly LineageRecord[], wseq: number): number {
  let state: WorldState | null = null;
  return records.findIndex((one) => {
    state = reduceRecord(state, readRecord(one), one.position).state;
    return state.next_wseq > wseq;
  });
}

/** An id nobody has: of the title when there is one, else of the parent; numbered when it is taken. */
async function freeId(ports: WorldPorts, worldId: string, title: string | null): Promise<string> {
  const base = title === null ? worldId : toWorldId(title);
  return ports.store.read(async (tx) => {
    for (let n = title === null ? 2 : 1; ; n++) {
      const id = n === 1 ? base : `${base.slice(0, 56)}-${n}`;
      if ((await tx.world.find(id)) === null && (await tx.ledger.head(streamOf(id))) === null) return id;
    }
  });
}

import { decodeUtf8, type JsonObject, parseJson } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { EntryRecord, LedgerReader } from "../../../core/ports.ts";
import { WORLD_RECORDS, type WorldRecord } from "../contracts/records.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { PlacedRecord } from "./make-rows.ts";
import { streamOf } from "./state.ts";
import { readWorldFile } from "./world-file.ts";

/** An entry of a world or of one of its ancestors. Its body is only as good as the chain it stands in. */
export interface LineageRecord {
  readonly kind: string;
  readonly position: number;
  readonly body: JsonObject;
  readonly world_id: string;
  readonly hash: string;
  /** Blob of the export it comes from; null for what is in this ledger. */
  readonly source: string | null;
  readonly entry: EntryRecord;
}

const PAGE = 500;

/** What a record says; throws INTERNAL for a body that no world writes. */
export function readRecord({ kind, body, entry }: LineageRecord): WorldRecord {
  const record = WORLD_RECORDS.check(kind, body);
  if (typeof record !== "string") return record;
  throw new VerbatimError("INTERNAL", { message: record, where: `${entry.stream}@${entry.position}` });
}

/** All records of a stream. */
export async function readRecords(ledger: LedgerReader, worldId: string): Promise<LineageRecord[]> {
  const records: LineageRecord[] = [];
  for (;;) {
    const page = await ledger.readStream(streamOf(worldId), records.length, PAGE);
    records.push(...page.map((entry) => toRecord(entry, worldId, null)));
    if (page.length < PAGE) return records;
  }
}

/** A ledger entry as a record of a world. */
export function toRecord(entry: EntryRecord, worldId: string, source: string | null): LineageRecord {
  const { kind, position, hash } = entry;
  return { kind, position, hash, world_id: worldId, source, entry, body: parseJson(entry.body) as JsonObject };
}

/** The records before a world's own first one: those of the world it was forked from, oldest first. */
export async function readAncestors(
  ports: Pick<WorldPorts, "store" | "content">,
  first: LineageRecord | undefined,
): Promise<LineageRecord[]> {
  if (first?.kind !== "WORLD_FORKED") return [];
  const fork = readRecord(first);
  if (fork.kind !== "WORLD_FORKED") return [];
  const { parent_world_id: parent, parent_position: position, source_sha256: source } = fork.body;
  const records =
    source === null
      ? await ports.store.read((tx) => readRecords(tx.ledger, parent))
      : (await readSource(ports, source)).filter(({ world_id }) => world_id === parent);
  const before =
    source === null
      ? await readAncestors(ports, records[0])
      : (await readSource(ports, source)).filter(({ world_id }) => world_id !== parent);
  return [...before, ...records.filter((record) => record.position <= position)];
}

async function readSource(ports: Pick<WorldPorts, "content">, sha256: string): Promise<LineageRecord[]> {
  const text = decodeUtf8(await ports.content.get(sha256));
  if (text === null) throw new VerbatimError("CONTENT_STORE_CORRUPT", { where: sha256 });
  return readWorldFile(text).records.map((entry) => toRecord(entry, entry.stream.slice("world/".length), sha256));
}

/** Records as `makeRows` takes them. A stream without any is INTERNAL: nothing was ever written like that. */
export function toPlaced(records: readonly LineageRecord[]): [PlacedRecord, ...PlacedRecord[]] {
  const [first, ...rest] = records.map((one) => ({ record: readRecord(one), position: one.position }));
  if (first === undefined) throw new VerbatimError("INTERNAL", { message: "a world has no records" });
  return [first, ...rest];
}

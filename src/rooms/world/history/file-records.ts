import { isVerbatimError } from "../../../core/errors/index.ts";
import type { EntryRecord } from "../../../core/ports.ts";
import { WORLD_RECORDS, type WorldRecord } from "../contracts/records.ts";
import { checkWriteBundle, MAX_IMPORT_ENTRIES } from "../contracts/write-bundle.ts";
import { toBundleId, toEntryId } from "../ids.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { PersonRow } from "../ports.ts";
import { type LineageRecord, toRecord } from "./lineage.ts";
import { type Effects, mergeEffects, reduceRecord } from "./reduce.ts";
import { castOf, keyOf, type WorldState } from "./state.ts";
import type { FileFinding } from "./world-file.ts";

type Ports = Pick<WorldPorts, "crypto" | "zones" | "graphemes">;

/** Replays the records of an export and checks what they write; the first problem is the finding. */
export function replayFile(
  ports: Ports,
  entries: readonly EntryRecord[],
): { readonly image: Effects | null; readonly records: readonly LineageRecord[]; readonly findings: FileFinding[] } {
  const effects: Effects[] = [];
  const records: LineageRecord[] = [];
  const people: PersonRow[] = [];
  let state: WorldState | null = null;
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const [i, entry] of entries.entries()) {
    try {
      const record = toRecord(entry, entry.stream.slice("world/".length), null);
      const read = checkRecord(record, records.at(-1));
      if (typeof read === "string") return stopped(i, read);
      const next: Effects = reduceRecord(state, read, record.position);
      people.push(...next.people);
      const unlawful = describeWrites(ports, record, state, next, people, lastMs);
      if (unlawful !== null) return stopped(i, unlawful);
      lastMs = next.entries.at(-1)?.created_ms ?? lastMs;
      state = next.state;
      effects.push(next);
      records.push(record);
    } catch (thrown) {
      if (!isVerbatimError(thrown)) throw thrown;
      return stopped(i, `${thrown.code}: ${thrown.message}`);
    }
  }
  if (state === null) return stopped(0, "the file has no records");
  return { image: mergeEffects(effects), records, findings: [] };
}

function stopped(index: number, message: string): ReturnType<typeof replayFile> {
  const finding = {
    code: "WORLD_FILE_MALFORMED",
    where: `record ${index + 1}`,
    message,
    fix: "Export the world again.",
  };
  return { image: null, records: [], findings: [finding] };
}

/** What a record says, or why it cannot stand where it does; a file may hold anything. */
function checkRecord(record: LineageRecord, before: LineageRecord | undefined): WorldRecord | string {
  // A world that was deleted is not exported.
  const isKnown = WORLD_RECORDS.is(record.kind) && record.kind !== "WORLD_DELETED";
  if (!isKnown) return `a world has no record of kind ${record.kind}`;
  const read = WORLD_RECORDS.check(record.kind, record.body);
  if (typeof read === "string") return read;
  if (before === undefined) return read.kind === "WORLD_CREATED" ? read : "the first record does not create a world";
  if (before.world_id === record.world_id) return read;
  const follows =
    read.kind === "WORLD_FORKED" &&
    read.body.parent_world_id === before.world_id &&
    read.body.parent_position === before.position &&
    read.body.parent_hash === before.hash;
  return follows ? read : "a stream does not continue where the previous one ends";
}

/** Ids, times and rules of what a record writes. */
function describeWrites(
  ports: Ports,
  record: LineageRecord,
  before: WorldState | null,
  next: Effects,
  people: readonly PersonRow[],
  lastMs: number,
): string | null {
  const bundle = record.body["write_bundle"] ?? null;
  if (bundle === null) return null;
  const key = keyOf(before!);
  const checked = checkWriteBundle(bundle, {
    cast: castOf(next.state, new Map(people.map(({ person_id, display_name }) => [person_id, display_name]))),
    zones: ports.zones,
    graphemes: ports.graphemes,
    position: "committed",
    max_entries: MAX_IMPORT_ENTRIES,
  });
  if (checked.bundle_id !== toBundleId(ports.crypto, key, before!.next_bundle))
    return "a write bundle has the id of another world";
  for (const { entry_id, wseq, created_ms } of next.entries) {
    if (entry_id !== toEntryId(ports.crypto, key, wseq)) return "an entry has the id of another world";
    if (created_ms < lastMs) return "an entry is earlier than the one before it";
  }
  return null;
}

import { z } from "zod";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { EntryRecord } from "../../../core/ports.ts";
import { PERSON_PATTERN } from "../contracts/fields.ts";
import { checkWriteBundle, MAX_IMPORT_ENTRIES } from "../contracts/write-bundle.ts";
import { toBundleId, toEntryId } from "../ids.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { PersonRow } from "../ports.ts";
import { settingsSchema } from "../settings.ts";
import { type Image, type LineageRecord, toRecord } from "./lineage.ts";
import { type Effects, reduceRecord } from "./reduce.ts";
import { castOf, keyOf, type WorldState } from "./state.ts";
import type { FileFinding } from "./world-file.ts";

type Ports = Pick<WorldPorts, "crypto" | "zones" | "graphemes">;

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const ids = z.array(z.string().regex(PERSON_PATTERN));
const person = z.object({ person_id: z.string().regex(PERSON_PATTERN).max(64), display_name: z.string().min(1) });
const pack = z.object({
  view: z.string(),
  kind: z.enum(["anchor", "rehydration"]),
  text: z.array(z.int()),
  replay: z.array(z.int()),
});
const item = z.object({
  title: z.string(),
  time: z.string().nullable(),
  location: z.string().nullable(),
  notes: z.string().nullable(),
  visible_to: ids,
});

/** What a record of each kind must have before it can be replayed; a file may hold anything. */
const BODIES: Readonly<Record<string, z.ZodType>> = {
  WORLD_CREATED: z.object({
    world_id: z.string(),
    world_key: hex,
    settings: settingsSchema,
    clock_ms: z.int(),
    people: z.array(person),
  }),
  WORLD_FORKED: z.object({
    world_id: z.string(),
    world_key: hex,
    title: z.string().min(1).max(120),
    parent_world_id: z.string(),
    parent_position: z.int(),
    parent_hash: hex,
    source_sha256: hex.nullable(),
  }),
  WORLD_SETTINGS_SET: z.object({ settings: settingsSchema }),
  WORLD_PERSON_ADDED: person,
  WORLD_PERSON_NAMED: person,
  WORLD_PRESENCE_SET: z.object({ present: ids }),
  WORLD_SCENE_SET: z.object({ present: ids }),
  WORLD_IMPORTED: z.object({ people: z.array(person), present: ids, source_sha256: hex }),
  WORLD_CALENDAR_ADDED: z.object({ item_id: z.string(), item }),
  WORLD_CALENDAR_CLOSED: z.object({ item_id: z.string() }),
  WORLD_MESSAGE_ADDED: z.object({ from: z.string(), text: z.string(), time: z.string(), visible_to: ids }),
  WORLD_BEAT: z.object({
    request_id: z.string(),
    clock_after_ms: z.int(),
    zone: z.string(),
    packs: z.array(pack),
    script_used: z.array(z.int()),
    due: z.array(z.string()),
    outcome_sha256: hex,
  }),
  WORLD_REFUSED: z.object({}),
};

/** Replays the records of an export and checks what they write; the first problem is the finding. */
export function replayFile(
  ports: Ports,
  entries: readonly EntryRecord[],
): { readonly image: Image | null; readonly records: readonly LineageRecord[]; readonly findings: FileFinding[] } {
  const effects: Effects[] = [];
  const records: LineageRecord[] = [];
  const people: PersonRow[] = [];
  let state: WorldState | null = null;
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const [i, entry] of entries.entries()) {
    try {
      const record = toRecord(entry, entry.stream.slice("world/".length), null);
      const problem = describeBody(record, records.at(-1)) ?? null;
      if (problem !== null) return stopped(i, problem);
      const next: Effects = reduceRecord(state, record);
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
  return { image: { state, effects }, records, findings: [] };
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

function describeBody(record: LineageRecord, before: LineageRecord | undefined): string | null {
  const schema = Object.hasOwn(BODIES, record.kind) ? BODIES[record.kind] : undefined;
  if (schema === undefined) return `a world has no record of kind ${record.kind}`;
  const parsed = schema.safeParse(JSON.parse(record.entry.body));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `/${issue!.path.join("/")}: ${issue!.message}`;
  }
  if (before === undefined) return record.kind === "WORLD_CREATED" ? null : "the first record makes no world";
  if (before.world_id === record.world_id) return null;
  const { kind, body } = record;
  const follows =
    kind === "WORLD_FORKED" &&
    body["parent_world_id"] === before.world_id &&
    body["parent_position"] === before.position &&
    body["parent_hash"] === before.hash;
  return follows ? null : "a stream does not go on where the one before it ends";
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
    return "a write bundle has a foreign id";
  for (const { entry_id, wseq, created_ms } of next.entries) {
    if (entry_id !== toEntryId(ports.crypto, key, wseq)) return "an entry has a foreign id";
    if (created_ms < lastMs) return "an entry is before the one above it";
  }
  return null;
}

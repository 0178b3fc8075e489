import { z } from "zod";
import { type BodyOf, defineRecords, type RecordOf } from "../../../core/contracts/records.ts";
import { settingsSchema } from "../settings.ts";
import { PERSON_PATTERN } from "./fields.ts";
import type { WriteBundle } from "./write-bundle.ts";

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const ids = z.array(z.string().regex(PERSON_PATTERN));
const person = z.object({ person_id: z.string().regex(PERSON_PATTERN).max(64), display_name: z.string().min(1) });
const pack = z.object({
  view: z.string(),
  kind: z.enum(["anchor", "rehydration"]),
  text: z.array(z.int()),
  replay: z.array(z.int()),
  cap: z.int().optional(),
});
const item = z.object({
  title: z.string(),
  time: z.string().nullable(),
  location: z.string().nullable(),
  notes: z.string().nullable(),
  visible_to: ids,
});

const loreRule = {
  keys: z.array(z.string()),
  also: z.array(z.string()),
  match: z.enum(["any", "all", "not"]),
  always: z.boolean(),
  order: z.int(),
  enabled: z.boolean(),
};

/** Lines have rules and codes of their own: `checkWriteBundle` judges them where a file of someone else is read. */
const writeBundle = z.custom<WriteBundle | null>().optional();

const BODIES = {
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
    /** A version of a beat; every other fork is a story of its own. */
    purpose: z.literal("VERSION").optional(),
    story_id: z.string().optional(),
    of_request_id: z.string().optional(),
    version_no: z.int().optional(),
    request_id: z.string().optional(),
  }),
  WORLD_VERSION_KEPT: z.object({ story_id: z.string(), world_id: z.string(), previous: z.string() }),
  WORLD_SETTINGS_SET: z.object({ settings: settingsSchema }),
  WORLD_PERSON_ADDED: person,
  WORLD_PERSON_NAMED: person,
  WORLD_PRESENCE_SET: z.object({ present: ids }),
  WORLD_TOKEN_MADE: z.object({
    token_id: z.string(),
    role: z.enum(["operator", "player", "viewer"]),
    viewer: z.string(),
    label: z.string().nullable(),
    expires_ms: z.int().nullable(),
  }),
  WORLD_TOKEN_REVOKED: z.object({ token_id: z.string() }),
  WORLD_TURN_SET: z.object({ next: ids }),
  WORLD_SCENE_SET: z.object({ present: ids, write_bundle: writeBundle }),
  WORLD_IMPORTED: z.object({
    people: z.array(person),
    present: ids,
    source_sha256: hex,
    write_bundle: writeBundle,
    /** Indices of the lines that describe and were not lived. */
    background: z.array(z.int()).optional(),
    lore: z.array(z.object({ index: z.int(), ...loreRule })).optional(),
    styles: z.record(z.string(), z.string()).optional(),
    /** Lines that were written more than once, with their line of the file; the other texts are in the original. */
    swipes: z.array(z.object({ index: z.int(), line: z.int(), count: z.int() })).optional(),
    /** Which of several records of one file this is. */
    part: z.object({ number: z.int(), of: z.int() }).optional(),
  }),
  WORLD_AVATAR_SET: z.object({
    person_id: z.string(),
    /** Null where there is none any more. */
    sha256: hex.nullable(),
    media_type: z.enum(["image/png", "image/jpeg", "image/webp"]).nullable(),
  }),
  WORLD_LORE_SET: z.object({ lore_id: z.string(), entry_id: z.string(), ...loreRule, write_bundle: writeBundle }),
  WORLD_PINNED: z.object({
    pin_id: z.string(),
    entry_id: z.string(),
    start: z.int(),
    end: z.int(),
    quote_sha256: hex,
  }),
  WORLD_UNPINNED: z.object({ pin_id: z.string() }),
  WORLD_PERSONA_SET: z.object({ name: z.string().min(1), about: z.string().nullable(), write_bundle: writeBundle }),
  WORLD_CALENDAR_ADDED: z.object({ item_id: z.string(), item }),
  WORLD_CALENDAR_CLOSED: z.object({ item_id: z.string() }),
  WORLD_MESSAGE_ADDED: z.object({ from: z.string(), text: z.string(), time: z.string(), visible_to: ids }),
  WORLD_BEAT: z.object({
    request_id: z.string(),
    clock_after_ms: z.int(),
    zone: z.string(),
    // Only true means paused; anything else was never asked about.
    paused: z.custom<boolean>().optional(),
    packs: z.array(pack),
    script_used: z.array(z.int()),
    due: z.array(z.string()),
    write_bundle: writeBundle,
    /** Absent in older records: the operator spoke, corrected nothing, and the writer ran. */
    speaker: z.string().optional(),
    spoke: z.boolean().optional(),
    corrects: z.string().nullable().optional(),
    ran_writer: z.boolean().optional(),
    beat_no: z.int().optional(),
    result: z.string().optional(),
    code: z.string().nullable().optional(),
    turns: z.object({ kind: z.string(), chosen: ids }).optional(),
    outcome_sha256: hex,
  }),
  WORLD_REFUSED: z
    .object({ request_id: z.unknown(), body_sha256: z.unknown(), code: z.unknown(), where: z.unknown() })
    .partial(),
  WORLD_DELETED: z.object({ world_id: z.string(), erased_below: z.int() }),
} as const;

/**
 * The records of a world's stream. A schema says what a record must have before it can be replayed; more may be there,
 * for people who read it.
 */
export const WORLD_RECORDS = defineRecords(BODIES);
export type WorldRecord = RecordOf<typeof BODIES>;
export type WorldRecordKind = WorldRecord["kind"];
/** What a record is made from; none of it is changed. */
export type NewWorldRecord<K extends WorldRecordKind> = BodyOf<typeof BODIES, K>;
/** What a record of one kind says. */
export type WorldRecordBody<K extends WorldRecordKind> = Extract<WorldRecord, { readonly kind: K }>["body"];

export type NewPerson = NewWorldRecord<"WORLD_PERSON_ADDED">;
/** When a line of lore is sent. */
export type LoreRule = Omit<NewWorldRecord<"WORLD_LORE_SET">, "lore_id" | "entry_id" | "write_bundle">;
export type ItemBody = NewWorldRecord<"WORLD_CALENDAR_ADDED">["item"];
export type MessageBody = NewWorldRecord<"WORLD_MESSAGE_ADDED">;
/** A pack as a beat's record holds it. */
export type RecordedPack = NewWorldRecord<"WORLD_BEAT">["packs"][number];

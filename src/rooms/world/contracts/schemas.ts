import { z } from "zod";
import { base64 } from "../../../core/contracts/shapes.ts";
import { STATEMENT_PAYLOAD_TYPE } from "../../../core/trust/statement.ts";
import { PERSON_PATTERN } from "./fields.ts";
import { TOOLS } from "./tool-request.ts";
import { scopeSchema, visibilitySchema } from "./visibility.ts";

// The shapes of the contract objects; what their parts mean to each other is checked in check/.

const id = z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/);
const shortId = z.string().regex(/^[A-Za-z0-9._:-]{1,64}$/);
const personId = z.string().regex(PERSON_PATTERN);
const time = z.string().min(17).max(29);
const text = z.string().min(1);
const orNull = <S extends z.ZodType>(schema: S) => schema.nullable().optional();

export const envelopeSchema = z.strictObject({
  request_id: id,
  invoker: z.strictObject({ invoker_id: id, invoker_role: z.literal("INVOKER"), notes: orNull(z.string()) }),
  operator: z.strictObject({ operator_id: personId, input_text: z.string() }),
  mode: z.strictObject({ kind: z.enum(["BEAT", "NO_OP"]), client_intent: orNull(text) }),
  declared_overrides: orNull(
    z.strictObject({
      time: orNull(z.strictObject({ declared_world_time: orNull(z.string()), timezone: orNull(text) })),
      pause_time: orNull(z.boolean()),
    }),
  ),
  ui: orNull(z.strictObject({ stream_cursor: orNull(text), client_timestamp_utc: orNull(text) })),
});

const authorSchema = z.strictObject({
  author_id: personId,
  author_class: z.enum(["OPERATOR", "PERSON", "WORLD", "SYSTEM"]),
});
const channelSchema = z.enum(["USER", "VOICE", "PEOPLE"]);

export const writeEntrySchema = z.strictObject({
  entry_id: orNull(shortId),
  bundle_id: orNull(shortId),
  request_id: id,
  created_at_world: time,
  author: authorSchema,
  visibility: visibilitySchema,
  channel: channelSchema,
  text,
});

export const writeBundleSchema = z.strictObject({
  bundle_id: orNull(shortId),
  request_id: id,
  proposed_by: z.strictObject({ engine: text, actor: text }),
  entries: z.array(writeEntrySchema),
  wrote: z.boolean(),
  rejection: orNull(z.strictObject({ rejected: orNull(z.boolean()), reason: orNull(text) })),
});

export const streamEntrySchema = z.strictObject({
  entry_id: shortId,
  created_at_world: time,
  channel: channelSchema,
  author_label: z.string().nullable(),
  text,
});

export const pocketSchema = z.strictObject({
  is_available: z.boolean(),
  clock: z.strictObject({ world_time: time.nullable(), timezone: text.nullable() }),
  calendar: z.strictObject({
    items: z.array(
      z.strictObject({
        title: text,
        time: time.nullable(),
        location: z.string().nullable(),
        notes: z.string().nullable(),
      }),
    ),
  }),
  messages: z.strictObject({ items: z.array(z.strictObject({ from: text, text, time })) }),
});

export const projectionOutputSchema = z.strictObject({
  request_id: id,
  stream: z.strictObject({
    cursor_before: text.nullable(),
    cursor_after: text.nullable(),
    entries: z.array(streamEntrySchema),
  }),
  pocket: pocketSchema,
  debug: z.strictObject({ wrote: z.boolean(), bundle_id: shortId.nullable() }),
});

export const toolRequestSchema = z.strictObject({
  tool_request_id: shortId,
  request_id: id,
  requested_by: z.strictObject({
    engine: z.literal("ENGINE_9_LLM_WRITER"),
    actor: text,
    knowledge_view: text,
  }),
  tool: z.strictObject({
    name: z.enum(TOOLS),
    query_text: orNull(z.string()),
    constraints: orNull(
      z.strictObject({
        time_window: orNull(z.strictObject({ from: orNull(time), to: orNull(time) })),
        limit: orNull(z.int().min(1).max(20)),
        person_id: orNull(personId),
      }),
    ),
  }),
});

export const retrievalPackSchema = z.strictObject({
  tool_request_id: shortId,
  request_id: id,
  results: z.array(
    z.strictObject({
      entry_id: shortId,
      bundle_id: shortId,
      created_at_world: time,
      visibility_scope: scopeSchema,
      verbatim_excerpt: text,
    }),
  ),
  empty: z.boolean(),
  notes: z.string().nullable(),
});

const provenance = z.strictObject({ used_entry_ids: z.array(shortId) });

export const sceneAnchorSchema = z.strictObject({
  scene_anchor_id: text,
  request_id: id,
  created_at_world: time,
  text,
  provenance,
});

export const rehydrationSchema = z.strictObject({
  rehydration_id: text,
  request_id: id,
  created_at_world: time,
  text,
  physical_continuity_replay: text,
  provenance: z.strictObject({ used_entry_ids: z.array(shortId), used_capsule_ids: z.array(text) }),
  trigger: z.strictObject({ kind: z.literal("TOKEN_BUDGET"), threshold: text }),
});

export const capsuleSchema = z.strictObject({
  capsule_id: text,
  person_id: personId,
  created_at_world: time,
  sections: z.array(
    z.strictObject({ name: z.enum(["SOURCE_EXCERPTS", "OPTIONAL_DERIVED"]), text: z.string(), provenance }),
  ),
});

const section = z.strictObject({ count: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) });

export const exportManifestSchema = z.strictObject({
  type: z.literal("manifest"),
  sections: z.strictObject({ record: section, outcome: section, blob: section }),
  head_hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  file_sha256: z.string().regex(/^[0-9a-f]{64}$/),
  // A DSSE envelope with someone's signature in it.
  signature: z
    .strictObject({
      payload: base64,
      payloadType: z.literal(STATEMENT_PAYLOAD_TYPE),
      signatures: z.array(z.strictObject({ keyid: z.string().optional(), sig: z.string() })).min(1),
    })
    .optional(),
});

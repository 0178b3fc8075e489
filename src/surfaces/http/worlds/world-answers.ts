import type { OperationName } from "../../../app/operations.ts";

/** What the OpenAPI document says about a route of worlds where its operation does not say it. */
export interface WorldAnswer {
  /** Status of what was done; 200 where nothing is said. */
  readonly status?: number;
  readonly type?: string;
  /** In place of the output of the operation. */
  readonly schema?: object;
  /** The operation whose output is given, to some of those who ask. */
  readonly output?: OperationName;
  /** What others are given instead. */
  readonly others?: object;
  readonly headers?: readonly string[];
  /** A contract object that is sent, or a file as it is. */
  readonly body?: "InvocationEnvelope" | "file";
  /** What is sent besides, of the operation's fields. */
  readonly fields?: object;
  /** Data of each event of a stream, by its name. */
  readonly events?: Readonly<Record<string, object>>;
}

const text = { type: "string" } as const;
const orNull = { type: ["string", "null"] } as const;
const bool = { type: "boolean" } as const;
const list = { type: "array", items: text } as const;
const made = { status: 201 } as const;
const file = { body: "file" } as const;
const bytes = { type: "string", format: "binary" } as const;

function object(properties: Readonly<Record<string, object>>, optional: readonly string[] = []): object {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required, additionalProperties: false };
}

const person = object({ person_id: text, display_name: text, present: bool });

/** A world as somebody is shown it who is not its owner: counts and positions would tell what is hidden. */
const READERS_WORLD = object(
  {
    world_id: text,
    title: text,
    operator_id: text,
    operator_name: text,
    people: { type: "array", items: person },
    story_id: text,
    kept_world_id: text,
    writer: text,
    world_time: text,
    timezone: text,
    paused: bool,
  },
  ["world_time", "timezone", "paused"],
);

const named = object({ person_id: text, display_name: text });

/** Every event of a world's stream; each is sent only to those who may know of it. */
const EVENTS = {
  entry: { $ref: "#/components/schemas/StreamEntry" },
  pocket: { $ref: "#/components/schemas/Pocket" },
  people: object({ people: { type: "array", items: named }, operator: object({ operator_id: text, name: text }) }),
  presence: object({ present: list, scene_no: { type: "integer" } }),
  time: object({ world_time: orNull, timezone: orNull, paused: { type: ["boolean", "null"] } }),
  kept: object({ kept_world_id: text }),
  status: object({
    request_id: text,
    speaker: text,
    phase: { enum: ["QUEUED", "THINKING", "SEARCHING", "WRITING", "DONE"] },
    tools_used: { type: "integer" },
    result: orNull,
    code: orNull,
  }),
  version: object({ of: text, version_no: { type: "integer" } }),
  settings: object({ changed: list }),
  call: object({ call_id: text, request_id: text }),
  reset: object({}),
} as const;

/** By method and address below /api/worlds. */
export const WORLD_ANSWERS: Readonly<Record<string, WorldAnswer>> = {
  "post ": made,
  "post /:id/pins": made,
  "post /:id/tokens": made,
  "post /:id/versions": made,
  "post /:id/entries/:entry/edit": made,
  "post /:id/invocations": {
    body: "InvocationEnvelope",
    schema: { $ref: "#/components/schemas/ProjectionOutput" },
    headers: ["Verbatim-Beat-Result", "Verbatim-Beat-Code", "Idempotent-Replayed"],
  },
  "get /:id": { output: "world.show", others: READERS_WORLD },
  "get /:id/verify": { output: "world.verify", others: object({ ok: bool }) },
  "get /:id/export": { type: "application/jsonl", schema: text },
  "get /:id/stream": { type: "text/event-stream", schema: text, events: EVENTS },
  "get /:id/imports/:number/original": { type: "application/octet-stream", schema: bytes },
  "get /:id/people/:person/avatar": { type: "image/*", schema: bytes },
  "put /:id/people/:person/avatar": file,
  "post /import": file,
  "post /import-profile": file,
  "post /:id/imports": file,
  "post /writer/models": {
    fields: object(
      {
        kind: { enum: ["ollama", "openai-compatible"] },
        base_url: orNull,
        api_key_env: orNull,
      },
      ["base_url", "api_key_env"],
    ),
  },
};

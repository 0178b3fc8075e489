import { SCOPES } from "../contracts/visibility.ts";

const text = { type: "string", minLength: 1 } as const;

const author = {
  type: "object",
  properties: { author_id: text, author_class: { enum: ["PERSON", "WORLD"] } },
  required: ["author_id", "author_class"],
  additionalProperties: false,
} as const;

const visibility = {
  type: "object",
  properties: { scope: { enum: SCOPES }, visible_to: { type: "array", items: text } },
  required: ["scope", "visible_to"],
  additionalProperties: false,
} as const;

const entry = {
  type: "object",
  properties: { author, channel: { enum: ["VOICE", "PEOPLE"] }, text, visibility },
  required: ["author", "channel", "text"],
  additionalProperties: false,
} as const;

const tool = {
  type: "object",
  properties: {
    name: { enum: ["LEDGER_SEARCH", "LEDGER_GET", "CAPSULE_GET", "SCENE_PACK_BUILD"] },
    query_text: { type: "string" },
    constraints: {
      type: "object",
      properties: { limit: { type: "integer", minimum: 1, maximum: 20 }, person_id: text },
      additionalProperties: false,
    },
  },
  required: ["name", "query_text"],
  additionalProperties: false,
} as const;

function only(key: string, value: object): object {
  return { type: "object", properties: { [key]: value }, required: [key], additionalProperties: false };
}

function object(properties: object, required: readonly string[]): object {
  return { type: "object", properties, required, additionalProperties: false };
}

/** JSON Schema of a writer's answer, for providers that hold a model to one. The answer is parsed strictly anyway. */
export const ANSWER_SCHEMA = {
  anyOf: [
    only("no_write", object({ reason: { type: ["string", "null"] } }, [])),
    only("tool_request", object({ tool }, ["tool"])),
    only("proposed_write_bundle", object({ entries: { type: "array", items: entry, maxItems: 16 } }, ["entries"])),
  ],
} as const;

import { isJsonObject, type JsonObject, type JsonValue, parseJson, utf8Length } from "../../../core/canonical/index.ts";
import { type Code, isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { MAX_TEXT_BYTES, optional, readObject, text } from "../contracts/fields.ts";
import { checkToolRequest, type ToolRequest } from "../contracts/tool-request.ts";
import type { Visibility } from "../contracts/visibility.ts";
import { type Author, type Cast, type Channel, WORLD } from "../people/cast.ts";
import type { Zones } from "../ports.ts";
import type { WriterFailure } from "./failures.ts";
import { acceptProposal } from "./proposal.ts";
import { readReply } from "./reply-grammar.ts";
import type { Reply } from "./writer-settings.ts";

const MAX_OUTPUT_BYTES = 262_144;
/** Levels of nesting the room reads; the root is level 1. */
export const MAX_LEVELS = 32;

export type Pass = "ROOM" | "PERSON" | "WORLD_ONLY";

/** A line that passed acceptance, with its audience filled in. */
export interface AcceptedLine {
  readonly author: Author;
  readonly channel: Channel;
  readonly text: string;
  readonly visibility: Visibility;
}

export interface OutputContext {
  readonly cast: Cast;
  readonly zones: Zones;
  readonly request_id: string;
  readonly actor: string;
  readonly pass: Pass;
  /** Instant of the beat. */
  readonly now_ms: number;
  readonly used_ids?: readonly string[];
  /** What the raw answer is (default: one JSON object). */
  readonly reply?: Reply;
}

export interface OutputFault {
  readonly code: Code | WriterFailure;
  /** What was wrong, where a code alone says too little; nothing of a key. */
  readonly message?: string;
  /** JSON pointer from the raw object; JSON errors have none. */
  readonly where?: string;
}

export type WriterOutput =
  | { readonly result: "ACCEPTED"; readonly entries: readonly AcceptedLine[]; readonly lint: readonly Code[] }
  | { readonly result: "SILENCE" }
  | { readonly result: "TOOL_REQUEST"; readonly request: ToolRequest }
  | { readonly result: "TOOL_REFUSED"; readonly error: OutputFault }
  | { readonly result: "REJECTED"; readonly error: OutputFault }
  | { readonly result: "PARSE_FAILED"; readonly error: OutputFault };

/** Reads a writer's answer. Nothing is salvaged from fences, prose or truncated text, and nothing is repaired. */
export function readWriterOutput(raw: string, context: OutputContext): WriterOutput {
  if (context.reply === "prose") return readProse(raw, context);
  let key: "tool_request" | "proposed_write_bundle" | "no_write";
  let value: JsonObject;
  try {
    [key, value] = parseOutput(raw, context.reply ?? "json");
  } catch (thrown) {
    return { result: "PARSE_FAILED", error: toFault(thrown, false) };
  }
  try {
    if (key === "tool_request") {
      return { result: "TOOL_REQUEST", request: checkToolRequest(value, context, "short", "/tool_request") };
    }
    if (key === "no_write") {
      readObject(value, "/no_write", { reason: optional(text({ mayBeEmpty: true })) });
      return { result: "SILENCE" };
    }
    const { entries, lint } = acceptProposal(value, context);
    return entries.length === 0 ? { result: "SILENCE" } : { result: "ACCEPTED", entries, lint };
  } catch (thrown) {
    return { result: key === "tool_request" ? "TOOL_REFUSED" : "REJECTED", error: toFault(thrown, true) };
  }
}

const KEYS = ["tool_request", "proposed_write_bundle", "no_write"] as const;

/** Prose is one line, byte for byte: of the actor of a person's pass, of the narration otherwise. */
function readProse(raw: string, context: OutputContext): WriterOutput {
  if (raw === "") return { result: "PARSE_FAILED", error: { code: "WRITER_OUTPUT_NOT_OBJECT" } };
  if (raw.length > MAX_TEXT_BYTES || utf8Length(raw) > MAX_TEXT_BYTES) {
    return { result: "PARSE_FAILED", error: { code: "WRITER_OUTPUT_TOO_LARGE" } };
  }
  if (raw.trim() === "") return { result: "SILENCE" };
  const isPerson = context.pass === "PERSON";
  const author = isPerson
    ? { author_id: context.actor, author_class: "PERSON" }
    : { author_id: WORLD, author_class: "WORLD" };
  const entry = { author, channel: isPerson ? "PEOPLE" : "VOICE", text: raw };
  try {
    const { entries, lint } = acceptProposal({ entries: [entry] }, context);
    return { result: "ACCEPTED", entries, lint };
  } catch (thrown) {
    return { result: "REJECTED", error: toFault(thrown, false) };
  }
}

function parseOutput(raw: string, reply: Exclude<Reply, "prose">): [(typeof KEYS)[number], JsonObject] {
  if (raw.length > MAX_OUTPUT_BYTES || utf8Length(raw) > MAX_OUTPUT_BYTES) {
    throw new VerbatimError("WRITER_OUTPUT_TOO_LARGE");
  }
  const root: JsonValue = parseJson(readReply(reply, raw), { maxDepth: MAX_LEVELS });
  if (!isJsonObject(root)) throw new VerbatimError("WRITER_OUTPUT_NOT_OBJECT");
  // Absent equals null, also for the key that says what the answer is.
  const keys = Object.keys(root).filter((one) => root[one] !== null || !KEYS.some((known) => known === one));
  const key = KEYS.find((known) => known === keys[0]);
  if (keys.length !== 1 || key === undefined) throw new VerbatimError("WRITER_OUTPUT_KEYS");
  const value = root[key]!;
  if (!isJsonObject(value)) throw new VerbatimError("WRITER_OUTPUT_NOT_OBJECT");
  return [key, value];
}

function toFault(thrown: unknown, pointed: boolean): OutputFault {
  if (!isVerbatimError(thrown)) throw thrown;
  return pointed && thrown.where !== undefined ? { code: thrown.code, where: thrown.where } : { code: thrown.code };
}

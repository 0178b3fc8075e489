import { isJsonObject, type JsonObject, type JsonValue, parseJson, utf8Length } from "../../../core/canonical/index.ts";
import { type Code, isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { optional, readObject, text } from "../contracts/fields.ts";
import { checkToolRequest, type ToolRequest } from "../contracts/tool-request.ts";
import type { Visibility } from "../contracts/visibility.ts";
import type { Author, Cast, Channel } from "../people/cast.ts";
import type { Zones } from "../ports.ts";
import { acceptProposal } from "./proposal.ts";

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
}

export interface OutputFault {
  readonly code: Code;
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
  let key: "tool_request" | "proposed_write_bundle" | "no_write";
  let value: JsonObject;
  try {
    [key, value] = parseOutput(raw);
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

function parseOutput(raw: string): [(typeof KEYS)[number], JsonObject] {
  if (raw.length > MAX_OUTPUT_BYTES || utf8Length(raw) > MAX_OUTPUT_BYTES) {
    throw new VerbatimError("WRITER_OUTPUT_TOO_LARGE");
  }
  const root: JsonValue = parseJson(raw, { maxDepth: MAX_LEVELS });
  if (!isJsonObject(root)) throw new VerbatimError("WRITER_OUTPUT_NOT_OBJECT");
  const keys = Object.keys(root);
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

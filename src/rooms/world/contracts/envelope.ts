import type { JsonValue } from "../../../core/canonical/index.ts";
import { parseInstant, parseWritten, requireRange, requireZone } from "../time/instant.ts";
import type { CheckContext } from "./context.ts";
import {
  boolean,
  type FieldsOf,
  ID_PATTERN,
  MAX_TEXT_BYTES,
  optional,
  optionalObject,
  readObject,
  refuse,
  required,
  text,
} from "./fields.ts";

type Context = Pick<CheckContext, "cast" | "zones">;

const MAX_NOTE_BYTES = 2000;
const MAX_CURSOR_BYTES = 512;

function fields({ cast, zones }: Context) {
  return {
    request_id: required(text({ pattern: ID_PATTERN })),
    invoker: required((value, where) =>
      readObject(value, where, {
        invoker_id: required(text({ pattern: ID_PATTERN, rule: (id, at) => requireInvoker(cast, id, at) })),
        invoker_role: required(text<"INVOKER">({ values: ["INVOKER"] })),
        notes: optional(text({ mayBeEmpty: true, maxBytes: MAX_NOTE_BYTES })),
      }),
    ),
    operator: required((value, where) =>
      readObject(value, where, {
        operator_id: required(
          text({
            rule(id, at) {
              if (id !== cast.operator_id) refuse("OPERATOR_MISMATCH", at, `must be ${cast.operator_id}`);
            },
          }),
        ),
        input_text: required(
          text({ mayBeEmpty: true, visible: true, maxBytes: MAX_TEXT_BYTES, sizeCode: "INPUT_TOO_LARGE" }),
        ),
      }),
    ),
    mode: required((value, where) =>
      readObject(value, where, {
        kind: required(text<"BEAT" | "NO_OP">({ values: ["BEAT", "NO_OP"] })),
        client_intent: optional(text({ maxBytes: MAX_NOTE_BYTES })),
      }),
    ),
    declared_overrides: optionalObject((value, where) =>
      readObject(value, where, {
        time: optionalObject((inner, at) =>
          readObject(inner, at, {
            declared_world_time: optional(text({ rule: requireDeclaredTime })),
            timezone: optional(text({ rule: (zone, place) => void requireZone(zones, zone, place) })),
          }),
        ),
        pause_time: optional(boolean),
      }),
    ),
    ui: optionalObject((value, where) =>
      readObject(value, where, {
        stream_cursor: optional(text({ maxBytes: MAX_CURSOR_BYTES })),
        client_timestamp_utc: optional(text({ rule: requireUtc })),
      }),
    ),
  };
}

/** An invocation envelope with every absent field written as null. */
export type Envelope = FieldsOf<ReturnType<typeof fields>>;

/**
 * World Contracts 1: the one shape in which a beat or a refresh is asked for.
 *
 * @example
 * import { readFile } from "node:fs/promises";
 * import { parseJson } from "verbatim-agent";
 *
 * declare const context: Parameters<typeof checkEnvelope>[1];
 * const envelope = checkEnvelope(parseJson(await readFile("envelope.json")), context);
 */
export function checkEnvelope(value: JsonValue, context: Context): Envelope {
  const envelope = readObject(value, "", fields(context));
  if (envelope.mode.kind === "NO_OP") {
    if (envelope.operator.input_text !== "") refuse("NO_OP_WITH_TEXT", "/operator/input_text", "must be empty");
    if (hasOverride(envelope)) refuse("NO_OP_WITH_OVERRIDES", "/declared_overrides", "must be empty");
  }
  return envelope;
}

/** Whether the invocation declares a time, a zone or a pause. */
export function hasOverride({ declared_overrides: { time, pause_time } }: Envelope): boolean {
  return time.declared_world_time !== null || time.timezone !== null || pause_time !== null;
}

/** What makes two invocations the same: everything but the key and what only the client's screen needs. */
export function bodyOf(envelope: Envelope): Omit<Envelope, "request_id" | "ui"> {
  const { invoker, operator, mode, declared_overrides } = envelope;
  return { invoker, operator, mode, declared_overrides };
}

function requireInvoker(cast: Context["cast"], id: string, where: string): void {
  const folded = foldAscii(id);
  if (folded === foldAscii(cast.operator_id)) refuse("INVOKER_IS_OPERATOR", where, "must be a system id");
  for (const person of cast.people.keys()) {
    if (folded === foldAscii(person)) refuse("INVOKER_IS_PERSON", where, "must be a system id");
  }
}

function foldAscii(id: string): string {
  return id.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function requireDeclaredTime(value: string, where: string): void {
  const { local_ms, offset } = parseWritten(value, where, "optional");
  if (offset !== null) requireRange(local_ms - offset * 60_000, where);
}

function requireUtc(value: string, where: string): void {
  if (!/(?:Z|\+00:00)$/.test(value)) refuse("TIME_FORMAT_INVALID", where, "must end in Z or +00:00");
  parseInstant(value, where);
}

import type { JsonValue } from "../../../core/canonical/index.ts";
import type { Channel } from "../people/cast.ts";
import { parseInstant } from "../time/instant.ts";
import { type CheckContext, requestId, timeText } from "./context.ts";
import { channel } from "./entry.ts";
import {
  boolean,
  type FieldsOf,
  MAX_TEXT_BYTES,
  optional,
  readObject,
  refuse,
  requireArray,
  required,
  shortId,
  text,
} from "./fields.ts";

const streamEntry = {
  entry_id: required(shortId),
  created_at_world: required(timeText),
  channel,
  author_label: optional(text()),
  text: required(text({ visible: true, maxBytes: MAX_TEXT_BYTES, sizeCode: "TEXT_TOO_LARGE" })),
};

export type StreamEntry = FieldsOf<typeof streamEntry>;

const calendarItem = {
  title: required(text()),
  time: optional(timeText),
  location: optional(text({ mayBeEmpty: true })),
  notes: optional(text({ mayBeEmpty: true })),
};

const message = { from: required(text()), text: required(text()), time: required(timeText) };

const pocket = {
  is_available: required(boolean),
  clock: required((value: JsonValue, where: string) => {
    const clock = readObject(value, where, { world_time: optional(timeText), timezone: optional(text()) });
    if (clock.world_time === null && clock.timezone !== null)
      refuse("FIELD_MISSING", `${where}/world_time`, "is required");
    if (clock.world_time !== null && clock.timezone === null)
      refuse("FIELD_MISSING", `${where}/timezone`, "is required");
    return clock;
  }),
  calendar: required((value: JsonValue, where: string) =>
    readObject(value, where, { items: required(listOf((item, at) => readObject(item, at, calendarItem))) }),
  ),
  messages: required((value: JsonValue, where: string) =>
    readObject(value, where, { items: required(listOf((item, at) => readObject(item, at, message))) }),
  ),
};

/** Clock, calendar and messages of one viewer. */
export type Pocket = FieldsOf<typeof pocket>;

/** What a screen is given after a beat. */
export interface ProjectionOutput {
  readonly request_id: string;
  readonly stream: {
    readonly cursor_before: string | null;
    readonly cursor_after: string | null;
    readonly entries: readonly StreamEntry[];
  };
  readonly pocket: Pocket;
  readonly debug: { readonly wrote: boolean; readonly bundle_id: string | null };
}

/**
 * World Contracts 4: what a screen is given.
 *
 * @example
 * checkProjectionOutput({}); // throws FIELD_MISSING
 */
export function checkProjectionOutput(
  value: JsonValue,
  context: Pick<CheckContext, "request_id"> = {},
): ProjectionOutput {
  return readObject(value, "", {
    request_id: required(requestId(context)),
    stream: required((stream, where) =>
      readObject(stream, where, {
        cursor_before: optional(text()),
        cursor_after: optional(text()),
        entries: required(readStreamEntries),
      }),
    ),
    pocket: required((inner, where) => readObject(inner, where, pocket)),
    debug: required((inner, where) => {
      const debug = readObject(inner, where, { wrote: required(boolean), bundle_id: optional(shortId) });
      if (debug.wrote !== (debug.bundle_id !== null)) {
        refuse("DEBUG_MISMATCH", `${where}/bundle_id`, "wrote must be true exactly when bundle_id is present");
      }
      return debug;
    }),
  });
}

function readStreamEntries(value: JsonValue, where: string): readonly StreamEntry[] {
  const seen = new Set<string>();
  let last = Number.NEGATIVE_INFINITY;
  return requireArray(value, where).map((item, i) => {
    const at = `${where}/${i}`;
    const entry = readObject(item, at, streamEntry);
    requireLabel(entry.channel, entry.author_label, `${at}/author_label`);
    if (seen.has(entry.entry_id)) refuse("STREAM_DUPLICATE", `${at}/entry_id`, "appears twice");
    seen.add(entry.entry_id);
    const ms = parseInstant(entry.created_at_world, `${at}/created_at_world`);
    if (ms < last) refuse("STREAM_ORDER", `${at}/created_at_world`, "is earlier than the line before it");
    last = ms;
    return entry;
  });
}

function requireLabel(on: Channel, label: string | null, where: string): void {
  if (on === "PEOPLE" && label === null) refuse("AUTHOR_LABEL_MISSING", where, "must be the author's name");
  if (on !== "PEOPLE" && label !== null) refuse("AUTHOR_LABEL_NOT_ALLOWED", where, `must be null on ${on}`);
}

function listOf<T>(read: (value: JsonValue, where: string) => T): (value: JsonValue, where: string) => readonly T[] {
  return (value, where) => requireArray(value, where).map((item, i) => read(item, `${where}/${i}`));
}

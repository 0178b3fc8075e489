import { isJsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { readMember } from "../../../core/contracts/index.ts";
import { type Author, type Cast, type Channel, isSomebody, WORLD } from "../people/cast.ts";
import { type CheckContext, requestId, timeText } from "./context.ts";
import {
  type Field,
  MAX_TEXT_BYTES,
  PERSON_PATTERN,
  readObject,
  refuse,
  requireArray,
  required,
  shortId,
  text,
  withDefault,
} from "./fields.ts";
import { isForEverybody, SCOPES, type Scope, type Visibility } from "./visibility.ts";

/** A write entry whose shape and rules were checked. */
export interface WriteEntry {
  readonly entry_id: string | null;
  readonly bundle_id: string | null;
  readonly request_id: string;
  readonly created_at_world: string;
  readonly author: Author;
  readonly visibility: Visibility;
  readonly channel: Channel;
  readonly text: string;
}

/** An id that is null in what was proposed or rejected, and there when it was committed. */
export function ledgerId(position: CheckContext["position"]): Field<string | null> {
  return {
    read: (value, where) =>
      position === "proposal" || position === "rejected"
        ? refuse("ID_ASSIGNED_BY_LEDGER", where, "is assigned by the ledger")
        : shortId(value, where),
    absent: (where) => (position === "committed" ? refuse("FIELD_MISSING", where, "is required") : null),
  };
}

/** Reads who wrote something. */
export const author = required(
  (value: JsonValue, where: string): Author =>
    readObject(value, where, {
      author_id: required(text({ pattern: PERSON_PATTERN })),
      author_class: required(text<Author["author_class"]>({ values: ["OPERATOR", "PERSON", "WORLD", "SYSTEM"] })),
    }),
);

export const channel = required(text<Channel>({ values: ["USER", "VOICE", "PEOPLE"] }));

export const entryText = required(text({ visible: true, maxBytes: MAX_TEXT_BYTES, sizeCode: "TEXT_TOO_LARGE" }));

/**
 * Reads who may know something. World Contracts 3 types `visible_to` as an array, so null is refused there; in what a
 * writer answers null means absent, as in every field of an answer.
 */
export function visibility(
  cast: Cast,
  form: "contract" | "answer" = "contract",
): (value: JsonValue, where: string) => Visibility {
  return (value, where) => {
    const read = readObject(value, where, {
      scope: required(text<Scope>({ values: SCOPES })),
      visible_to: {
        ...withDefault(
          (list, at) => readAudience(cast, list, at),
          (): readonly string[] => [],
        ),
        ...(form === "contract" ? { isNullWrong: true as const } : {}),
      },
    });
    const at = `${where}/visible_to`;
    const isPublic = isForEverybody(read.scope);
    if (isPublic && read.visible_to.length > 0) refuse("VISIBILITY_NOT_EMPTY", at, "must be empty");
    if (!isPublic && read.visible_to.length === 0) refuse("VISIBILITY_EMPTY", at, "must list at least one id");
    return read;
  };
}

function readAudience(cast: Cast, value: JsonValue, where: string): readonly string[] {
  const seen = new Set<string>();
  const read = text({
    pattern: PERSON_PATTERN,
    rule(id, at) {
      if (seen.has(id)) refuse("VISIBILITY_DUPLICATE", at, `${id} is listed twice`);
      if (id !== WORLD && !isSomebody(cast, id)) refuse("PERSON_UNKNOWN", at, `there is no person ${id} in this world`);
      seen.add(id);
    },
  });
  return requireArray(value, where).map((item, i) => read(item, `${where}/${i}`));
}

const CLASS_OF: Readonly<Record<Channel, Author["author_class"]>> = {
  USER: "OPERATOR",
  VOICE: "WORLD",
  PEOPLE: "PERSON",
};

interface Attributed {
  readonly author: Author;
  readonly channel: Channel;
  readonly visibility: Visibility | null;
}

/** The channel goes with the class of the author. */
export function requirePairing({ author: by, channel: on }: Attributed, where: string): void {
  if (by.author_class === CLASS_OF[on]) return;
  refuse(
    "CHANNEL_AUTHOR_MISMATCH",
    `${where}/channel`,
    `${on} lines are written by ${CLASS_OF[on]}, not by ${by.author_class}`,
  );
}

/** The author id goes with the class of the author. */
export function requireAuthorId(cast: Cast, { author: by }: Attributed, where: string): void {
  const at = `${where}/author/author_id`;
  const { author_id: id, author_class: kind } = by;
  if (kind === "OPERATOR" && id !== cast.operator_id) refuse("AUTHOR_ID_MISMATCH", at, `must be ${cast.operator_id}`);
  if (kind === "WORLD" && id !== WORLD) refuse("AUTHOR_ID_MISMATCH", at, `must be ${WORLD}`);
  if (kind !== "PERSON") return;
  if (id === cast.operator_id || id === WORLD) refuse("AUTHOR_ID_MISMATCH", at, `${id} is not a person`);
  if (!cast.people.has(id)) refuse("PERSON_UNKNOWN", at, `there is no person ${id} in this world`);
}

/** Nobody says what they do not know. */
export function requireAuthorListed({ author: by, visibility: to }: Attributed, where: string): void {
  const isSpeaker = by.author_class === "OPERATOR" || by.author_class === "PERSON";
  if (!isSpeaker || to === null || isForEverybody(to.scope) || to.visible_to.includes(by.author_id)) return;
  refuse("VISIBILITY_EXCLUDES_AUTHOR", `${where}/visibility/visible_to`, `must list ${by.author_id}`);
}

/**
 * World Contracts 3: the smallest unit of written reality.
 *
 * @example
 * import { readFile } from "node:fs/promises";
 * import { parseJson } from "verbatim-agent";
 *
 * declare const context: Parameters<typeof checkEntry>[1];
 * const entry = checkEntry(parseJson(await readFile("entry.json")), context);
 */
export function checkEntry(value: JsonValue, context: CheckContext, where = ""): WriteEntry {
  const entry = readObject(value, where, {
    entry_id: ledgerId(context.position),
    bundle_id: ledgerId(context.position),
    request_id: required(requestId(context)),
    created_at_world: required(timeText),
    author,
    visibility: required(visibility(context.cast)),
    channel,
    text: entryText,
  });
  requirePairing(entry, where);
  requireAuthorId(context.cast, entry, where);
  requireAuthorListed(entry, where);
  return entry;
}

/** Where an entry on its own stands: the ledger gives both of its ids or none. */
export function positionOfEntry(value: JsonValue): "proposal" | "committed" {
  const isGiven = (name: string) => (readMember(value, name) ?? null) !== null;
  return isGiven("entry_id") || isGiven("bundle_id") ? "committed" : "proposal";
}

/** Whether an optional object says nothing: absent, null, or null in every known field. */
export function saysNothing(value: JsonValue, known: readonly string[]): boolean {
  if (value === null) return true;
  return isJsonObject(value) && Object.keys(value).every((key) => value[key] === null && known.includes(key));
}

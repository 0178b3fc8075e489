import type { JsonValue } from "../../../core/canonical/index.ts";
import type { Code } from "../../../core/errors/index.ts";
import { requestId } from "../contracts/context.ts";
import {
  author,
  channel,
  entryText,
  ledgerId,
  requireAuthorId,
  requireAuthorListed,
  requirePairing,
  saysNothing,
  visibility,
} from "../contracts/entry.ts";
import {
  boolean,
  optional,
  optionalObject,
  readObject,
  refuse,
  requireArray,
  required,
  text,
} from "../contracts/fields.ts";
import { lintLine } from "../contracts/lint.ts";
import { WRITER_ENGINE } from "../contracts/tool-request.ts";
import { isForEverybody, type Visibility } from "../contracts/visibility.ts";
import { rejection } from "../contracts/write-bundle.ts";
import { type Author, type Cast, type Channel, defaultVisibility, WORLD } from "../people/cast.ts";
import { parseInstant } from "../time/instant.ts";
import type { AcceptedLine, OutputContext } from "./output.ts";

/** Entries a writer may propose in one pass. */
const MAX_PROPOSED = 16;

const ROOT = "/proposed_write_bundle";

/** Judges a proposal. The first failure rejects all of it; nothing is stripped, repaired or adopted. */
export function acceptProposal(
  value: JsonValue,
  context: OutputContext,
): { readonly entries: readonly AcceptedLine[]; readonly lint: readonly Code[] } {
  const lint: Code[] = [];
  const bundle = readObject(value, ROOT, {
    bundle_id: ledgerId("proposal"),
    request_id: optional(requestId(context)),
    proposed_by: optionalObject((by, where) =>
      readObject(by, where, {
        engine: optional(text({ values: [WRITER_ENGINE] })),
        actor: optional(
          text({
            rule(actor, at) {
              if (actor !== context.actor) refuse("ACTOR_DENIED", at, `must be ${context.actor}`);
            },
          }),
        ),
      }),
    ),
    entries: required((list, where) => {
      const items = requireArray(list, where);
      if (items.length > MAX_PROPOSED) refuse("BUNDLE_TOO_MANY_ENTRIES", where, `the limit is ${MAX_PROPOSED} entries`);
      return items.map((item, i) => acceptEntry(item, `${where}/${i}`, context, lint));
    }),
    wrote: optional(boolean),
    rejection,
  });
  if (bundle.rejection.rejected)
    refuse("FIELD_VALUE", `${ROOT}/rejection/rejected`, "a proposal cannot be rejected yet");
  if (bundle.rejection.reason !== null) refuse("BUNDLE_REASON_UNEXPECTED", `${ROOT}/rejection/reason`, "must be null");
  if (bundle.wrote !== null && bundle.wrote !== bundle.entries.length > 0) {
    refuse("BUNDLE_WROTE_MISMATCH", `${ROOT}/wrote`, `is ${bundle.wrote} with ${bundle.entries.length} entries`);
  }
  return { entries: bundle.entries, lint };
}

interface ProposedEntry {
  readonly author: Author;
  readonly visibility: Visibility | null;
  readonly channel: Channel;
  readonly text: string;
}

function acceptEntry(value: JsonValue, where: string, context: OutputContext, lint: Code[]): AcceptedLine {
  const { cast } = context;
  const entry: ProposedEntry = readObject(value, where, {
    entry_id: ledgerId("proposal"),
    bundle_id: ledgerId("proposal"),
    request_id: optional(requestId(context)),
    created_at_world: optional(text({ rule: (time, at) => requireNow(time, at, context.now_ms) })),
    author,
    visibility: optional((member, at) =>
      saysNothing(member, ["scope", "visible_to"]) ? null : visibility(cast, "answer")(member, at),
    ),
    channel,
    text: entryText,
  });
  requirePairing(entry, where);
  if (entry.channel === "USER") refuse("WRITER_AS_OPERATOR", `${where}/channel`, "only the operator writes USER lines");
  requireAuthorId(cast, entry, where);
  requireActorsLine(context, entry, where);
  requireRoomAudience(cast, entry.visibility, where);
  requireAuthorListed(entry, where);
  applyLint(cast, entry.text, `${where}/text`, lint);
  return {
    author: entry.author,
    channel: entry.channel,
    text: entry.text,
    visibility: entry.visibility ?? defaultVisibility(cast, entry.author),
  };
}

function requireNow(time: string, where: string, nowMs: number): void {
  if (parseInstant(time, where) !== nowMs)
    refuse("TIME_ASSIGNED_BY_SYSTEM", where, "differs from the time of the beat");
}

/** A pass writes its own lines, and only people in the room act. */
function requireActorsLine({ cast, pass, actor }: OutputContext, { author: by }: ProposedEntry, where: string): void {
  const at = `${where}/author/author_id`;
  if (pass !== "ROOM" && by.author_id !== actor) refuse("ACTOR_DENIED", at, `must be ${actor}`);
  if (cast.players?.has(by.author_id) === true) refuse("ACTOR_DENIED", at, `somebody plays ${by.author_id}`);
  if (by.author_class === "PERSON" && !cast.present.includes(by.author_id)) {
    refuse("PERSON_NOT_PRESENT", at, `${by.author_id} is not present`);
  }
}

/** In a world of presence nobody perceives from outside the room. */
function requireRoomAudience(cast: Cast, to: Visibility | null, where: string): void {
  if (to === null || cast.visibility_default === "public") return;
  if (isForEverybody(to.scope)) {
    const everybody = [cast.operator_id, ...cast.people.keys()];
    if (everybody.every((id) => cast.present.includes(id))) return;
    refuse("VISIBILITY_NOT_ALLOWED", `${where}/visibility/scope`, "not everyone is present");
  }
  for (const [i, id] of to.visible_to.entries()) {
    if (id === WORLD || cast.present.includes(id)) continue;
    refuse("VISIBILITY_NOT_ALLOWED", `${where}/visibility/visible_to/${i}`, `${id} is not present`);
  }
}

function applyLint(cast: Cast, line: string, where: string, lint: Code[]): void {
  if (cast.writer_lint === "off") return;
  const found = lintLine(line);
  if (found === null) return;
  if (cast.writer_lint === "reject") refuse(found, where, "is not a line of this world");
  lint.push(found);
}

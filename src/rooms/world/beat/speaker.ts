import { VerbatimError } from "../../../core/errors/index.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import { type Envelope, hasOverride } from "../contracts/envelope.ts";
import { refuse } from "../contracts/fields.ts";
import { isAllowed } from "../knowledge/gate.ts";
import { type Author, type Cast, type Channel, defaultVisibility, isSomebody, WORLD } from "../people/cast.ts";
import { unknownPerson } from "../people/people.ts";
import type { WorldReader } from "../ports.ts";
import { type OpenWorld, toLedgerEntry } from "../projection/reading.ts";
import type { AcceptedLine } from "../writer/output.ts";

/** Who sends an invocation: a role, and for a player the person it plays. */
export interface Sender {
  readonly role: "owner" | "operator" | "player";
  readonly person: string | null;
}

export const THE_OWNER: Sender = { role: "owner", person: null };

/** What an address says besides the envelope. */
export interface Wishes {
  readonly speaker: string | null;
  /** Entry that the words correct. */
  readonly corrects: string | null;
  readonly writer: "on" | "off" | null;
}

export const NO_WISHES: Wishes = { speaker: null, corrects: null, writer: null };

/** Whose words an invocation carries. */
export interface Speaker {
  readonly id: string;
  readonly author: Author;
  readonly channel: Channel;
  /** Whose surface the answer is of. */
  readonly viewer: string;
}

/** The operator, a person, or the narration. */
export function speakerOf(cast: Cast, id: string, where = "/speaker"): Speaker {
  if (id === cast.operator_id) {
    return { id, author: { author_id: id, author_class: "OPERATOR" }, channel: "USER", viewer: id };
  }
  if (id === WORLD) {
    return { id, author: { author_id: WORLD, author_class: "WORLD" }, channel: "VOICE", viewer: cast.operator_id };
  }
  if (!isSomebody(cast, id)) throw unknownPerson(id, where);
  return { id, author: { author_id: id, author_class: "PERSON" }, channel: "PEOPLE", viewer: id };
}

const MIN_OWN_PART = 16;

/** Refuses an id that another caller could use: players' ids begin with their person, and nobody else's do. */
export function requireOwnId(cast: Cast, sender: Sender, requestId: string): void {
  const at = requestId.indexOf(".");
  const prefix = at < 0 ? "" : requestId.slice(0, at);
  if (sender.role === "player") {
    if (prefix === sender.person && requestId.length - at - 1 >= MIN_OWN_PART) return;
    refuse("FIELD_PATTERN", "/request_id", `must be ${sender.person}. and at least ${MIN_OWN_PART} more characters`);
  }
  if (cast.people.has(prefix)) refuse("FIELD_PATTERN", "/request_id", `ids that begin with ${prefix}. are a player's`);
}

/** Whether an id is one that a sender could have used. */
export function isOwnId(cast: Cast, sender: Sender, requestId: string): boolean {
  if (sender.role === "owner") return true;
  const at = requestId.indexOf(".");
  const prefix = at < 0 ? "" : requestId.slice(0, at);
  return sender.role === "player" ? prefix === sender.person : !cast.people.has(prefix);
}

/** What is decided about an invocation besides its envelope. */
export interface Decided {
  readonly speaker: Speaker;
  readonly corrects: LedgerEntry | null;
  readonly runs_writer: boolean;
  /** Whether the writer runs only once every player who is here has sent something. */
  readonly round: boolean;
}

/** Decides who speaks. The body says nothing about it: the sender does, and the owner may name anybody. */
export async function decideSpeaker(
  tables: WorldReader,
  world: OpenWorld,
  sender: Sender,
  wishes: Wishes,
  envelope: Envelope,
): Promise<Decided> {
  const { cast } = world;
  requireOwnId(cast, sender, envelope.request_id);
  if (sender.role === "player" && hasOverride(envelope)) {
    throw new VerbatimError("OPERATOR_ONLY", { where: "/declared_overrides" });
  }
  const corrected = wishes.corrects === null ? null : await findCorrected(tables, world, sender, wishes.corrects);
  const own = sender.role === "player" ? sender.person! : cast.operator_id;
  const asked = wishes.speaker ?? (sender.role === "owner" && corrected !== null ? corrected.author.author_id : own);
  if (sender.role !== "owner" && asked !== own) {
    throw new VerbatimError("VIEWER_DENIED", { message: `this token speaks as ${own}`, where: "/speaker" });
  }
  const speaker = speakerOf(cast, asked);
  if (corrected !== null) {
    if (corrected.author.author_id !== speaker.id)
      throw new VerbatimError("CORRECTION_NOT_YOURS", { where: "/corrects" });
    if (envelope.operator.input_text === "") {
      refuse("FIELD_EMPTY", "/operator/input_text", "a correction says what is right");
    }
  }
  const mode = sender.role === "player" ? (world.state.settings.players?.mode ?? "line") : "beat";
  const runs_writer = wishes.writer !== "off" && mode !== "line";
  return { speaker, corrects: corrected, runs_writer, round: mode === "round" };
}

/** The line that is corrected. What its sender may not see is not there. */
async function findCorrected(
  tables: WorldReader,
  world: OpenWorld,
  sender: Sender,
  entryId: string,
): Promise<LedgerEntry> {
  const [row] = await tables.entriesById(world.number, [entryId]);
  const entry = row === undefined ? undefined : toLedgerEntry(row);
  const reader = sender.role === "player" ? sender.person! : world.cast.operator_id;
  const isSeen =
    entry !== undefined && (sender.role === "owner" || isAllowed(world.cast, { kind: "viewer", id: reader }, entry));
  if (!isSeen) throw new VerbatimError("ENTRY_NOT_FOUND", { where: "/corrects" });
  return entry;
}

/** What the speaker's words are as a line: a correction is for exactly those who have the line it corrects. */
export function toSpokenLine(cast: Cast, { speaker, corrects }: Decided, text: string): AcceptedLine | null {
  if (text === "") return null;
  const { author, channel } = speaker;
  return { author, channel, text, visibility: corrects?.visibility ?? defaultVisibility(cast, author) };
}

/** A person who speaks is here. Whoever corrects a line need not be: its audience stays as it was. */
export function requireHere(cast: Cast, { speaker, corrects }: Decided): void {
  if (speaker.author.author_class !== "PERSON" || corrects !== null || cast.present.includes(speaker.id)) return;
  throw new VerbatimError("PERSON_NOT_PRESENT", { message: `${speaker.id} is not present`, where: "/speaker" });
}

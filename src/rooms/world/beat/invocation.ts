import { hashCanonical, type JsonValue } from "../../../core/canonical/index.ts";
import { bodyOf, checkEnvelope, type Envelope } from "../contracts/envelope.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { StoredInvocation } from "../ports.ts";
import { loadWorld, resolveCursor } from "../projection/reading.ts";
import type { AcceptedLine } from "../writer/output.ts";
import { type Decided, decideSpeaker, NO_WISHES, type Sender, THE_OWNER, type Wishes } from "./speaker.ts";

/** The stored answer of an invocation: exact bytes and headers. */
export interface Answer {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly replayed: boolean;
}

export const BEAT_RESULT = "Verbatim-Beat-Result";
export const BEAT_CODE = "Verbatim-Beat-Code";

/** How a beat is lived again: at the same time, and with other lines or another writer. */
interface Again {
  readonly clock: { readonly clock_ms: number; readonly zone: string; readonly paused: boolean };
  /** Lines instead of a writer's. */
  readonly lines: readonly AcceptedLine[] | null;
  /** Name of the writer; null: as the world is set. */
  readonly writer: string | null;
}

/** An invocation that may be claimed. */
export interface ValidInvocation extends Decided {
  /** There where a beat is lived again. */
  readonly again?: Again;
  readonly world_id: string;
  readonly envelope: Envelope;
  readonly body_sha256: string;
  readonly cursor: { readonly text: string; readonly wseq: number } | null;
}

/** Who sends an invocation, and what its address says besides the envelope. */
export interface Sending {
  readonly sender: Sender;
  readonly wishes: Wishes;
}

export const SENT_BY_OWNER: Sending = { sender: THE_OWNER, wishes: NO_WISHES };

/** Checks an invocation before anything is claimed for it. */
export async function checkInvocation(
  ports: WorldPorts,
  worldId: string,
  value: JsonValue,
  { sender, wishes }: Sending = SENT_BY_OWNER,
): Promise<ValidInvocation> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const envelope = checkEnvelope(value, { cast: world.cast, zones: ports.zones });
    const decided = await decideSpeaker(tx.world, world, sender, wishes, envelope);
    const body_sha256 = hashCanonical(ports.crypto, { ...bodyOf(envelope), ...toHashed(sender, wishes, decided) });
    const text = envelope.ui.stream_cursor;
    // A request that was answered already is replayed whatever its cursor: `ui` is not part of the body.
    const known = await tx.world.invocation(world.number, envelope.request_id);
    const isReplay = known?.status === "DONE" && known.body_sha256 === body_sha256;
    const cursor =
      text === null || isReplay
        ? null
        : { text, wseq: await resolveCursor(ports, tx.world, world, decided.speaker.viewer, text) };
    return { world_id: worldId, envelope, body_sha256, cursor, ...decided };
  });
}

/** What makes two invocations the same besides their envelope; nothing where nothing was asked for. */
function toHashed({ role }: Sender, { speaker, corrects, writer }: Wishes, decided: Decided): object {
  const isPlain = role !== "player" && speaker === null && corrects === null && writer === null;
  return isPlain ? {} : { speaker: decided.speaker.id, corrects, writer };
}

/** What is stored of an invocation when it is done. */
export function toDone(
  stored: StoredInvocation,
  outcome: string,
  headers: Readonly<Record<string, string>>,
  beat: BeatPlace | null,
): StoredInvocation {
  const kept = beat === null ? headers : { ...headers, [BEAT]: beat };
  return { ...stored, status: "DONE", outcome, headers: JSON.stringify(kept) };
}

/** Where the record of a beat is, and of whose surface its answer is; kept beside the headers and never sent. */
export interface BeatPlace {
  readonly position: number;
  readonly viewer: string;
}

const BEAT = "beat";

/** The headers of an answer as they were sent, and where its beat is; null for one that has none or is older. */
export function readHeaders(text: string): {
  readonly headers: Readonly<Record<string, string>>;
  readonly beat: BeatPlace | null;
} {
  const { [BEAT]: beat, ...headers } = JSON.parse(text) as Record<string, string> & { [BEAT]?: BeatPlace };
  return { headers, beat: (beat as BeatPlace | undefined) ?? null };
}

/** The answer of an invocation that was done before. */
export function toReplay({ outcome, headers }: StoredInvocation): Answer {
  return { body: outcome!, headers: readHeaders(headers!).headers, replayed: true };
}

import { hashCanonical, type JsonValue } from "../../../core/canonical/index.ts";
import { bodyOf, checkEnvelope, type Envelope } from "../contracts/envelope.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { StoredInvocation } from "../ports.ts";
import { loadWorld, resolveCursor } from "../projection/reading.ts";

/** The stored answer of an invocation: exact bytes and headers. */
export interface Answer {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly replayed: boolean;
}

export const BEAT_RESULT = "Verbatim-Beat-Result";
export const BEAT_CODE = "Verbatim-Beat-Code";

/** An invocation that may be claimed. */
export interface ValidInvocation {
  readonly world_id: string;
  readonly envelope: Envelope;
  readonly body_sha256: string;
  readonly cursor: { readonly text: string; readonly wseq: number } | null;
}

/** Checks an invocation before anything is claimed for it. */
export async function checkInvocation(ports: WorldPorts, worldId: string, value: JsonValue): Promise<ValidInvocation> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const envelope = checkEnvelope(value, { cast: world.cast, zones: ports.zones });
    const body_sha256 = hashCanonical(ports.crypto, bodyOf(envelope));
    const text = envelope.ui.stream_cursor;
    // A request that was answered already is replayed whatever its cursor: `ui` is not part of the body.
    const known = await tx.world.invocation(world.number, envelope.request_id);
    const isReplay = known?.status === "DONE" && known.body_sha256 === body_sha256;
    const cursor =
      text === null || isReplay
        ? null
        : { text, wseq: await resolveCursor(ports, tx.world, world, world.cast.operator_id, text) };
    return { world_id: worldId, envelope, body_sha256, cursor };
  });
}

/** What is stored of an invocation when it is done. */
export function toDone(
  stored: StoredInvocation,
  outcome: string,
  headers: Readonly<Record<string, string>>,
): StoredInvocation {
  return { ...stored, status: "DONE", outcome, headers: JSON.stringify(headers) };
}

/** The answer of an invocation that was done before. */
export function toReplay({ outcome, headers }: StoredInvocation): Answer {
  return { body: outcome!, headers: JSON.parse(headers!) as Record<string, string>, replayed: true };
}

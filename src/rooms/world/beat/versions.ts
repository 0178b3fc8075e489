import { hashCanonical, type JsonValue } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { toHex } from "../../../core/hex.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import { checkEnvelope } from "../contracts/envelope.ts";
import { refuse } from "../contracts/fields.ts";
import type { ProjectionOutput } from "../contracts/projection-output.ts";
import { appendRecord } from "../history/commit.ts";
import { type ForkOrigin, plantFork } from "../history/fork.ts";
import { imageAfter } from "../history/image.ts";
import { castOf, keptOf, parseState, storyOf, streamOf, type WorldState } from "../history/state.ts";
import { isAllowed } from "../knowledge/gate.ts";
import type { WorldPorts, WorldReadTransaction } from "../operations/ports.ts";
import type { Cast } from "../people/cast.ts";
import { controlWorld } from "../people/control.ts";
import { loadWorld, toLedgerEntry } from "../projection/reading.ts";
import type { AcceptedLine } from "../writer/output.ts";
import { acceptProposal } from "../writer/proposal.ts";
import type { Beats } from "./beats.ts";
import { type FoundBeat, findBeat, unknownBeat } from "./find-beat.ts";
import { BEAT_CODE, BEAT_RESULT, type ValidInvocation } from "./invocation.ts";
import { requireOwnId, type Sender, speakerOf } from "./speaker.ts";

export interface WantedVersion {
  /** Request id of the beat to live again; null: the newest. */
  readonly of: string | null;
  readonly request_id: string;
  /** Other words of the speaker. */
  readonly input_text: string | null;
  /** The caller's own words instead of a writer's. */
  readonly entries: JsonValue | null;
  /** Off, or one of the writers of the casting; null: as the world is set. */
  readonly writer: string | null;
}

export interface MadeVersion {
  readonly story_id: string;
  readonly of: string;
  readonly version: {
    readonly version_no: number;
    readonly world_id: string;
    readonly request_id: string;
    readonly result: string | null;
    readonly code: string | null;
    readonly kept: boolean;
  };
  readonly output: ProjectionOutput | null;
}

/** The beat that versions are of: where it was first lived, and by which id its versions go. */
export interface Group {
  readonly of: string;
  /** The record behind which every version begins. */
  readonly parent: { readonly world_id: string; readonly position: number };
}

export function groupOf({ world_id, position, body, version }: FoundBeat): Group {
  if (version !== null) return { of: version.of.of, parent: version.parent };
  return { of: body.request_id, parent: { world_id, position: position - 1 } };
}

/** An operator knows of its own beats and of those with a line it sees. */
export function knowsBeat(cast: Cast, sender: Sender): (beat: FoundBeat) => Promise<boolean> {
  const view = { kind: "viewer", id: cast.operator_id } as const;
  return async ({ body }) =>
    sender.role === "owner" ||
    (body.speaker ?? cast.operator_id) === cast.operator_id ||
    (body.write_bundle?.entries ?? []).some((entry) => isAllowed(cast, view, entry));
}

/** Lives a beat again in a world of its own. The world it comes from is neither held nor touched. */
export async function makeVersion(
  ports: WorldPorts,
  beats: Beats,
  worldId: string,
  wanted: WantedVersion,
  sender: Sender,
): Promise<MadeVersion> {
  const found = await ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    requireOwnId(world.cast, sender, wanted.request_id);
    const beat = await findBeat(tx, worldId, wanted.of, knowsBeat(world.cast, sender));
    if (beat === null) throw unknownBeat();
    const group = groupOf(beat);
    const [record] = await tx.ledger.readStream(streamOf(group.parent.world_id), group.parent.position, 1);
    const players = new Set(await tx.world.players(storyOf(world.state), ports.clock.now()));
    return {
      beat,
      group,
      players,
      hash: record!.hash,
      story_id: storyOf(world.state),
      title: world.state.settings.title,
    };
  });
  const { beat, group, story_id, title } = found;
  const parent = { ...group.parent, hash: found.hash };
  const image = await imageAfter(ports, parent.world_id, parent.position);
  const names = new Map(image.people.map(({ person_id, display_name }) => [person_id, display_name]));
  const cast = { ...castOf(image.state, names), players: found.players };
  const plan = planAgain(ports, cast, image.state, beat, wanted, sender);
  const target = {
    world_id: toVersionId(ports, story_id),
    title,
    world_key: toHex(ports.random.bytes(32)),
    outcomes: [],
    version: { story_id, of: group.of, request_id: wanted.request_id },
  };
  const once = { key: `version/${worldId}/${wanted.request_id}`, body: { ...wanted } };
  const origin: ForkOrigin = { parent, image };
  const { world_id } = await plantFork(ports, origin, target, once, { world_id: target.world_id });
  beats.hub.committed(worldId);
  const lived = await relive(ports, beats, { ...plan, world_id }, beat.body.corrects ?? null);
  const { version_no, kept } = await ports.store.read(async (tx) => {
    const { state } = await loadWorld(tx.world, world_id);
    return { version_no: state.story!.version_no, kept: isKept(await keptPath(tx, story_id), world_id, 1) };
  });
  const { output, ...outcome } = lived;
  const version = { version_no, world_id, request_id: wanted.request_id, ...outcome, kept };
  return { story_id, of: group.of, version, output };
}

/** What is said and when, as it was recorded or as the caller wants it instead; judged before anything is planted. */
function planAgain(
  ports: WorldPorts,
  cast: Cast,
  state: WorldState,
  { body }: FoundBeat,
  wanted: WantedVersion,
  sender: Sender,
): Omit<ValidInvocation, "world_id"> {
  const id = body.speaker ?? cast.operator_id;
  const speaker = speakerOf(cast, id);
  if (wanted.input_text !== null && sender.role !== "owner" && id !== cast.operator_id) {
    throw new VerbatimError("VIEWER_DENIED", { message: "these are someone else's words", where: "/input_text" });
  }
  const first = body.write_bundle?.entries[0];
  const spoke = body.spoke ?? first?.channel === "USER";
  const input_text = wanted.input_text ?? (spoke && first !== undefined ? first.text : "");
  const envelope = checkEnvelope(
    {
      request_id: wanted.request_id,
      invoker: { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" },
      operator: { operator_id: cast.operator_id, input_text },
      mode: { kind: "BEAT" },
    },
    { cast, zones: ports.zones },
  );
  const { clock_after_ms: clock_ms, zone, paused } = body;
  const lines = wanted.entries === null ? null : judgeEntries(ports, cast, wanted, clock_ms);
  const { writer } = wanted;
  if (writer !== null && writer !== "off" && !Object.hasOwn(state.settings.writers ?? {}, writer)) {
    refuse("FIELD_VALUE", "/writer", `there is no writer ${JSON.stringify(writer)}`);
  }
  return {
    envelope,
    body_sha256: hashCanonical(ports.crypto, { version: { ...wanted, of: body.request_id } }),
    cursor: null,
    speaker: sender.role === "owner" ? speaker : { ...speaker, viewer: cast.operator_id },
    corrects: null,
    runs_writer: writer !== "off" && (body.ran_writer ?? true),
    round: false,
    again: {
      clock: { clock_ms, zone, paused: paused === true },
      lines,
      writer: writer === "off" ? null : writer,
    },
  };
}

const PROPOSAL = "/proposed_write_bundle";

/** The caller's own lines, by the rules of any proposal; a pointer is from the caller's object. */
function judgeEntries(ports: WorldPorts, cast: Cast, wanted: WantedVersion, now_ms: number): readonly AcceptedLine[] {
  const context = {
    cast,
    zones: ports.zones,
    request_id: wanted.request_id,
    actor: "WORLD",
    pass: "ROOM",
    now_ms,
  } as const;
  try {
    return acceptProposal({ entries: wanted.entries }, context).entries;
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const where = thrown.where?.replace(PROPOSAL, "");
    throw new VerbatimError(thrown.code, {
      message: thrown.message.replaceAll(PROPOSAL, ""),
      ...(where === undefined ? {} : { where }),
      cause: thrown,
    });
  }
}

interface Lived {
  readonly result: string | null;
  readonly code: string | null;
  readonly output: ProjectionOutput | null;
}

/** Runs the beat. One that could not be lived leaves a version without it, which the same request lives later. */
async function relive(
  ports: WorldPorts,
  beats: Beats,
  checked: ValidInvocation,
  corrected: string | null,
): Promise<Lived> {
  const isSilent = checked.envelope.operator.input_text === "";
  // A correction keeps the audience of its line, which the version has as well.
  const corrects = corrected === null || isSilent ? null : await findEntry(ports, checked.world_id, corrected);
  try {
    const { body, headers } = await beats.live({ ...checked, corrects });
    const output = JSON.parse(body) as ProjectionOutput;
    return { result: headers[BEAT_RESULT] ?? null, code: headers[BEAT_CODE] ?? null, output };
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code !== "WRITER_UNAVAILABLE") throw thrown;
    const { code } = (thrown.details ?? {}) as { code?: string | null };
    return { result: null, code: code ?? thrown.code, output: null };
  }
}

async function findEntry(ports: WorldPorts, worldId: string, entryId: string): Promise<LedgerEntry | null> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const [row] = await tx.world.entriesById(world.number, [entryId]);
    return row === undefined ? null : toLedgerEntry(row);
  });
}

/** An id that says nothing about how many there are. */
function toVersionId(ports: Pick<WorldPorts, "random">, storyId: string): string {
  return `${storyId.slice(0, 52).replace(/-+$/, "")}-v${toHex(ports.random.bytes(4))}`;
}

/** The worlds from the kept one of a story back to its root, each with the last of its records that is part of it. */
export async function keptPath(tx: WorldReadTransaction, storyId: string): Promise<ReadonlyMap<string, number>> {
  const root = await tx.world.find(storyId);
  const path = new Map<string, number>();
  let at = root === null ? null : { world_id: keptOf(parseState(root)), position: Number.MAX_SAFE_INTEGER };
  while (at !== null) {
    path.set(at.world_id, at.position);
    const row = await tx.world.find(at.world_id);
    const state: WorldState | null = row === null ? null : parseState(row);
    at = state?.story === undefined ? null : state.parent;
  }
  return path;
}

/** Whether what a world recorded at a place was lived in the kept version. */
export function isKept(path: ReadonlyMap<string, number>, worldId: string, position: number): boolean {
  return position <= (path.get(worldId) ?? -1);
}

/** Says which version of a story its clients open. */
export async function keepVersion(
  ports: WorldPorts,
  worldId: string,
  keptId: string,
  key: string | null,
): Promise<{ readonly story_id: string; readonly kept_world_id: string }> {
  const story_id = await ports.store.read(async (tx) => {
    const story = storyOf((await loadWorld(tx.world, worldId)).state);
    const row = await tx.world.find(keptId);
    if (row === null || storyOf(parseState(row)) !== story) {
      throw new VerbatimError("VERSION_NOT_FOUND", { where: "/world_id" });
    }
    return story;
  });
  return controlWorld(ports, story_id, { key, body: { keep: keptId } }, async (tx, root) => {
    const previous = keptOf(root.state);
    if (previous !== keptId) {
      await appendRecord(ports, tx, root, "WORLD_VERSION_KEPT", { story_id, world_id: keptId, previous });
    }
    return { story_id, kept_world_id: keptId };
  });
}

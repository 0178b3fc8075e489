import type { JsonValue } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { isAllowed } from "../knowledge/gate.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { loadWorld, toLedgerEntry } from "../projection/reading.ts";
import type { Beats } from "./beats.ts";
import { findBeat, unknownBeat } from "./find-beat.ts";
import type { Sender } from "./speaker.ts";
import { keepVersion, knowsBeat, type MadeVersion, makeVersion } from "./versions.ts";

interface Edit {
  readonly entry_id: string;
  readonly text: string;
  readonly keep: boolean;
  readonly request_id: string;
}

/** A version of the beat of a line, in which the line says something else. */
export async function editLine(
  ports: WorldPorts,
  beats: Beats,
  worldId: string,
  { entry_id, text, keep, request_id }: Edit,
  sender: Sender,
): Promise<MadeVersion> {
  const { of, input_text, entries } = await ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const [row] = await tx.world.entriesById(world.number, [entry_id]);
    const line = row === undefined ? undefined : toLedgerEntry(row);
    const view = { kind: "viewer", id: world.cast.operator_id } as const;
    if (line === undefined || (sender.role !== "owner" && !isAllowed(world.cast, view, line))) {
      throw new VerbatimError("ENTRY_NOT_FOUND", { where: "/entry_id" });
    }
    const beat = await findBeat(tx, worldId, line.request_id, knowsBeat(world.cast, sender));
    if (beat === null) throw unknownBeat();
    const lines = beat.body.write_bundle?.entries ?? [];
    const spoke = beat.body.spoke ?? lines[0]?.channel === "USER";
    if (spoke && lines[0]?.entry_id === entry_id) return { of: line.request_id, input_text: text, entries: null };
    // What an operator may not know it cannot write again either.
    const known = lines
      .slice(spoke ? 1 : 0)
      .filter((one) => sender.role === "owner" || isAllowed(world.cast, view, one));
    const others = known.map(({ entry_id: id, author, channel, visibility, text: said }) => ({
      author,
      channel,
      visibility: { scope: visibility.scope, visible_to: [...visibility.visible_to] },
      text: id === entry_id ? text : said,
    }));
    return { of: line.request_id, input_text: null, entries: JSON.parse(JSON.stringify(others)) as JsonValue };
  });
  const made = await makeVersion(ports, beats, worldId, { of, request_id, input_text, entries, writer: null }, sender);
  if (!keep) return made;
  await keepVersion(ports, worldId, made.version.world_id, null);
  return { ...made, version: { ...made.version, kept: true } };
}

import { sortedUnique } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toWriteBundle } from "../beat/bundle.ts";
import { entryText } from "../contracts/entry.ts";
import { toThose } from "../contracts/visibility.ts";
import { appendRecord } from "../history/commit.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";
import type { OpenWorld } from "../projection/reading.ts";
import { formatInstant } from "../time/instant.ts";
import { WORLD } from "./cast.ts";
import { controlWorld } from "./control.ts";

export interface Persona {
  readonly name: string;
  /** What is said about whoever plays the operator; null: nothing. */
  readonly about: string | null;
}

const MAX_NAME = 80;

/** Says whom the operator plays. What is said about them is a line that only they and the narrator know. */
export async function setPersona(
  ports: WorldPorts,
  worldId: string,
  persona: Persona,
  key: string | null,
): Promise<{ readonly name: string; readonly entry_id: string | null }> {
  const once = { key, body: { persona: { ...persona } } };
  return controlWorld(ports, worldId, once, (tx, world) => writePersona(ports, tx, world, persona));
}

/** The same inside a transaction. */
export async function writePersona(
  ports: WorldPorts,
  tx: WorldWriteTransaction,
  world: OpenWorld,
  { name, about }: Persona,
): Promise<{ readonly name: string; readonly entry_id: string | null }> {
  if (name === "" || name.length > MAX_NAME) {
    throw new VerbatimError("INPUT_INVALID", { message: `a name has 1 to ${MAX_NAME} characters`, where: "/name" });
  }
  if (about !== null) entryText.read(about, "/about");
  const bundle =
    about === null
      ? null
      : toWriteBundle(ports.crypto, world.state, {
          request_id: `sys:persona:${ports.ids.uuid()}`,
          created_at_world: formatInstant(ports.zones, world.state.clock_ms, world.state.zone),
          proposed_by: { engine: "ENGINE_1_INVOCATION", actor: ports.actor },
          lines: [
            {
              author: { author_id: WORLD, author_class: "WORLD" },
              channel: "VOICE",
              text: about,
              visibility: toThose(sortedUnique([world.cast.operator_id, WORLD])),
            },
          ],
        });
  await appendRecord(ports, tx, world, "WORLD_PERSONA_SET", { name, about, write_bundle: bundle });
  return { name, entry_id: bundle?.entries[0]?.entry_id ?? null };
}

import { sortedUnique } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toWriteBundle } from "../beat/bundle.ts";
import { entryText } from "../contracts/entry.ts";
import { PERSON_PATTERN, refuse, text } from "../contracts/fields.ts";
import { appendRecord } from "../history/commit.ts";
import { MAX_PRESENT } from "../knowledge/bounds.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { OpenWorld } from "../projection/reading.ts";
import { formatInstant } from "../time/instant.ts";
import { type Author, type Cast, defaultVisibility, isReserved, isSomebody, WORLD } from "./cast.ts";
import { type ControlKey, controlWorld } from "./control.ts";

/** People of a world at most. */
export const MAX_PEOPLE = 1000;

export interface NewPerson {
  readonly person_id: string;
  readonly display_name: string;
}

/** Refuses an id that is malformed, reserved or taken, and a name that nobody could read. */
export function requireNewPerson(cast: Pick<Cast, "operator_id" | "people">, person: NewPerson, where: string): void {
  text({ pattern: PERSON_PATTERN, maxBytes: 64 })(person.person_id, `${where}/person_id`);
  requireName(person.display_name, `${where}/display_name`);
  if (isReserved(cast.operator_id, person.person_id)) {
    throw new VerbatimError("PERSON_ID_RESERVED", {
      message: `${person.person_id} is reserved`,
      where: `${where}/person_id`,
    });
  }
  if (cast.people.has(person.person_id)) {
    throw new VerbatimError("PERSON_EXISTS", {
      message: `${person.person_id} already exists`,
      where: `${where}/person_id`,
    });
  }
}

function requireName(name: string, where: string): void {
  text({ visible: true })(name, where);
  if ([...name].length > 80) refuse("FIELD_TOO_LONG", where, "is longer than 80 characters");
}

/** Adds a person; adding the same one again changes nothing. */
export async function addPerson(
  ports: WorldPorts,
  worldId: string,
  person: NewPerson,
  key: string | null = null,
): Promise<NewPerson> {
  const body = { person: { ...person } };
  return controlWorld(ports, worldId, { key, body }, async (tx, world) => {
    if (world.cast.people.get(person.person_id) === person.display_name) return { ...person };
    requireNewPerson(world.cast, person, "");
    if (world.cast.people.size >= MAX_PEOPLE)
      refuse("FIELD_VALUE", "/person_id", `a world can have at most ${MAX_PEOPLE} people`);
    const { person_id, display_name } = person;
    await appendRecord(ports, tx, world, "WORLD_PERSON_ADDED", { person_id, display_name });
    return { person_id, display_name };
  });
}

/** Gives a person another display name. What was answered already keeps the old one. */
export async function namePerson(
  ports: WorldPorts,
  worldId: string,
  person: NewPerson,
  key: string | null = null,
): Promise<NewPerson> {
  requireName(person.display_name, "/display_name");
  const body = { name: { ...person } };
  return controlWorld(ports, worldId, { key, body }, async (tx, world) => {
    if (!world.cast.people.has(person.person_id)) throw unknownPerson(person.person_id, "/person_id");
    const { person_id, display_name } = person;
    await appendRecord(ports, tx, world, "WORLD_PERSON_NAMED", { person_id, display_name });
    return { person_id, display_name };
  });
}

/** The refusal of someone who does not live here. */
export function unknownPerson(id: string, where: string): VerbatimError {
  return new VerbatimError("PERSON_UNKNOWN", { message: `there is no person ${id} in this world`, where });
}

/** Those present, checked and in order. */
export function requirePresent(world: OpenWorld, present: readonly string[], where: string): string[] {
  if (present.length > MAX_PRESENT) {
    throw new VerbatimError("PRESENCE_TOO_MANY", {
      message: `${present.length} are present; a scene takes at most ${MAX_PRESENT}`,
      where,
    });
  }
  const seen = new Set<string>();
  for (const [i, id] of present.entries()) {
    if (!isSomebody(world.cast, id)) throw unknownPerson(id, `${where}/${i}`);
    if (seen.has(id)) refuse("VISIBILITY_DUPLICATE", `${where}/${i}`, `${id} is listed twice`);
    seen.add(id);
  }
  return sortedUnique(present);
}

/** Says who is in the room. Recorded, never a line. */
export async function setPresence(
  ports: WorldPorts,
  worldId: string,
  present: readonly string[],
  key: string | null = null,
): Promise<{ readonly present: readonly string[]; readonly scene_no: number }> {
  const once: ControlKey = { key, body: { present: [...present] } };
  return controlWorld(ports, worldId, once, async (tx, world) => {
    const next = requirePresent(world, present, "/present");
    await appendRecord(ports, tx, world, "WORLD_PRESENCE_SET", { present: next });
    return { present: next, scene_no: world.state.scene_no };
  });
}

/** Starts the next scene; a text is narrated as its first line. */
export async function startScene(
  ports: WorldPorts,
  worldId: string,
  scene: { readonly text: string; readonly present: readonly string[] | null },
  key: string | null = null,
): Promise<{ readonly scene_no: number; readonly bundle_id: string | null; readonly present: readonly string[] }> {
  const body = { scene: { text: scene.text, present: scene.present === null ? null : [...scene.present] } };
  return controlWorld(ports, worldId, { key, body }, async (tx, world) => {
    const present =
      scene.present === null ? [...world.state.present] : requirePresent(world, scene.present, "/present");
    if (scene.text !== "") entryText.read(scene.text, "/text");
    const cast: Cast = { ...world.cast, present };
    const author: Author = { author_id: WORLD, author_class: "WORLD" };
    const line = { author, channel: "VOICE", text: scene.text, visibility: defaultVisibility(cast, author) } as const;
    const bundle = toWriteBundle(ports.crypto, world.state, {
      request_id: `sys:scene:${ports.ids.uuid()}`,
      created_at_world: formatInstant(ports.zones, world.state.clock_ms, world.state.zone),
      proposed_by: { engine: "ENGINE_1_INVOCATION", actor: ports.actor },
      lines: scene.text === "" ? [] : [line],
    });
    const record = { scene_no: world.state.scene_no + 1, present, write_bundle: bundle };
    const { state } = await appendRecord(ports, tx, world, "WORLD_SCENE_SET", record);
    return { scene_no: state.scene_no, bundle_id: bundle?.bundle_id ?? null, present: [...state.present] };
  });
}

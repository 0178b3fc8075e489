import { type JsonValue, sortedUnique } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toHex } from "../../../core/hex.ts";
import { type Author, type Cast, defaultVisibility, isReserved, isSomebody, WORLD } from "../cast.ts";
import { entryText } from "../check/entry.ts";
import { PERSON_PATTERN, refuse, text } from "../check/fields.ts";
import { parseSettings, type Settings } from "../settings.ts";
import { formatInstant, parseWritten, toInstant } from "../time/instant.ts";
import { parseScript } from "../writer/scripted.ts";
import { toWriteBundle } from "./bundle.ts";
import { appendRecord, writeEffects } from "./commit.ts";
import { type ControlKey, controlWorld } from "./control.ts";
import type { OpenWorld } from "./reading.ts";
import { type ItemBody, type MessageBody, reduceRecord } from "./reduce.ts";
import { formatState, streamOf } from "./state.ts";
import type { WorldPorts } from "./world-ports.ts";

/** People of a world at most. */
export const MAX_PEOPLE = 1000;
const WORLD_ID = /^w_[a-z0-9][a-z0-9-]{0,62}$/;
const MINUTE = 60_000;
const SYSTEM_REQUEST = "control";

export interface NewPerson {
  readonly person_id: string;
  readonly display_name: string;
}

export interface NewWorld {
  readonly world_id: string | null;
  readonly start: string | null;
  readonly people: readonly NewPerson[];
  /** Title and whatever differs from the defaults. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Makes a world: its first record, its key, its people. */
export async function createWorld(ports: WorldPorts, wanted: NewWorld): Promise<{ readonly world_id: string }> {
  const settings = parseSettings(ports.zones, { timezone: ports.system_zone, ...wanted.settings });
  if (settings.writer.script !== null) parseScript(settings.writer.script);
  const worldId = requireWorldId(wanted.world_id ?? toWorldId(settings.title));
  const clockMs =
    wanted.start === null
      ? Math.floor(ports.clock.now() / MINUTE) * MINUTE
      : toInstant(ports.zones, parseWritten(wanted.start, "/start", "optional"), settings.timezone, "/start");
  const people = new Map<string, string>();
  for (const [i, person] of wanted.people.entries()) {
    requireNewPerson({ operator_id: settings.operator_id, people }, person, `/people/${i}`);
    people.set(person.person_id, person.display_name);
  }
  const body = {
    world_id: worldId,
    world_key: toHex(ports.random.bytes(32)),
    settings,
    clock_ms: clockMs,
    people: wanted.people.map(({ person_id, display_name }) => ({ person_id, display_name })),
  };
  await ports.store.transact(async (door) => {
    // A stream without a world belongs to one that was deleted; its id is spent.
    if ((await door.ledger.head(streamOf(worldId))) !== null) throw exists(worldId);
    const entry = { kind: "WORLD_CREATED", actor: ports.actor, body: body as unknown as JsonValue };
    const [record] = await door.ledger.append(streamOf(worldId), 0, [entry]);
    const effects = reduceRecord(null, { kind: "WORLD_CREATED", position: record!.position, body: body as never });
    const number = await door.world.addWorld(worldId, formatState(effects.state));
    const cast = { operator_id: settings.operator_id } as Cast;
    await writeEffects(ports, door, { number, cast, numbers: new Map() }, effects);
  });
  return { world_id: worldId };
}

/** The id itself, or INPUT_INVALID. */
export function requireWorldId(id: string): string {
  if (WORLD_ID.test(id)) return id;
  throw new VerbatimError("INPUT_INVALID", {
    message: `${JSON.stringify(id)} is no id of a world`,
    where: "/world_id",
  });
}

function toWorldId(title: string): string {
  const slug = title
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}+/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);
  return `w_${slug === "" ? "world" : slug}`;
}

/** The refusal of an id that is taken. */
export function exists(worldId: string): VerbatimError {
  return new VerbatimError("WORLD_EXISTS", { message: `a world ${worldId} exists`, where: "/world_id" });
}

function requireNewPerson(cast: Pick<Cast, "operator_id" | "people">, person: NewPerson, where: string): void {
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
      message: `${person.person_id} is there already`,
      where: `${where}/person_id`,
    });
  }
}

function requireName(name: string, where: string): void {
  text({ visible: true })(name, where);
  if ([...name].length > 80) refuse("FIELD_TOO_LONG", where, "has more than 80 characters");
}

/** Changes settings; the operator id is fixed for ever. */
export async function changeSettings(
  ports: WorldPorts,
  worldId: string,
  changes: Readonly<Record<string, unknown>>,
  key: string | null,
): Promise<{ readonly settings: Settings }> {
  const once = { key, body: { settings: changes } as unknown as JsonValue };
  const changed = await controlWorld(ports, worldId, once, async (door, world) => {
    const before = world.state.settings;
    const settings = parseSettings(ports.zones, mergeSettings(before, changes));
    if (settings.operator_id !== before.operator_id) {
      throw new VerbatimError("OPERATOR_MISMATCH", {
        message: "the operator of a world never changes",
        where: "/operator_id",
      });
    }
    if (settings.writer.script !== null) parseScript(settings.writer.script);
    await appendRecord(ports, door, world, "WORLD_SETTINGS_SET", { settings } as unknown as JsonValue);
    return { settings } as unknown as JsonValue;
  });
  return changed as unknown as { readonly settings: Settings };
}

/** Groups of settings whose members change one by one; a writer or a policy is replaced whole. */
const GROUPS = ["tools", "context", "pocket"] as const;

function mergeSettings(before: Settings, changes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...before, ...changes };
  for (const group of GROUPS) {
    const change = changes[group];
    const isObject = typeof change === "object" && change !== null && !Array.isArray(change);
    if (isObject) merged[group] = { ...before[group], ...change };
  }
  return merged;
}

/** Adds a person; adding the same one again changes nothing. */
export async function addPerson(
  ports: WorldPorts,
  worldId: string,
  person: NewPerson,
  key: string | null = null,
): Promise<NewPerson> {
  const body = { person: { ...person } };
  return (await controlWorld(ports, worldId, { key, body }, async (door, world) => {
    if (world.cast.people.get(person.person_id) === person.display_name) return { ...person };
    requireNewPerson(world.cast, person, "");
    if (world.cast.people.size >= MAX_PEOPLE)
      refuse("FIELD_VALUE", "/person_id", `a world has at most ${MAX_PEOPLE} people`);
    const { person_id, display_name } = person;
    await appendRecord(ports, door, world, "WORLD_PERSON_ADDED", { person_id, display_name });
    return { person_id, display_name };
  })) as unknown as NewPerson;
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
  return (await controlWorld(ports, worldId, { key, body }, async (door, world) => {
    if (!world.cast.people.has(person.person_id)) throw unknownPerson(person.person_id, "/person_id");
    const { person_id, display_name } = person;
    await appendRecord(ports, door, world, "WORLD_PERSON_NAMED", { person_id, display_name });
    return { person_id, display_name };
  })) as unknown as NewPerson;
}

function unknownPerson(id: string, where: string): VerbatimError {
  return new VerbatimError("PERSON_UNKNOWN", { message: `${id} is nobody in this world`, where });
}

/** Those present, checked and in order. */
function requirePresent(world: OpenWorld, present: readonly string[], where: string): string[] {
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
  return (await controlWorld(ports, worldId, once, async (door, world) => {
    const next = requirePresent(world, present, "/present");
    await appendRecord(ports, door, world, "WORLD_PRESENCE_SET", { present: next });
    return { present: next, scene_no: world.state.scene_no };
  })) as unknown as { readonly present: readonly string[]; readonly scene_no: number };
}

/** Starts the next scene; a text is narrated as its first line. */
export async function startScene(
  ports: WorldPorts,
  worldId: string,
  scene: { readonly text: string; readonly present: readonly string[] | null },
  key: string | null = null,
): Promise<{ readonly scene_no: number; readonly bundle_id: string | null; readonly present: readonly string[] }> {
  const body = { scene: { text: scene.text, present: scene.present === null ? null : [...scene.present] } };
  return (await controlWorld(ports, worldId, { key, body }, async (door, world) => {
    const present =
      scene.present === null ? [...world.state.present] : requirePresent(world, scene.present, "/present");
    if (scene.text !== "") entryText.read(scene.text, "/text");
    const cast: Cast = { ...world.cast, present };
    const author: Author = { author_id: WORLD, author_class: "WORLD" };
    const line = { author, channel: "VOICE", text: scene.text, visibility: defaultVisibility(cast, author) } as const;
    const bundle = toWriteBundle(ports.crypto, world.state, {
      request_id: SYSTEM_REQUEST,
      created_at_world: formatInstant(ports.zones, world.state.clock_ms, world.state.zone),
      proposed_by: { engine: "ENGINE_1_INVOCATION", actor: ports.actor },
      lines: scene.text === "" ? [] : [line],
    });
    const record = { scene_no: world.state.scene_no + 1, present, write_bundle: bundle };
    const { state } = await appendRecord(ports, door, world, "WORLD_SCENE_SET", record as unknown as JsonValue);
    return { scene_no: state.scene_no, bundle_id: bundle?.bundle_id ?? null, present: [...state.present] };
  })) as never;
}

export interface NewItem {
  readonly title: string;
  readonly time: string | null;
  readonly location: string | null;
  readonly notes: string | null;
  readonly visible_to: readonly string[] | null;
}

/** Adds a calendar item. Its time is local to the world's zone unless it has an offset. */
export async function addCalendarItem(
  ports: WorldPorts,
  worldId: string,
  wanted: NewItem,
  key: string | null = null,
): Promise<{ readonly item_id: string }> {
  text({ visible: true })(wanted.title, "/title");
  for (const [name, value, most] of [
    ["title", wanted.title, 200],
    ["location", wanted.location, 200],
    ["notes", wanted.notes, 2000],
  ] as const) {
    if (value === null) continue;
    text({ mayBeEmpty: true })(value, `/${name}`);
    if ([...value].length > most) refuse("FIELD_TOO_LONG", `/${name}`, `has more than ${most} characters`);
  }
  const body = { item: { ...wanted, visible_to: wanted.visible_to === null ? null : [...wanted.visible_to] } };
  return (await controlWorld(ports, worldId, { key, body }, async (door, world) => {
    const { zone } = world.state;
    const ms =
      wanted.time === null
        ? null
        : toInstant(ports.zones, parseWritten(wanted.time, "/time", "optional"), zone, "/time");
    const item: ItemBody = {
      title: wanted.title,
      time: ms === null ? null : formatInstant(ports.zones, ms, zone),
      location: wanted.location,
      notes: wanted.notes,
      visible_to: requirePresent(world, wanted.visible_to ?? [world.cast.operator_id], "/visible_to"),
    };
    if (item.visible_to.length === 0) refuse("VISIBILITY_EMPTY", "/visible_to", "must list somebody");
    const item_id = `k_${world.state.next_item}`;
    await appendRecord(ports, door, world, "WORLD_CALENDAR_ADDED", { item_id, item } as unknown as JsonValue);
    return { item_id };
  })) as unknown as { readonly item_id: string };
}

/** Closes a calendar item; closing it again changes nothing. */
export async function closeCalendarItem(
  ports: WorldPorts,
  worldId: string,
  itemId: string,
  key: string | null = null,
): Promise<{ readonly item_id: string; readonly state: string }> {
  return (await controlWorld(ports, worldId, { key, body: { close: itemId } }, async (door, world) => {
    const row = (await door.world.calendar(world.number)).find(({ item_id }) => item_id === itemId);
    if (row === undefined) throw new VerbatimError("CALENDAR_ITEM_UNKNOWN", { where: itemId });
    if (row.state !== "CLOSED") await appendRecord(ports, door, world, "WORLD_CALENDAR_CLOSED", { item_id: itemId });
    return { item_id: itemId, state: "CLOSED" };
  })) as unknown as { readonly item_id: string; readonly state: string };
}

/** Adds a message to the pockets of those who may read it. */
export async function addMessage(
  ports: WorldPorts,
  worldId: string,
  wanted: { readonly from: string; readonly text: string; readonly visible_to: readonly string[] },
  key: string | null = null,
): Promise<{ readonly message_no: number }> {
  entryText.read(wanted.text, "/text");
  const body = { message: { from: wanted.from, text: wanted.text, visible_to: [...wanted.visible_to] } };
  return (await controlWorld(ports, worldId, { key, body }, async (door, world) => {
    if (!isSomebody(world.cast, wanted.from)) throw unknownPerson(wanted.from, "/from");
    const listed = requirePresent(world, wanted.visible_to, "/visible_to");
    if (!listed.some((id) => id !== wanted.from)) refuse("VISIBILITY_EMPTY", "/visible_to", "must list somebody else");
    const message: MessageBody = {
      from: wanted.from,
      text: wanted.text,
      time: formatInstant(ports.zones, world.state.clock_ms, world.state.zone),
      visible_to: sortedUnique([...listed, wanted.from]),
    };
    await appendRecord(ports, door, world, "WORLD_MESSAGE_ADDED", message as unknown as JsonValue);
    return { message_no: world.state.next_message };
  })) as unknown as { readonly message_no: number };
}

/** Makes a token for a person of a world; only its hash is stored. */
export async function makeToken(
  ports: WorldPorts,
  worldId: string,
  viewer: string,
): Promise<{ readonly token: string; readonly role: string; readonly viewer: string }> {
  const token = `vt_${toHex(ports.random.bytes(24))}`;
  const role = await ports.store.transact(async (door) => {
    const row = await door.world.find(worldId);
    if (row === null) throw new VerbatimError("WORLD_NOT_FOUND", { where: worldId });
    const people = await door.world.people(row.number);
    const { operator_id } = (JSON.parse(row.state) as { settings: Settings }).settings;
    if (viewer !== operator_id && !people.some(({ person_id }) => person_id === viewer)) {
      throw unknownPerson(viewer, "/person_id");
    }
    const kind = viewer === operator_id ? "operator" : "viewer";
    await door.world.addToken({ sha256: ports.crypto.sha256(token), role: kind, world_id: worldId, viewer });
    return kind;
  });
  return { token, role, viewer };
}

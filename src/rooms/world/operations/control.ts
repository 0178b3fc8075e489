import { z } from "zod";
import { parseJson } from "../../../core/canonical/index.ts";
import { defineOperation, OPERATOR, OWNER } from "../../../core/operation.ts";
import { changeSettings } from "../history/worlds.ts";
import { addPerson, namePerson, setPresence, startScene } from "../people/people.ts";
import { addCalendarItem, addMessage, closeCalendarItem } from "../people/pocket-writing.ts";
import { setTurn } from "../people/turns.ts";
import { listTokens, makeToken, revokeToken } from "../people/world-tokens.ts";
import { loadWorld } from "../projection/reading.ts";
import { worldTime } from "../projection/views.ts";
import { timePolicySchema } from "../settings.ts";
import { parseInstant } from "../time/instant.ts";
import { findWorldId, keyField as key, type WorldRoom, worldField } from "./room.ts";

const personSchema = z.strictObject({ person_id: z.string(), display_name: z.string() });
const person = z.string().min(1).describe("Id of the person: upper-case letters, digits and _.");
const name = z.string().min(1).describe("Name that readers see.");

const peopleAdd = defineOperation({
  name: "world.people-add",
  summary: "Adds a person to a world.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({ person_id: person, display_name: name, world: worldField, key }),
  output: personSchema,
  run: async (room: WorldRoom, { person_id, display_name, world, key: once }) =>
    addPerson(room, await findWorldId(room, world), { person_id, display_name }, once ?? null),
});

const peopleName = defineOperation({
  name: "world.people-name",
  summary: "Renames a person; stored answers keep the old name.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({ person_id: person, display_name: name, world: worldField, key }),
  output: personSchema,
  run: async (room: WorldRoom, { person_id, display_name, world, key: once }) =>
    namePerson(room, await findWorldId(room, world), { person_id, display_name }, once ?? null),
});

const peopleToken = defineOperation({
  name: "world.people-token",
  summary: "Creates a token for reading one person's view over HTTP. It is shown only once.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({ person_id: person, world: worldField }),
  output: z.strictObject({ token: z.string(), role: z.string(), viewer: z.string() }),
  async run(room: WorldRoom, { person_id, world }) {
    const { token, role, viewer } = await makeToken(room, await findWorldId(room, world), { person_id });
    return { token, role, viewer };
  },
});

const tokenSchema = z.strictObject({
  token_id: z.string(),
  role: z.string(),
  viewer: z.string(),
  label: z.string().nullable(),
  made_at: z.string().nullable(),
  last_used_on: z.string().nullable().describe("A day, not a time."),
  expires_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
});

const tokens = defineOperation({
  name: "world.tokens",
  summary: "Lists the tokens of a world's story.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({ world: worldField }),
  output: z.strictObject({ tokens: z.array(tokenSchema) }),
  run: async (room: WorldRoom, { world }) => ({
    tokens: (await listTokens(room, await findWorldId(room, world))).map((one) => ({ ...one })),
  }),
});

const tokenMake = defineOperation({
  name: "world.token-make",
  summary:
    "Creates a token of a world's story: for reading, for playing a person, or for the operator. It is shown only once.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({
    person_id: person,
    role: z
      .enum(["operator", "player", "viewer"])
      .optional()
      .describe("What it may do (default: operator for the operator, viewer for anybody else)."),
    label: z.string().min(1).max(80).optional().describe("What you call it."),
    expires_at: z.string().optional().describe("When it ends, with a UTC offset."),
    world: worldField,
  }),
  output: z.strictObject({ token: z.string(), token_id: z.string(), role: z.string(), viewer: z.string() }),
  async run(room: WorldRoom, { person_id, role, label, expires_at, world }) {
    const expires_ms = expires_at === undefined ? undefined : parseInstant(expires_at, "/expires_at");
    return { ...(await makeToken(room, await findWorldId(room, world), { person_id, role, label, expires_ms })) };
  },
});

const tokenRevoke = defineOperation({
  name: "world.token-revoke",
  summary: "Takes a token back.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({ token_id: z.string().min(1).describe("Id of the token."), world: worldField }),
  output: tokenSchema,
  run: async (room: WorldRoom, { token_id, world }) => ({
    ...(await revokeToken(room, await findWorldId(room, world), token_id)),
  }),
});

const presence = defineOperation({
  name: "world.presence",
  summary: "Sets who is present; with a text, starts a new scene.",
  effect: "append",
  who: OPERATOR,
  input: z.strictObject({
    present: z.array(z.string()).describe("Ids of everyone who is present."),
    world: worldField,
    scene: z.string().optional().describe("Start a new scene with this line of narration."),
    key,
  }),
  output: z.strictObject({ present: z.array(z.string()), scene_no: z.int() }),
  async run(room: WorldRoom, { present, world, scene, key: once }) {
    const worldId = await findWorldId(room, world);
    const set =
      scene === undefined
        ? await setPresence(room, worldId, present, once ?? null)
        : await startScene(room, worldId, { text: scene, present }, once ?? null);
    return { present: [...set.present], scene_no: set.scene_no };
  },
});

const scene = defineOperation({
  name: "world.scene",
  summary: "Starts the next scene, with or without a line of narration.",
  effect: "append",
  who: OPERATOR,
  input: z.strictObject({
    text: z.string().default("").describe("First line of the scene."),
    present: z.array(z.string()).optional().describe("Ids of everyone who is present (default: as before)."),
    world: worldField,
    key,
  }),
  output: z.strictObject({ scene_no: z.int(), bundle_id: z.string().nullable() }),
  async run(room: WorldRoom, { text, present, world, key: once }) {
    const wanted = { text, present: present ?? null };
    const { scene_no, bundle_id } = await startScene(room, await findWorldId(room, world), wanted, once ?? null);
    return { scene_no, bundle_id };
  },
});

const turnSet = defineOperation({
  name: "world.turn-set",
  summary: "Says whose turn it is in the next beat of a world of turns.",
  effect: "append",
  who: OPERATOR,
  input: z.strictObject({
    next: z.array(z.string()).describe("Ids of the people who act next, in order; nobody: only the narration."),
    world: worldField,
    key,
  }),
  output: z.strictObject({ next: z.array(z.string()) }),
  async run(room: WorldRoom, { next, world, key: once }) {
    const set = await setTurn(room, await findWorldId(room, world), next, once ?? null);
    return { next: [...set.next] };
  },
});

const calendarAdd = defineOperation({
  name: "world.calendar-add",
  summary: "Adds an item to the calendar; it becomes due when the world's clock passes its time.",
  effect: "append",
  who: OPERATOR,
  input: z.strictObject({
    title: z.string().min(1).describe("What it is."),
    time: z.string().optional().describe("When, in the world's zone or with an offset."),
    location: z.string().optional().describe("Where."),
    notes: z.string().optional().describe("Anything else worth noting."),
    visible_to: z.array(z.string()).optional().describe("Who may see it (default: the operator)."),
    world: worldField,
    key,
  }),
  output: z.strictObject({ item_id: z.string() }),
  run: async (room: WorldRoom, { title, time, location, notes, visible_to, world, key: once }) =>
    addCalendarItem(
      room,
      await findWorldId(room, world),
      { title, time: time ?? null, location: location ?? null, notes: notes ?? null, visible_to: visible_to ?? null },
      once ?? null,
    ),
});

const calendarClose = defineOperation({
  name: "world.calendar-close",
  summary: "Closes a calendar item.",
  effect: "append",
  who: OPERATOR,
  input: z.strictObject({
    item_id: z.string().min(1).describe("Id of the item."),
    viewer: z.string().optional().describe("Only an item that this viewer may see (default: any item)."),
    world: worldField,
    key,
  }),
  output: z.strictObject({ item_id: z.string(), state: z.string() }),
  run: async (room: WorldRoom, { item_id, viewer, world, key: once }) =>
    closeCalendarItem(room, await findWorldId(room, world), { item_id, viewer: viewer ?? null }, once ?? null),
});

const messageAdd = defineOperation({
  name: "world.message-add",
  summary: "Sends a message from one person to others; it appears in their pockets, not in the stream.",
  effect: "append",
  who: OPERATOR,
  input: z.strictObject({
    from: z.string().min(1).describe("Who sends it: the operator or a person."),
    text: z.string().min(1).describe("What it says."),
    visible_to: z.array(z.string()).describe("Who receives it."),
    world: worldField,
    key,
  }),
  output: z.strictObject({ message_id: z.string() }),
  run: async (room: WorldRoom, { from, text, visible_to, world, key: once }) =>
    addMessage(room, await findWorldId(room, world), { from, text, visible_to }, once ?? null),
});

const timeSchema = z.strictObject({
  world_time: z.string(),
  timezone: z.string(),
  paused: z.boolean(),
  policy: timePolicySchema,
});

async function readTime(room: WorldRoom, worldId: string): Promise<z.input<typeof timeSchema>> {
  const world = await room.store.read((tx) => loadWorld(tx.world, worldId));
  const { zone, paused, settings } = world.state;
  return { world_time: worldTime(room, world), timezone: zone, paused, policy: settings.time_policy };
}

const timeShow = defineOperation({
  name: "world.time",
  summary: "Shows the clock of a world.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({ world: worldField }),
  output: timeSchema,
  run: async (room: WorldRoom, { world }) => readTime(room, await findWorldId(room, world)),
});

const timePolicy = defineOperation({
  name: "world.time-policy",
  summary: "Sets how time moves when it is not set by hand.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({
    policy: z.string().describe('JSON: {"kind":"explicit"}, {"kind":"step","step_ms":60000} or a rate.'),
    world: worldField,
  }),
  output: timeSchema,
  async run(room: WorldRoom, { policy, world }) {
    const worldId = await findWorldId(room, world);
    await changeSettings(room, worldId, { time_policy: parseJson(policy) }, null);
    return readTime(room, worldId);
  },
});

export const CONTROL_OPERATIONS = [
  peopleAdd,
  peopleName,
  peopleToken,
  tokens,
  tokenMake,
  tokenRevoke,
  presence,
  scene,
  turnSet,
  calendarAdd,
  calendarClose,
  messageAdd,
  timeShow,
  timePolicy,
] as const;

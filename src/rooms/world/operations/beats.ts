import { z } from "zod";
import { isJsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toHex } from "../../../core/hex.ts";
import { defineOperation, OWNER, PLAYER } from "../../../core/operation.ts";
import { isControlId } from "../beat/idempotency.ts";
import { type Answer, readHeaders, type Sending } from "../beat/invocation.ts";
import { isOwnId, type Sender } from "../beat/speaker.ts";
import { projectionOutputSchema } from "../contracts/schemas.ts";
import type { Cast } from "../people/cast.ts";
import type { StoredInvocation } from "../ports.ts";
import { loadWorld } from "../projection/reading.ts";
import { findWorldId, requestIdField, type WorldRoom, worldField } from "./room.ts";

const answerSchema = z.strictObject({
  request_id: z.string(),
  /** How the beat ended: WROTE, SILENCE, ... */
  result: z.string(),
  code: z.string().nullable(),
  replayed: z.boolean(),
  output: projectionOutputSchema,
});

const beatInput = {
  world: worldField,
  request_id: requestIdField,
  at: z.string().optional().describe("Set the world's time, for example 2026-01-01T22:00, or with a UTC offset."),
  timezone: z.string().optional().describe("Set the world's time zone, an IANA name."),
  pause: z.boolean().default(false).describe("Pause the clock."),
  resume: z.boolean().default(false).describe("Resume the clock."),
  cursor: z.string().optional().describe("Show everything after this cursor."),
};

const speaking = {
  speaker: z.string().min(1).optional().describe("Speak as this person, or as WORLD (default: the operator)."),
  corrects: z.string().min(1).optional().describe("Entry that this corrects; both lines stay."),
  no_writer: z.boolean().default(false).describe("Only write the line; no writer goes on from it."),
};

const beatSchema = z.strictObject(beatInput);
const saySchema = z.strictObject({
  text: z.string().describe("What the operator says or does."),
  ...beatInput,
  ...speaking,
});
type BeatInput = z.output<typeof beatSchema>;

const RESULT = "Verbatim-Beat-Result";
const CODE = "Verbatim-Beat-Code";

/** Ids that the room makes for its own writes; nobody else may use them. */
const OWN_IDS = ["sys:", "auto:"] as const;

export function requireForeign(requestId: unknown): void {
  const own = typeof requestId === "string" ? OWN_IDS.find((prefix) => requestId.startsWith(prefix)) : undefined;
  if (own === undefined) return;
  throw new VerbatimError("FIELD_PATTERN", {
    message: `request ids that start with ${own} are made by the system`,
    where: "/request_id",
    fix: "Use a request id of your own.",
  });
}

async function send(
  room: WorldRoom,
  text: string,
  input: BeatInput & Partial<Omit<z.output<typeof saySchema>, "text">>,
): Promise<{ answer: Answer; request_id: string }> {
  const worldId = await findWorldId(room, input.world);
  requireForeign(input.request_id);
  if (input.pause && input.resume) throw new VerbatimError("USAGE", { message: "pause and resume cannot be combined" });
  const { operator_id } = (await room.store.read((tx) => loadWorld(tx.world, worldId))).cast;
  const request_id = input.request_id ?? `${room.actor}-${toHex(room.random.bytes(8))}`;
  const envelope = {
    request_id,
    invoker: { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" },
    operator: { operator_id, input_text: text },
    mode: { kind: "BEAT" },
    declared_overrides: {
      time: { declared_world_time: input.at ?? null, timezone: input.timezone ?? null },
      pause_time: input.pause ? true : input.resume ? false : null,
    },
    ui: { stream_cursor: input.cursor ?? null, client_timestamp_utc: null },
  };
  const { speaker = null, corrects = null, no_writer } = input;
  const wishes = { speaker, corrects, writer: no_writer === true ? ("off" as const) : null };
  const sending: Sending = { sender: { role: "owner", person: null }, wishes };
  return { answer: await room.beats.invoke(worldId, envelope, sending), request_id };
}

function toAnswer({ answer, request_id }: { answer: Answer; request_id: string }): z.input<typeof answerSchema> {
  return {
    request_id,
    result: answer.headers[RESULT] ?? "",
    code: answer.headers[CODE] ?? null,
    replayed: answer.replayed,
    output: JSON.parse(answer.body) as z.input<typeof projectionOutputSchema>,
  };
}

const say = defineOperation({
  name: "world.say",
  summary: "Says something as the operator and shows what happens.",
  effect: "append",
  who: OWNER,
  input: saySchema,
  output: answerSchema,
  run: async (room: WorldRoom, { text, ...input }) => toAnswer(await send(room, text, input)),
  async *lines(room: WorldRoom, { text, ...input }) {
    yield (await send(room, text, input)).answer.body;
  },
});

const beat = defineOperation({
  name: "world.beat",
  summary: "Lets a beat pass without saying anything.",
  effect: "append",
  who: OWNER,
  input: beatSchema,
  output: answerSchema,
  run: async (room: WorldRoom, input) => toAnswer(await send(room, "", input)),
  async *lines(room: WorldRoom, input) {
    yield (await send(room, "", input)).answer.body;
  },
});

/** As whom a caller acts; anybody but the owner is told by the token. */
export const senderFields = {
  role: z.enum(["owner", "operator", "player"]).default("owner").describe("Act with the rights of this role."),
  person: z.string().min(1).optional().describe("The person that a player plays."),
};

export function toSender({ role, person }: { role: Sender["role"]; person?: string | undefined }): Sender {
  if (role === "player" && person === undefined) throw new VerbatimError("USAGE", { message: "a player has a person" });
  return { role, person: person ?? null };
}

const invoke = defineOperation({
  name: "world.invoke",
  summary: "Runs an invocation envelope; the same request is answered with the same bytes.",
  effect: "append",
  who: PLAYER,
  input: z.strictObject({
    world: z.string().min(1).describe("World by id."),
    envelope: z.unknown().describe("An InvocationEnvelope."),
    speaker: z.string().min(1).optional().describe("Who speaks: the operator, a person, or WORLD."),
    corrects: z.string().min(1).optional().describe("Entry that the words correct."),
    writer: z.enum(["on", "off"]).optional().describe("Whether the writer goes on from them (default: as set)."),
    ...senderFields,
  }),
  output: z.strictObject({
    body: z.string().describe("Exact bytes of the projection output."),
    headers: z.record(z.string(), z.string()),
    replayed: z.boolean(),
  }),
  async run(room: WorldRoom, { world, envelope, speaker, corrects, writer, role, person }) {
    const value = (envelope ?? null) as JsonValue;
    requireForeign(isJsonObject(value) ? value["request_id"] : undefined);
    const wishes = { speaker: speaker ?? null, corrects: corrects ?? null, writer: writer ?? null };
    return { ...(await room.beats.invoke(world, value, { sender: toSender({ role, person }), wishes })) };
  },
});

const invocation = defineOperation({
  name: "world.invocation",
  summary: "Shows the state of an invocation.",
  effect: "read",
  who: PLAYER,
  input: z.strictObject({
    world: worldField,
    request_id: z.string().min(1).describe("Id of the request."),
    ...senderFields,
  }),
  output: z.strictObject({
    request_id: z.string(),
    status: z.enum(["PENDING", "RELEASED", "DONE"]),
    outcome: projectionOutputSchema.nullable(),
    headers: z.record(z.string(), z.string()).nullable(),
  }),
  async run(room: WorldRoom, { world, request_id, role, person }) {
    const worldId = await findWorldId(room, world);
    const sender = toSender({ role, person });
    const stored = await room.store.read(async (tx) => {
      const { number, cast } = await loadWorld(tx.world, worldId);
      const found = isOwnId(cast, sender, request_id) ? await tx.world.invocation(number, request_id) : null;
      return found !== null && isForSender(cast, sender, found) ? found : null;
    });
    if (stored === null || isControlId(request_id)) {
      throw new VerbatimError("INVOCATION_NOT_FOUND", { where: request_id });
    }
    const { status, outcome, headers } = stored;
    return {
      request_id,
      status,
      outcome: outcome === null ? null : (JSON.parse(outcome) as z.input<typeof projectionOutputSchema>),
      headers: status !== "DONE" || headers === null ? null : { ...readHeaders(headers).headers },
    };
  },
});

/** An answer is of its speaker's surface, and an operator reads nobody else's. */
function isForSender(
  cast: Pick<Cast, "operator_id">,
  { role }: Sender,
  { status, headers }: StoredInvocation,
): boolean {
  if (role !== "operator" || status !== "DONE" || headers === null) return true;
  return (readHeaders(headers).beat?.viewer ?? cast.operator_id) === cast.operator_id;
}

const stop = defineOperation({
  name: "world.stop",
  summary: "Stops the writer of a beat that is running; what the operator said is kept.",
  effect: "append",
  who: PLAYER,
  input: z.strictObject({
    world: worldField,
    request_id: z.string().min(1).describe("Id of the request."),
    ...senderFields,
  }),
  output: z.strictObject({ request_id: z.string(), stopped: z.boolean() }),
  async run(room: WorldRoom, { world, request_id, role, person }) {
    const worldId = await findWorldId(room, world);
    const { cast } = await room.store.read((tx) => loadWorld(tx.world, worldId));
    if (!isOwnId(cast, toSender({ role, person }), request_id)) {
      throw new VerbatimError("INVOCATION_NOT_FOUND", { where: request_id });
    }
    return { request_id, stopped: await room.beats.stop(worldId, request_id) };
  },
});

export const BEAT_OPERATIONS = [say, beat, invoke, invocation, stop] as const;

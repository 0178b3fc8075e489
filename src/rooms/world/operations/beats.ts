import { z } from "zod";
import { isJsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toHex } from "../../../core/hex.ts";
import { defineOperation, OPERATOR, OWNER } from "../../../core/operation.ts";
import { isControlId } from "../beat/idempotency.ts";
import type { Answer } from "../beat/invocation.ts";
import { projectionOutputSchema } from "../contracts/schemas.ts";
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

const beatSchema = z.strictObject(beatInput);
type BeatInput = z.output<typeof beatSchema>;

const RESULT = "Verbatim-Beat-Result";
const CODE = "Verbatim-Beat-Code";

/** Ids that the room makes for its own writes; nobody else may use them. */
const OWN_IDS = ["sys:", "auto:"] as const;

function requireForeign(requestId: unknown): void {
  const own = typeof requestId === "string" ? OWN_IDS.find((prefix) => requestId.startsWith(prefix)) : undefined;
  if (own === undefined) return;
  throw new VerbatimError("FIELD_PATTERN", {
    message: `request ids that start with ${own} are made by the system`,
    where: "/request_id",
    fix: "Use a request id of your own.",
  });
}

async function send(room: WorldRoom, text: string, input: BeatInput): Promise<{ answer: Answer; request_id: string }> {
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
  return { answer: await room.beats.invoke(worldId, envelope), request_id };
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
  input: z.strictObject({ text: z.string().describe("What the operator says or does."), ...beatInput }),
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

const invoke = defineOperation({
  name: "world.invoke",
  summary: "Runs an invocation envelope; the same request is answered with the same bytes.",
  effect: "append",
  who: OPERATOR,
  input: z.strictObject({
    world: z.string().min(1).describe("World by id."),
    envelope: z.unknown().describe("An InvocationEnvelope."),
  }),
  output: z.strictObject({
    body: z.string().describe("Exact bytes of the projection output."),
    headers: z.record(z.string(), z.string()),
    replayed: z.boolean(),
  }),
  async run(room: WorldRoom, { world, envelope }) {
    const value = (envelope ?? null) as JsonValue;
    requireForeign(isJsonObject(value) ? value["request_id"] : undefined);
    return { ...(await room.beats.invoke(world, value)) };
  },
});

const invocation = defineOperation({
  name: "world.invocation",
  summary: "Shows the state of an invocation.",
  effect: "read",
  who: OPERATOR,
  input: z.strictObject({ world: worldField, request_id: z.string().min(1).describe("Id of the request.") }),
  output: z.strictObject({
    request_id: z.string(),
    status: z.enum(["PENDING", "RELEASED", "DONE"]),
    outcome: projectionOutputSchema.nullable(),
    headers: z.record(z.string(), z.string()).nullable(),
  }),
  async run(room: WorldRoom, { world, request_id }) {
    const worldId = await findWorldId(room, world);
    const stored = await room.store.read(async (tx) => {
      const { number } = await loadWorld(tx.world, worldId);
      return tx.world.invocation(number, request_id);
    });
    if (stored === null || isControlId(request_id)) {
      throw new VerbatimError("INVOCATION_NOT_FOUND", { where: request_id });
    }
    const { status, outcome, headers } = stored;
    return {
      request_id,
      status,
      outcome: outcome === null ? null : (JSON.parse(outcome) as z.input<typeof projectionOutputSchema>),
      headers: status !== "DONE" || headers === null ? null : (JSON.parse(headers) as Record<string, string>),
    };
  },
});

const stop = defineOperation({
  name: "world.stop",
  summary: "Stops the writer of a beat that is running; what the operator said is kept.",
  effect: "append",
  who: OPERATOR,
  input: z.strictObject({ world: worldField, request_id: z.string().min(1).describe("Id of the request.") }),
  output: z.strictObject({ request_id: z.string(), stopped: z.boolean() }),
  async run(room: WorldRoom, { world, request_id }) {
    const worldId = await findWorldId(room, world);
    return { request_id, stopped: await room.beats.stop(worldId, request_id) };
  },
});

export const BEAT_OPERATIONS = [say, beat, invoke, invocation, stop] as const;

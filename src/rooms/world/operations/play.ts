import { z } from "zod";
import type { JsonValue } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, OPERATOR, OWNER, PLAYER, VIEWER } from "../../../core/operation.ts";
import { listBeats } from "../beat/beat-list.ts";
import { countText, previewTime } from "../beat/previews.ts";
import { readMessages } from "../projection/messages.ts";
import { senderFields, toSender } from "./beats.ts";
import { findWorldId, viewerField, type WorldRoom, worldField } from "./room.ts";

const afterField = z.string().max(512).optional().describe("next of the page before.");

const beats = defineOperation({
  name: "world.beats",
  summary: "Lists beats, newest first: what was asked, how it ended, and which lines it wrote.",
  effect: "read",
  who: OPERATOR,
  input: z.strictObject({
    world: worldField,
    speaker: z.string().min(1).optional().describe("Only beats of this speaker."),
    limit: z.int().min(1).max(200).default(50).describe("Maximum number of beats."),
    after: afterField,
    ...senderFields,
  }),
  output: z.strictObject({
    beats: z.array(
      z.strictObject({
        request_id: z.string(),
        speaker: z.string(),
        kind: z.enum(["BEAT", "LINE"]),
        result: z.string().nullable(),
        code: z.string().nullable(),
        at: z.string(),
        world_time: z.string(),
        bundle_id: z.string().nullable(),
        entry_ids: z.array(z.string()),
        versions: z.int().describe("How many times it was lived, the first one included."),
        calls: z.int().optional().describe("For the owner, as what follows."),
        input_tokens: z.int().nullable().optional(),
        output_tokens: z.int().nullable().optional(),
        rehydrated: z.boolean().optional(),
        lint: z.array(z.string()).optional(),
      }),
    ),
    next: z.string().nullable(),
  }),
  async run(room: WorldRoom, { world, speaker, limit, after, ...by }) {
    const query = { speaker: speaker ?? null, limit, after: after ?? null };
    const listed = await listBeats(room, await findWorldId(room, world), query, toSender(by));
    return {
      next: listed.next,
      beats: listed.beats.map(({ lint, ...one }) => ({
        ...one,
        entry_ids: [...one.entry_ids],
        ...(lint === undefined ? {} : { lint: [...lint] }),
      })),
    };
  },
});

const messages = defineOperation({
  name: "world.messages",
  summary: "Lists the messages a viewer may see, newest first.",
  effect: "read",
  who: VIEWER,
  input: z.strictObject({
    world: worldField,
    viewer: viewerField,
    limit: z.int().min(1).max(200).default(50).describe("Maximum number of messages."),
    after: afterField,
  }),
  output: z.strictObject({
    items: z.array(z.strictObject({ message_id: z.string(), from: z.string(), text: z.string(), time: z.string() })),
    next: z.string().nullable(),
  }),
  async run(room: WorldRoom, { world, viewer, limit, after }) {
    const query = { viewer: viewer ?? null, limit, after: after ?? null };
    const { items, next } = await readMessages(room, await findWorldId(room, world), query);
    return { items: items.map((one) => ({ ...one })), next };
  },
});

const timePreview = defineOperation({
  name: "world.time-preview",
  summary: "Shows what a declaration of time would do: the gap, and what becomes due.",
  effect: "read",
  who: OPERATOR,
  input: z.strictObject({
    at: z.string().optional().describe("The time that would be declared."),
    timezone: z.string().optional().describe("The zone that would be declared."),
    pause: z.boolean().optional().describe("Whether the clock would be paused."),
    viewer: viewerField,
    world: worldField,
  }),
  output: z.strictObject({
    clock_before: z.string(),
    clock_after: z.string(),
    timezone: z.string(),
    paused: z.boolean(),
    gap_ms: z.int(),
    due: z.array(z.strictObject({ item_id: z.string(), title: z.string(), time: z.string().nullable() })),
  }),
  async run(room: WorldRoom, { at, timezone, pause, viewer, world }) {
    const asked = { at: at ?? null, timezone: timezone ?? null, pause: pause ?? null };
    const shown = await previewTime(room, await findWorldId(room, world), asked, viewer ?? null);
    return { ...shown, due: shown.due.map((one) => ({ ...one })) };
  },
});

const count = defineOperation({
  name: "world.count",
  summary: "Says how long a text is and whether it fits the window of the world.",
  effect: "read",
  who: PLAYER,
  input: z.strictObject({ text: z.string().describe("Text to count."), world: worldField }),
  output: z.strictObject({
    bytes: z.int(),
    tokens: z.int(),
    tokenizer: z.string(),
    max_bytes: z.int().describe("About how many bytes fit."),
    fits: z.boolean(),
  }),
  run: async (room: WorldRoom, { text, world }) => ({
    ...(await countText(room, await findWorldId(room, world), text)),
  }),
});

const partSchema = z.looseObject({ part: z.string(), bytes: z.int(), tokens: z.int() });

const preview = defineOperation({
  name: "world.preview",
  summary: "Shows what the writers of an invocation would be sent; nothing is claimed, stored or asked.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({
    envelope: z.unknown().optional().describe("An InvocationEnvelope (default: one with the text)."),
    text: z.string().optional().describe("What the operator would say."),
    messages: z.boolean().default(false).describe("Also show the exact messages."),
    world: worldField,
  }),
  output: z.strictObject({
    passes: z.array(
      z.strictObject({
        actor: z.string(),
        view: z.string(),
        writer: z.strictObject({ kind: z.string(), model: z.string().nullable() }),
        load: z.int(),
        usable: z.int(),
        trigger: z.int(),
        rehydrates: z.boolean(),
        parts: z.array(partSchema),
        messages: z.array(z.strictObject({ role: z.string(), content: z.string() })).optional(),
      }),
    ),
    clock_after: z.string(),
    due: z.array(z.string()),
  }),
  async run(room: WorldRoom, { envelope, text, messages: isWhole, world }) {
    const worldId = await findWorldId(room, world);
    if ((envelope === undefined) === (text === undefined)) {
      throw new VerbatimError("USAGE", { message: "give either an envelope or a text" });
    }
    const shown = await room.beats.preview(worldId, (envelope ?? null) as JsonValue, text ?? null, isWhole);
    const passes = shown.passes.map(({ messages: sent, parts, ...pass }) => ({
      ...pass,
      parts: parts.map((part) => ({ ...part })),
      ...(sent === undefined ? {} : { messages: sent.map(({ role, content }) => ({ role, content })) }),
    }));
    return { ...shown, passes, due: [...shown.due] };
  },
});

export const PLAY_OPERATIONS = [beats, messages, timePreview, count, preview] as const;

import { z } from "zod";
import type { JsonValue } from "../../../core/canonical/index.ts";
import { toHex } from "../../../core/hex.ts";
import { defineOperation, OPERATOR } from "../../../core/operation.ts";
import { editLine } from "../beat/edit.ts";
import { listVersions } from "../beat/version-list.ts";
import { keepVersion, type MadeVersion, makeVersion } from "../beat/versions.ts";
import { projectionOutputSchema } from "../contracts/schemas.ts";
import { requireForeign, senderFields, toSender } from "./beats.ts";
import { findWorldId, keyField as key, requestIdField, type WorldRoom, worldField } from "./room.ts";

const excerptSchema = z.strictObject({
  entry_id: z.string(),
  author_label: z.string().nullable(),
  channel: z.string(),
  excerpt: z.string(),
});
const versionSchema = z.strictObject({
  version_no: z.int(),
  world_id: z.string(),
  request_id: z.string(),
  result: z.string().nullable().describe("How its beat ended; null for one that was not lived yet."),
  code: z.string().nullable(),
  kept: z.boolean(),
});
const listedSchema = z.strictObject({
  ...versionSchema.shape,
  made_at: z.string(),
  goes_on: z.boolean().describe("Whether there are beats after it."),
  first: excerptSchema.nullable().describe("The first line that answers, as far as the caller may see it."),
});
const madeSchema = z.strictObject({
  story_id: z.string(),
  of: z.string(),
  version: versionSchema,
  output: projectionOutputSchema.nullable(),
});

const ofField = z.string().min(1).max(128).optional().describe("Request id of the beat (default: the newest).");

const versions = defineOperation({
  name: "world.versions",
  summary: "Lists the versions of a beat.",
  effect: "read",
  who: OPERATOR,
  input: z.strictObject({ of: ofField, world: worldField, ...senderFields }),
  output: z.strictObject({ of: z.string(), versions: z.array(listedSchema) }),
  async run(room: WorldRoom, { of, world, ...by }) {
    const listed = await listVersions(room, await findWorldId(room, world), of ?? null, toSender(by));
    return { of: listed.of, versions: [...listed.versions] };
  },
});

const versionMake = defineOperation({
  name: "world.version-make",
  summary: "Lives a beat again in a world of its own, at the same time, with the same words or with others.",
  effect: "append",
  who: OPERATOR,
  input: z.strictObject({
    of: ofField,
    request_id: requestIdField,
    input_text: z.string().optional().describe("Other words of whoever spoke."),
    entries: z.array(z.unknown()).optional().describe("Your own lines instead of a writer's."),
    writer: z.string().min(1).optional().describe("off, or a name of writers (default: as the world is set)."),
    world: worldField,
    ...senderFields,
  }),
  output: madeSchema,
  async run(room: WorldRoom, { of, request_id, input_text, entries, writer, world, ...by }) {
    requireForeign(request_id);
    const wanted = {
      of: of ?? null,
      request_id: request_id ?? makeRequestId(room),
      input_text: input_text ?? null,
      entries: (entries ?? null) as JsonValue | null,
      writer: writer ?? null,
    };
    return toAnswer(await makeVersion(room, room.beats, await findWorldId(room, world), wanted, toSender(by)));
  },
});

const keep = defineOperation({
  name: "world.keep",
  summary: "Says which version of a story its readers and players open.",
  effect: "append",
  who: OPERATOR,
  input: z.strictObject({
    world_id: z.string().min(1).describe("The version to keep."),
    world: worldField,
    key,
  }),
  output: z.strictObject({ story_id: z.string(), kept_world_id: z.string() }),
  async run(room: WorldRoom, { world_id, world, key: once }) {
    return { ...(await keepVersion(room, await findWorldId(room, world), world_id, once ?? null)) };
  },
});

const edit = defineOperation({
  name: "world.edit",
  summary:
    "Lives a beat again with another text in one of its lines. The line that was written stays in its own version.",
  effect: "append",
  who: OPERATOR,
  input: z.strictObject({
    entry_id: z.string().min(1).describe("Line that is edited."),
    text: z.string().min(1).describe("What it says instead."),
    keep: z.boolean().default(false).describe("Keep the new version at once."),
    request_id: requestIdField,
    world: worldField,
    ...senderFields,
  }),
  output: madeSchema,
  async run(room: WorldRoom, { entry_id, text, keep: isKept, request_id, world, ...by }) {
    requireForeign(request_id);
    const wanted = { entry_id, text, keep: isKept, request_id: request_id ?? makeRequestId(room) };
    return toAnswer(await editLine(room, room.beats, await findWorldId(room, world), wanted, toSender(by)));
  },
});

function makeRequestId(room: WorldRoom): string {
  return `${room.actor}-${toHex(room.random.bytes(8))}`;
}

function toAnswer({ story_id, of, version, output }: MadeVersion): z.input<typeof madeSchema> {
  const shown = JSON.parse(JSON.stringify(output)) as z.input<typeof projectionOutputSchema> | null;
  return { story_id, of, version: { ...version }, output: shown };
}

export const VERSION_OPERATIONS = [versions, versionMake, keep, edit] as const;

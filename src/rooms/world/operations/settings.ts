import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, OWNER } from "../../../core/operation.ts";
import { refuse } from "../contracts/fields.ts";
import { changeSettings } from "../history/worlds.ts";
import { loadWorld } from "../projection/reading.ts";
import { parseSettings, type Settings, settingsSchema } from "../settings.ts";
import { mayBeSent, pairOf, toForbidden } from "../writer/pairs.ts";
import { DEFAULT_ADDRESS, REPLIES, type WriterSettings, writerSchema } from "../writer/writer-settings.ts";
import { STEPS, testWriter } from "../writer/writer-test.ts";
import { findWorldId, keyField, type WorldRoom, worldField } from "./room.ts";

async function readSettings(room: WorldRoom, world: string | undefined): Promise<Settings> {
  const worldId = await findWorldId(room, world);
  return (await room.store.read((tx) => loadWorld(tx.world, worldId))).state.settings;
}

const settingsShow = defineOperation({
  name: "world.settings",
  summary: "Shows the settings of a world, with their defaults.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({ world: worldField }),
  output: z.strictObject({ settings: settingsSchema }),
  run: async (room: WorldRoom, { world }) => ({ settings: await readSettings(room, world) }),
});

const settingsSet = defineOperation({
  name: "world.settings-set",
  summary: "Changes settings of a world as a merge patch: what is not named stays as it is, null means the default.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({
    world: worldField,
    settings: z.record(z.string(), z.unknown()).describe("Settings to change."),
    key: keyField,
  }),
  output: z.strictObject({ settings: settingsSchema }),
  run: async (room: WorldRoom, { world, settings, key }) =>
    changeSettings(room, await findWorldId(room, world), settings, key ?? null),
});

const writerShow = defineOperation({
  name: "world.writer",
  summary: "Shows who writes a world.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({ world: worldField }),
  output: z.strictObject({ writer: writerSchema }),
  run: async (room: WorldRoom, { world }) => ({ writer: (await readSettings(room, world)).writer }),
});

const writerSet = defineOperation({
  name: "world.writer-set",
  summary: "Changes who writes a world, and pairs its key with its address where commands may be typed.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({
    world: worldField,
    kind: z.enum(["scripted", "ollama", "openai-compatible"]).optional().describe("Who writes."),
    model: z.string().optional().describe("Model of the writer."),
    base_url: z.string().optional().describe("Address of its provider."),
    api_key_env: z.string().optional().describe("Environment variable that contains the provider's key."),
    reply: z.enum(REPLIES).optional().describe("What its raw answer is."),
    thinking: z.enum(["off", "on"]).optional().describe("Whether it may think before it answers."),
    dialect: z.enum(["openai", "llama.cpp", "vllm", "openrouter"]).optional().describe("Which server it is."),
    sampling: z.string().optional().describe("Name of the preset it draws its words with."),
    timeout_ms: z.int().optional().describe("How long one call may take, in milliseconds."),
    key: keyField,
  }),
  output: z.strictObject({ writer: writerSchema }),
  async run(room: WorldRoom, { world, key, ...writer }) {
    const worldId = await findWorldId(room, world);
    const { settings } = await changeSettings(room, worldId, { writer }, key ?? null);
    return { writer: settings.writer };
  },
});

const stepSchema = z.strictObject({
  step: z.enum(STEPS),
  ok: z.boolean(),
  code: z.string().nullable(),
  words: z.string(),
  ms: z.int(),
});

/** A writer that no world has yet, with the defaults of the other fields. */
const writerField = z
  .record(z.string(), z.unknown())
  .optional()
  .describe("A writer as settings have one, instead of that of a world.");

function parseWriter(given: Readonly<Record<string, unknown>>): WriterSettings {
  const parsed = writerSchema.safeParse(given);
  const [problem] = parsed.success ? [] : parsed.error.issues;
  if (problem !== undefined || !parsed.success) {
    const where = ["", "writer", ...(problem?.path ?? [])].map(String).join("/");
    throw new VerbatimError("INPUT_INVALID", { message: `${where}: ${problem?.message ?? ""}`, where });
  }
  if (parsed.data.kind !== "scripted" && parsed.data.model === null)
    refuse("FIELD_MISSING", "/writer/model", "is required");
  return parsed.data;
}

const writerTest = defineOperation({
  name: "world.writer-test",
  summary: "Tries the writer of a world with a fixed text about invented people; nothing of the world is sent.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({
    world: worldField,
    writer: writerField,
    name: z.string().optional().describe("One of the writers of the casting (default: the writer of the world)."),
  }),
  output: z.strictObject({ ok: z.boolean(), steps: z.array(stepSchema), proposes: z.enum(REPLIES).nullable() }),
  async run(room: WorldRoom, { world, name, writer }) {
    if (writer !== undefined) {
      const tried = parseWriter(writer);
      const bare = parseSettings(room.zones, { title: "A writer", timezone: "UTC", writer: tried });
      const report = await testWriter(room, bare, tried, null);
      return { ...report, steps: [...report.steps] };
    }
    const worldId = await findWorldId(room, world);
    const settings = await readSettings(room, worldId);
    const named = name === undefined ? settings.writer : settings.writers?.[name];
    if (named === undefined) refuse("FIELD_VALUE", "/name", `there is no writer ${JSON.stringify(name)}`);
    const { ok, steps, proposes } = await testWriter(room, settings, writerSchema.parse(named), worldId);
    return { ok, steps: [...steps], proposes };
  },
});

const writerModels = defineOperation({
  name: "world.writer-models",
  summary: "Lists the models of a provider; a key is sent only where it was paired.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({
    world: worldField,
    kind: z.enum(["ollama", "openai-compatible"]).optional().describe("Which protocol (default: the writer's)."),
    base_url: z.string().optional().describe("Address of the provider (default: the writer's)."),
    writer: writerField,
  }),
  output: z.strictObject({
    models: z.array(z.strictObject({ name: z.string(), window_tokens: z.int().nullable() })),
    code: z.string().nullable(),
    words: z.string().nullable(),
  }),
  async run(room: WorldRoom, { world, kind, base_url, writer: given }) {
    const worldId = given === undefined ? await findWorldId(room, world) : null;
    // Whoever looks for a model has none yet.
    const writer =
      worldId === null
        ? parseWriter({ model: "-", ...given })
        : writerSchema.parse((await readSettings(room, worldId)).writer);
    const used = kind ?? (writer.kind === "scripted" ? "ollama" : writer.kind);
    const address = base_url ?? (used === writer.kind ? writer.base_url : null) ?? DEFAULT_ADDRESS[used];
    const place = { kind: used, base_url: address, api_key_env: writer.api_key_env };
    const pair = pairOf({ ...writer, ...place });
    if (pair !== null && !(await mayBeSent(room, worldId, pair))) {
      const { code, message } = toForbidden(pair);
      throw new VerbatimError(code === "WRITER_PAIR_FORBIDDEN" ? code : "INTERNAL", { message });
    }
    const found = await room.models.list(place);
    if ("down" in found) return { models: [], code: found.down.code, words: found.down.message };
    return { models: found.map((one) => ({ ...one })), code: null, words: null };
  },
});

export const SETTINGS_OPERATIONS = [
  settingsShow,
  settingsSet,
  writerShow,
  writerSet,
  writerTest,
  writerModels,
] as const;

import { z } from "zod";
import { defineOperation, OWNER } from "../../../core/operation.ts";
import { changeSettings } from "../history/worlds.ts";
import { loadWorld } from "../projection/reading.ts";
import { type Settings, settingsSchema } from "../settings.ts";
import { writerSchema } from "../writer/writer-settings.ts";
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

export const SETTINGS_OPERATIONS = [settingsShow, settingsSet, writerShow, writerSet] as const;

import { z } from "zod";
import { toPointerToken } from "../../../core/canonical/index.ts";
import { refuse } from "../contracts/fields.ts";

const count = (least: number, most: number) => z.int().min(least).max(most);

const share = z.number().min(0).max(1).nullable().default(null);
const penalty = z.number().min(-2).max(2).nullable().default(null);

/** How a model draws its words; null is not sent. */
export const samplingSchema = z.strictObject({
  temperature: z.number().min(0).max(5).nullable().default(null),
  top_p: share,
  min_p: share,
  top_k: count(0, 1000).nullable().default(null),
  repeat_penalty: penalty,
  presence_penalty: penalty,
  frequency_penalty: penalty,
  seed: z.int().nullable().default(null),
  stop: z.array(z.string().min(1).max(200)).max(4).nullable().default(null),
});

export type Sampling = z.output<typeof samplingSchema>;

export const REPLIES = ["json", "think-json", "fenced-json", "prose"] as const;
/** What the raw answer of a writer is. */
export type Reply = (typeof REPLIES)[number];

/** Who writes a world, and where it is found. */
export const writerSchema = z.strictObject({
  kind: z.enum(["scripted", "ollama", "openai-compatible"]),
  model: z.string().min(1).max(200).nullable().default(null),
  base_url: z.string().min(1).max(2000).nullable().default(null),
  timeout_ms: count(1, 3_600_000).default(120_000),
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
    .nullable()
    .default(null),
  /** Lines of a script for the scripted writer, as they were given. */
  script: z.array(z.string().max(262_144)).max(10_000).nullable().default(null),
  /** Replaces the shipped rules text. */
  rules: z.string().min(1).max(65_536).nullable().default(null),
  reply: z.enum(REPLIES).default("json"),
  /** Whether the model may think before it answers. What it thinks is never read. */
  thinking: z.enum(["off", "on"]).default("off"),
  /** Which server speaks OpenAI's protocol. */
  dialect: z.enum(["openai", "llama.cpp", "vllm", "openrouter"]).default("openai"),
  /** Or the name of a preset. */
  sampling: z
    .union([samplingSchema, z.string().min(1).max(80)])
    .nullable()
    .default(null),
});

export type WriterSettings = z.output<typeof writerSchema>;

/** Where a writer is looked for when its world does not say. */
export const DEFAULT_ADDRESS = {
  ollama: "http://127.0.0.1:11434",
  "openai-compatible": "http://127.0.0.1:8080",
} as const;

const name = z.string().min(1).max(80);
const named = <S extends z.ZodType>(value: S, most: number) =>
  z.record(name, value).refine((all) => Object.keys(all).length <= most, `at most ${most}`);

export const presetsSchema = named(samplingSchema, 64);
export const writersSchema = named(writerSchema, 16);
/** Who is written by which of the writers: a person, or WORLD for the narration. */
export const castingSchema = z.record(z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/), name);

/** What settings say about writers. A world of an earlier version says less. */
interface WriterParts {
  readonly writer: z.input<typeof writerSchema>;
  readonly writers?: Readonly<Record<string, z.input<typeof writerSchema>>>;
  readonly casting?: Readonly<Record<string, string>>;
  readonly presets?: Readonly<Record<string, Sampling>>;
}

/** Every writer of some settings, with its place in them. */
export function listWriters(
  settings: WriterParts,
): readonly { readonly writer: WriterSettings; readonly where: string }[] {
  return [
    { writer: writerSchema.parse(settings.writer), where: "/writer" },
    ...Object.entries(settings.writers ?? {}).map(([key, writer]) => ({
      writer: writerSchema.parse(writer),
      where: `/writers/${toPointerToken(key)}`,
    })),
  ];
}

/** The writer whose model plays an actor: whoever is not cast uses the one of the world. */
export function writerOf(settings: WriterParts, actor: string): WriterSettings {
  const cast = settings.casting ?? {};
  const key = Object.hasOwn(cast, actor) ? cast[actor] : undefined;
  const own = key === undefined ? undefined : settings.writers?.[key];
  return writerSchema.parse(own ?? settings.writer);
}

/** What a writer's model is drawn with; a preset that is gone was refused when the setting was made. */
export function samplingOf(settings: WriterParts, { sampling }: WriterSettings): Sampling | null {
  return typeof sampling === "string" ? (settings.presets?.[sampling] ?? null) : sampling;
}

/** Refuses names that lead nowhere, and what only the writer of the world may have. */
export function requireWriters(settings: WriterParts & { readonly cast: string }): void {
  const { writers = {}, casting = {}, presets = {} } = settings;
  for (const { writer, where } of listWriters(settings)) {
    if (writer.kind !== "scripted" && writer.model === null) refuse("FIELD_MISSING", `${where}/model`, "is required");
    if (typeof writer.sampling === "string" && !Object.hasOwn(presets, writer.sampling)) {
      refuse("FIELD_VALUE", `${where}/sampling`, `there is no preset ${JSON.stringify(writer.sampling)}`);
    }
    if (where === "/writer") continue;
    for (const own of ["script", "rules"] as const) {
      if (writer[own] !== null) refuse("FIELD_VALUE", `${where}/${own}`, "only the writer of the world has one");
    }
  }
  const cast = Object.entries(casting);
  for (const [actor, key] of cast) {
    if (Object.hasOwn(writers, key)) continue;
    refuse("FIELD_VALUE", `/casting/${actor}`, `there is no writer ${JSON.stringify(key)}`);
  }
  if (cast.length > 0 && settings.cast === "room") {
    refuse("FIELD_VALUE", "/casting", "one pass writes for the whole room; a writer for each needs another cast");
  }
}

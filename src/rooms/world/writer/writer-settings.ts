import { z } from "zod";

const count = (least: number, most: number) => z.int().min(least).max(most);

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
});

export type WriterSettings = z.output<typeof writerSchema>;

/** Where a writer is looked for when its world does not say. */
export const DEFAULT_ADDRESS = {
  ollama: "http://127.0.0.1:11434",
  "openai-compatible": "http://127.0.0.1:8080",
} as const;

/** Every writer of some settings, with its place in them. */
export function listWriters(settings: {
  readonly writer: WriterSettings;
}): readonly { readonly writer: WriterSettings; readonly where: string }[] {
  return [{ writer: settings.writer, where: "/writer" }];
}

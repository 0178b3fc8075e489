import { z } from "zod";
import { VerbatimError } from "../../core/errors/index.ts";
import { PERSON_PATTERN } from "./contracts/fields.ts";
import { boundOf, RULES_PERCENT } from "./knowledge/bounds.ts";
import { usableTokens } from "./knowledge/rehydration.ts";
import { BYTES_BY_THREE } from "./people/tokens.ts";
import type { Zones } from "./ports.ts";
import { requireZone } from "./time/instant.ts";
import {
  castingSchema,
  listWriters,
  presetsSchema,
  requireWriters,
  writerSchema,
  writersSchema,
} from "./writer/writer-settings.ts";

/** Longest sample of how somebody writes. */
export const MAX_STYLE = 8192;

const count = (least: number, most: number) => z.int().min(least).max(most);

export const timePolicySchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("explicit") }),
  z.strictObject({ kind: z.literal("step"), step_ms: count(1, 86_400_000) }),
  z.strictObject({
    kind: z.literal("rate"),
    rate_milli: count(1, 1_000_000),
    max_elapsed_ms: count(0, 86_400_000).default(3_600_000),
  }),
]);

const personId = z.string().regex(PERSON_PATTERN).max(64);
export const notesSchema = z
  .array(
    z.strictObject({
      note_id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/),
      text: z.string().min(1).max(2000),
      visible_to: z.array(personId).min(1).max(64),
    }),
  )
  .max(8);
/** Who speaks next in a world of turns. */
const turnsSchema = z.strictObject({
  kind: z.enum(["rotate", "addressed", "list"]).default("rotate"),
  /** In which order a list goes round. */
  order: z
    .array(personId)
    .max(64)
    .refine((ids) => new Set(ids).size === ids.length, "an id is listed twice")
    .default([]),
  /** So many people have their turn in one beat at most. */
  most: count(1, 8).default(1),
  /** Whether a pass of narration follows. */
  narrate: z.boolean().default(false),
});
export type Turns = z.output<typeof turnsSchema>;

const stylesSchema = z.record(personId, z.strictObject({ style: z.string().min(1).max(MAX_STYLE) }));

export const settingsSchema = z.strictObject({
  title: z.string().min(1).max(120),
  operator_id: z.string().regex(PERSON_PATTERN).max(64).default("GEORGE"),
  operator_name: z.string().min(1).max(80).default("George"),
  timezone: z.string().min(1).max(64),
  time_policy: timePolicySchema.default({ kind: "explicit" }),
  visibility_default: z.enum(["presence", "public"]).default("presence"),
  cast: z.enum(["room", "each", "turns"]).default("room"),
  turns: turnsSchema.prefault({}),
  /** When a writer goes on from what players send: never, after each line, or after everybody's. */
  players: z.strictObject({ mode: z.enum(["line", "beat", "round"]).default("line") }).prefault({}),
  writer_lint: z.enum(["off", "report", "reject"]).default("report"),
  tools: z
    .strictObject({
      max_calls: count(0, 20).default(4),
      max_results: count(1, 20).default(20),
      pack_bytes: count(1, 65_536).default(8192),
      /** Null: as the window allows. */
      beat_bytes: count(0, 262_144).nullable().default(null),
      wall_ms: count(0, 3_600_000).default(30_000),
    })
    .prefault({}),
  context: z
    .strictObject({
      window_tokens: count(1, 10_000_000).default(32_768),
      /** Null: as the window allows. */
      output_reserve: count(0, 1_000_000).nullable().default(null),
      threshold_percent: count(50, 95).default(80),
      pack_percent: count(5, 60).default(40),
    })
    .prefault({}),
  pocket: z
    .strictObject({ available: z.boolean().default(true), clock_hidden: z.boolean().default(false) })
    .prefault({}),
  autonomy_interval_s: count(60, 31_536_000).nullable().default(null),
  writer: writerSchema.prefault({ kind: "scripted" }),
  writers: writersSchema.default({}),
  casting: castingSchema.default({}),
  presets: presetsSchema.default({}),
  /** What a writer is told beside the story, each note for those it names. */
  notes: notesSchema.default([]),
  /** How people write: a sample for whoever writes them. */
  people: stylesSchema.default({}),
  /** So many of the newest lines are searched for keys of lore. */
  lore_scan: count(0, 20).default(4),
});

/** Everything about a world that its owner decides. */
export type Settings = z.output<typeof settingsSchema>;

/** Settings with their defaults, checked; the first problem is INPUT_INVALID with its pointer. */
export function parseSettings(zones: Zones, value: unknown): Settings {
  const parsed = settingsSchema.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => ({ pointer: `/${path.join("/")}`, message }));
    throw new VerbatimError("INPUT_INVALID", {
      message: problems.map(({ pointer, message }) => `${pointer}: ${message}`).join("; "),
      where: problems[0]?.pointer ?? "",
      details: { problems },
    });
  }
  const settings = parsed.data;
  requireZone(zones, settings.timezone, "/timezone");
  const usable = usableOf(settings);
  if (settings.writer.kind !== "scripted" && settings.writer.model === null) {
    throw new VerbatimError("INPUT_INVALID", {
      message: `a writer of kind ${settings.writer.kind} needs a model`,
      where: "/writer/model",
      fix: "Name the model of the writer.",
    });
  }
  requireWriters(settings);
  const notes = requireNotes(settings, usable);
  for (const { writer, where } of listWriters(settings)) {
    if (writer.rules === null) continue;
    const tokens = BYTES_BY_THREE.count(writer.rules) + notes;
    if (tokens * 100 <= usable * RULES_PERCENT) continue;
    throw new VerbatimError("CONTEXT_BUDGET_TOO_SMALL", {
      message: `rules and notes take ${tokens} of ${usable} usable tokens; at most ${RULES_PERCENT} percent are for them`,
      where: `${where}/rules`,
      details: { tokens, usable },
      fix: "Shorten the rules, or use a larger window_tokens.",
    });
  }
  return settings;
}

/** Refuses notes that nobody could be sent whole, and gives the tokens of all of them. */
function requireNotes({ notes }: Settings, usable: number): number {
  const costOf = (some: Settings["notes"]) => BYTES_BY_THREE.count(JSON.stringify(some.map(({ text }) => text)));
  const ids = new Set<string>();
  for (const [i, { note_id }] of notes.entries()) {
    if (ids.has(note_id))
      throw new VerbatimError("INPUT_INVALID", { message: `${note_id} is listed twice`, where: `/notes/${i}/note_id` });
    ids.add(note_id);
  }
  const tokens = notes.length === 0 ? 0 : costOf(notes);
  const most = boundOf(usable, "notes");
  if (tokens <= most) return tokens;
  throw new VerbatimError("CONTEXT_BUDGET_TOO_SMALL", {
    message: `the notes take ${tokens} of ${usable} usable tokens; at most ${most} are for them`,
    where: "/notes",
    details: { tokens, usable },
    fix: "Shorten the notes, or use a larger window_tokens.",
  });
}

/** How turns are taken; a world of an earlier version says nothing of them. */
export function turnsOf({ turns }: { readonly turns?: Turns }): Turns {
  return turns ?? turnsSchema.parse({});
}

const MOST_EVIDENCE_BYTES = 24_576;
const MOST_RESERVE = 2048;

/** What a world allows evidence and answers, where its owner left that to the window. */
export function budgetOf({ context, tools }: Pick<Settings, "context" | "tools">): {
  readonly beat_bytes: number;
  readonly output_reserve: number;
} {
  const { window_tokens } = context;
  return {
    beat_bytes: tools.beat_bytes ?? Math.min(MOST_EVIDENCE_BYTES, Math.floor((window_tokens * 3) / 4)),
    output_reserve: context.output_reserve ?? Math.min(MOST_RESERVE, Math.floor(window_tokens / 8)),
  };
}

/** What bounds the tools of a beat. */
export function toolLimitsOf(settings: Settings): Settings["tools"] & { readonly beat_bytes: number } {
  return { ...settings.tools, beat_bytes: budgetOf(settings).beat_bytes };
}

/** Tokens a frame of this world may take before evidence. */
export function usableOf(settings: Settings): number {
  const { beat_bytes, output_reserve } = budgetOf(settings);
  return usableTokens({
    window_tokens: settings.context.window_tokens,
    output_reserve,
    evidence_bytes: beat_bytes,
  });
}

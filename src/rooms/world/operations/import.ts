import { z } from "zod";
import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, OWNER } from "../../../core/operation.ts";
import { decodeBase64, type TrustPolicy } from "../../../core/trust/index.ts";
import { importWorld } from "../history/history.ts";
import { WORLD_FORMAT } from "../history/world-file.ts";
import { importAsNew, importFile } from "../import/imports.ts";
import { MAX_IMPORT_BYTES } from "../import/read.ts";
import { toExcerpt } from "../retrieval/excerpt.ts";
import { findWorldId, keyField, MAX_WORLD_FILE, readPolicy, trustField, type WorldRoom, worldField } from "./room.ts";

const importedSchema = z.strictObject({
  world_id: z.string(),
  format: z.string(),
  preview: z.boolean(),
  people: z.array(z.strictObject({ person_id: z.string(), display_name: z.string() })),
  lines: z.array(
    z.strictObject({
      channel: z.string(),
      author: z.string(),
      text: z.string(),
      scope: z.string(),
      visible_to: z.array(z.string()),
      from: z.string(),
    }),
  ),
  not_imported: z.array(z.string()),
  lost: z.array(z.strictObject({ what: z.string(), count: z.int(), where: z.string() })),
  greetings: z.array(z.strictObject({ index: z.int(), excerpt: z.string() })),
  entries: z.int(),
  head_hash: z.string().nullable(),
});

const importOptions = {
  world: worldField,
  preview: z.boolean().default(false).describe("Only show what would be written."),
  new: z.boolean().default(false).describe("Make a new world of the file; no world that is there is touched."),
  as: z.string().optional().describe("Id of the world that is made."),
  title: z
    .string()
    .min(1)
    .max(120)
    .optional()
    .describe("Title of the world that is made (default: the name in the file)."),
  lore: z.enum(["world", "public"]).default("world").describe("Who may know the lore: only the narrator, or everyone."),
  no_enter: z.boolean().default(false).describe("Do not make the person of a card present."),
  greeting: z
    .string()
    .regex(/^(?:none|[0-9]{1,4})$/)
    .optional()
    .describe("Which greeting of a card is said, from 0, or none (default: 0)."),
  person: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe("Whom a card is about: somebody of the world, or new for another one of that name."),
  again: z.boolean().default(false).describe("Import a file that was imported before once more."),
  import_rules: z
    .enum(["1", "2"])
    .default("2")
    .describe("Rules that the file is read by; by the first ones everything becomes a line."),
  keep_macros: z.boolean().default(false).describe("Leave {{char}} and {{user}} as they are."),
  key: keyField,
};
const importOptionsSchema = z.strictObject(importOptions);
type ImportOptions = z.output<typeof importOptionsSchema>;

const GREETING = { max_bytes: 200, lead_bytes: 0 };

function toGreeting(text: string): number | "none" {
  return text === "none" ? text : Number(text);
}

async function importBytes(
  room: WorldRoom,
  bytes: Uint8Array,
  options: ImportOptions,
  policy: TrustPolicy | null,
): Promise<z.input<typeof importedSchema>> {
  const text = decodeUtf8(bytes);
  if (text?.startsWith("{") === true && text.slice(0, 400).includes(`"${WORLD_FORMAT}"`)) {
    if (options.world !== undefined) {
      throw new VerbatimError("IMPORT_FORMAT_UNKNOWN", {
        message: "an exported world becomes a world of its own and cannot be added to another one",
        fix: "Import it as a new world.",
      });
    }
    const done = await importWorld(room, text, options.as ?? null, options.preview, policy, options.key ?? null);
    const none = { people: [], lines: [], not_imported: [], lost: [], greetings: [] };
    const { world_id, preview, entries, head_hash } = done;
    return { world_id, format: "WORLD", preview, entries, head_hash, ...none };
  }
  if (policy !== null) {
    throw new VerbatimError("USAGE", {
      message: {
        cli: "--trust says whose signatures count; only an exported world has signatures",
        others: "trust says whose signatures count; only an exported world has signatures",
      },
      where: "/trust",
    });
  }
  const how = {
    preview: options.preview,
    lore: options.lore,
    enter: !options.no_enter,
    expand_names: !options.keep_macros,
    rules: options.import_rules === "1" ? (1 as const) : (2 as const),
    again: options.again,
    ...(options.greeting === undefined ? {} : { greeting: toGreeting(options.greeting) }),
    ...(options.person === undefined ? {} : { person: options.person }),
  };
  if (options.new && options.world !== undefined)
    throw new VerbatimError("USAGE", { message: "world and new exclude each other" });
  const wanted = { world_id: options.as ?? null, title: options.title ?? null };
  const done = options.new
    ? await importAsNew(room, bytes, how, wanted, options.key ?? null)
    : await importFile(room, await findWorldId(room, options.world), bytes, how, options.key ?? null);
  return {
    world_id: done.world_id,
    format: done.version,
    preview: options.preview,
    people: [...done.people],
    lines: done.lines.map(({ channel, author, text: line, visibility, from }) => ({
      channel,
      author: author.author_id,
      text: line,
      scope: visibility.scope,
      visible_to: [...visibility.visible_to],
      from,
    })),
    not_imported: [...done.not_imported],
    lost: done.lost.map((one) => ({ ...one })),
    greetings: done.greetings.map(({ index, text: greeting }) => ({
      index,
      excerpt: toExcerpt(room.graphemes, greeting, GREETING),
    })),
    entries: options.preview ? 0 : done.lines.length,
    head_hash: null,
  };
}

export const importOperation = defineOperation({
  name: "world.import",
  summary: "Imports a card, a lorebook, a chat or an exported world from a file.",
  effect: "append",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    file: z.string().min(1).describe("File to read; - reads standard input."),
    trust: trustField,
    ...importOptions,
  }),
  output: importedSchema,
  async run(room: WorldRoom, { file, trust, ...options }) {
    const policy = trust === undefined ? null : await readPolicy(room, trust);
    return importBytes(room, await room.files.read(file, MAX_WORLD_FILE), options, policy);
  },
});

export const importBase64 = defineOperation({
  name: "world.import-bytes",
  summary: "Imports a card, a lorebook, a chat or an exported world that is sent along.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({ base64: z.string().describe("The file in base64."), ...importOptions }),
  output: importedSchema,
  async run(room: WorldRoom, { base64, ...options }) {
    const bytes = decodeBase64(base64);
    if (bytes === null) throw new VerbatimError("INPUT_INVALID", { message: "not base64", where: "/base64" });
    if (options.world === undefined && !options.new) {
      throw new VerbatimError("USAGE", { message: "name the world to add to, or say that a new one is to be made" });
    }
    if (bytes.length > MAX_IMPORT_BYTES) throw new VerbatimError("IMPORT_TOO_LARGE");
    return importBytes(room, bytes, options, null);
  },
});

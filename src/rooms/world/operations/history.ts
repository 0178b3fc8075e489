import { z } from "zod";
import { decodeUtf8, encodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { CHECKPOINT_PAYLOAD_TYPE, type Checkpoint, parseCheckpoint } from "../../../core/ledger/index.ts";
import { defineOperation, LOCAL_DOORS } from "../../../core/operation.ts";
import { decodeBase64 } from "../../../core/trust/base64.ts";
import { openEnvelopeFile } from "../../../core/trust/dsse.ts";
import { MAX_IMPORT_BYTES } from "../import/read.ts";
import { checkWorldFile, exportWorld, forkWorld, importWorld } from "../service/history.ts";
import { importFile } from "../service/imports.ts";
import { rebuildIndex, verifyWorld } from "../service/verify.ts";
import { exportView } from "../service/view-export.ts";
import { WORLD_FORMAT } from "../service/world-file.ts";
import { health } from "./health.ts";
import { findWorldId, requireLocal, viewerField, type WorldRoom, worldField } from "./room.ts";

const MAX_CHECKPOINT_FILE = 1024 * 1024;
const MAX_WORLD_FILE = 1024 * 1024 * 1024;

export const fork = defineOperation({
  name: "world.fork",
  summary: "Makes a new world that shares the past of this one up to the beat of a cursor.",
  effect: "append",
  input: z.strictObject({
    cursor: z.string().min(1).describe("Cursor of the last line to keep."),
    world: worldField,
    viewer: viewerField,
    id: z.string().optional().describe("Id of the new world."),
    title: z.string().min(1).max(120).optional().describe("Title of the new world."),
  }),
  output: z.strictObject({ world_id: z.string(), parent_world_id: z.string(), parent_position: z.int() }),
  run: async (room: WorldRoom, { cursor, world, viewer, id, title }) =>
    forkWorld(room, await findWorldId(room, world), {
      cursor,
      viewer: viewer ?? null,
      world_id: id ?? null,
      title: title ?? null,
    }),
});

const exportInput = z.strictObject({
  world: worldField,
  kind: z.enum(["full", "viewer"]).default("full").describe("Everything, or only what a viewer may see."),
  viewer: viewerField,
  out: z.string().optional().describe("New file to write; the lines are printed otherwise."),
});

async function exportLines(room: WorldRoom, input: z.output<typeof exportInput>): Promise<readonly string[]> {
  const worldId = await findWorldId(room, input.world);
  return input.kind === "full" ? exportWorld(room, worldId) : exportView(room, worldId, input.viewer ?? null);
}

export const exportOperation = defineOperation({
  name: "world.export",
  summary: "Writes a world as lines that verify offline, or a viewer's part of it.",
  effect: "read",
  input: exportInput,
  output: z.strictObject({
    world_id: z.string(),
    kind: z.string(),
    lines: z.int(),
    file: z.string().nullable(),
    sha256: z.string(),
  }),
  async run(room: WorldRoom, input) {
    if (input.out !== undefined) requireLocal(room, "out");
    const text = (await exportLines(room, input)).map((line) => `${line}\n`).join("");
    if (input.out !== undefined) await room.files.create(input.out, encodeUtf8(text));
    return {
      world_id: await findWorldId(room, input.world),
      kind: input.kind,
      lines: text.split("\n").length - 1,
      file: input.out ?? null,
      sha256: room.crypto.sha256(text),
    };
  },
  async *lines(room: WorldRoom, input) {
    yield* await exportLines(room, input);
  },
});

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
  entries: z.int(),
  head_hash: z.string().nullable(),
});

const importOptions = {
  world: worldField,
  preview: z.boolean().default(false).describe("Only show what would be written."),
  as: z.string().optional().describe("Import an exported world under this id."),
  lore: z.enum(["world", "public"]).default("world").describe("Who may know lore: the narration only, or everybody."),
  no_enter: z.boolean().default(false).describe("The person of a card does not enter the room."),
  keep_macros: z.boolean().default(false).describe("Leave {{char}} and {{user}} as they are."),
  key: z.string().min(1).max(100).optional().describe("Idempotency key: the same one is answered once."),
};
const importOptionsSchema = z.strictObject(importOptions);
type ImportOptions = z.output<typeof importOptionsSchema>;

async function importBytes(
  room: WorldRoom,
  bytes: Uint8Array,
  options: ImportOptions,
): Promise<z.input<typeof importedSchema>> {
  const text = decodeUtf8(bytes);
  if (text?.startsWith("{") === true && text.slice(0, 400).includes(`"${WORLD_FORMAT}"`)) {
    const done = await importWorld(room, text, options.as ?? null, options.preview);
    const none = { people: [], lines: [], not_imported: [] };
    const { world_id, preview, entries, head_hash } = done;
    return { world_id, format: "WORLD", preview, entries, head_hash, ...none };
  }
  const how = {
    preview: options.preview,
    lore: options.lore,
    enter: !options.no_enter,
    expand_names: !options.keep_macros,
  };
  const done = await importFile(room, await findWorldId(room, options.world), bytes, how, options.key ?? null);
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
    entries: options.preview ? 0 : done.lines.length,
    head_hash: null,
  };
}

export const importOperation = defineOperation({
  name: "world.import",
  summary: "Brings in a card, a lorebook, a chat, or an exported world from a file.",
  effect: "append",
  doors: LOCAL_DOORS,
  input: z.strictObject({ file: z.string().min(1).describe("File to read; - is standard input."), ...importOptions }),
  output: importedSchema,
  run: async (room: WorldRoom, { file, ...options }) =>
    importBytes(room, await room.files.read(file, MAX_WORLD_FILE), options),
});

export const importBase64 = defineOperation({
  name: "world.import-bytes",
  summary: "Brings in a card, a lorebook, a chat, or an exported world that is sent along.",
  effect: "append",
  input: z.strictObject({ base64: z.string().describe("The file in base64."), ...importOptions }),
  output: importedSchema,
  async run(room: WorldRoom, { base64, ...options }) {
    const bytes = decodeBase64(base64);
    if (bytes === null) throw new VerbatimError("INPUT_INVALID", { message: "not base64", where: "/base64" });
    if (bytes.length > MAX_IMPORT_BYTES) throw new VerbatimError("IMPORT_TOO_LARGE");
    return importBytes(room, bytes, options);
  },
});

const findingSchema = z.strictObject({ code: z.string(), where: z.string(), message: z.string(), fix: z.string() });

export const reportSchema = z.strictObject({
  world_id: z.string(),
  ok: z.boolean(),
  checked: z.strictObject({ records: z.int(), entries: z.int(), outcomes: z.int() }),
  head: z.strictObject({ position: z.int(), hash: z.string() }).nullable(),
  checkpoint: z
    .strictObject({
      tree_size: z.int(),
      root_hash: z.string(),
      source: z.enum(["ledger", "file"]),
      time: z.string().nullable(),
    })
    .nullable(),
  findings: z.array(findingSchema),
});

export const verify = defineOperation({
  name: "world.verify",
  summary: "Checks the chain of a world and every row against its records, or an exported file offline.",
  effect: "read",
  input: z.strictObject({
    world: worldField,
    file: z.string().min(1).optional().describe("Check this exported world instead, without a store."),
    checkpoint: z
      .string()
      .min(1)
      .optional()
      .describe("Compare with this signed checkpoint; with the newest recorded one otherwise."),
    rebuild_index: z.boolean().default(false).describe("Make the search index anew first."),
  }),
  output: reportSchema,
  async run(room: WorldRoom, { world, file, checkpoint, rebuild_index }) {
    if (file !== undefined) {
      requireLocal(room, "file");
      return verifyBytes(room, await room.files.read(file, MAX_WORLD_FILE));
    }
    const worldId = await findWorldId(room, world);
    if (rebuild_index) await rebuildIndex({ ...room, store: await room.writable() }, worldId);
    const report = await verifyWorld(room, worldId, checkpoint === undefined ? null : await readFile(room, checkpoint));
    return { ...report, findings: [...report.findings] };
  },
});

async function readFile(room: WorldRoom, file: string): Promise<Checkpoint> {
  requireLocal(room, "checkpoint");
  const { envelope, payload } = openEnvelopeFile(await room.files.read(file, MAX_CHECKPOINT_FILE), file);
  if (envelope.payloadType !== CHECKPOINT_PAYLOAD_TYPE) {
    throw new VerbatimError("ATTESTATION_TYPE", { message: "the envelope is not one of a checkpoint", where: file });
  }
  return parseCheckpoint(payload);
}

function verifyBytes(room: WorldRoom, bytes: Uint8Array): z.input<typeof reportSchema> {
  const { file, image, findings } = checkWorldFile(room, decodeUtf8(bytes) ?? "");
  const last = file?.records.at(-1);
  const checked = {
    records: file?.records.length ?? 0,
    entries: image?.entries.length ?? 0,
    outcomes: file?.outcomes.length ?? 0,
  };
  return {
    world_id: String(file?.header["world_id"] ?? ""),
    ok: findings.length === 0,
    checked,
    head: last === undefined ? null : { position: last.position, hash: last.hash },
    checkpoint: null,
    findings: [...findings],
  };
}

export const authorize = defineOperation({
  name: "world.authorize",
  summary: "Says what a token of a world may do.",
  effect: "read",
  doors: ["http", "library"],
  input: z.strictObject({
    token_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe("Hash of the token."),
  }),
  output: z.strictObject({
    role: z.string().nullable(),
    world_id: z.string().nullable(),
    viewer: z.string().nullable(),
  }),
  async run(room: WorldRoom, { token_sha256 }) {
    const token = await room.store.read((door) => door.world.token(token_sha256));
    return { role: token?.role ?? null, world_id: token?.world_id ?? null, viewer: token?.viewer ?? null };
  },
});

export const metrics = defineOperation({
  name: "world.metrics",
  summary: "Counts and durations since the start, without ids, titles or text.",
  effect: "read",
  input: z.strictObject({}),
  output: z.strictObject({ text: z.string().describe("Text format of Prometheus.") }),
  run: async (room: WorldRoom) => ({ text: room.beats.metrics.format() }),
});

export const autonomy = defineOperation({
  name: "world.autonomy",
  summary: "Lets an empty beat pass in every world whose owner wants one by now.",
  effect: "append",
  doors: ["http", "library"],
  input: z.strictObject({}),
  output: z.strictObject({ beats: z.int() }),
  async run(room: WorldRoom) {
    const rows = await room.store.read((door) => door.world.list());
    const done = await Promise.all(rows.map(({ world_id }) => room.beats.passTime(world_id)));
    return { beats: done.filter(Boolean).length };
  },
});

export const HISTORY_OPERATIONS = [
  fork,
  exportOperation,
  importOperation,
  importBase64,
  verify,
  authorize,
  health,
  metrics,
  autonomy,
] as const;

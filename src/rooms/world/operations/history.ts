import { z } from "zod";
import { encodeUtf8 } from "../../../core/canonical/index.ts";
import { defineOperation, OWNER, VIEWER } from "../../../core/operation.ts";
import { formatTime } from "../../../core/time.ts";
import { signExport } from "../history/export-signature.ts";
import { forkWorld } from "../history/fork.ts";
import { exportWorld } from "../history/history.ts";
import { parseState, storyOf } from "../history/state.ts";
import { isOpen } from "../people/world-tokens.ts";
import { exportView } from "../projection/view-export.ts";
import { importBase64, importOperation } from "./import.ts";
import { readHealth } from "./reachability.ts";
import { findWorldId, keyField, requireLocal, viewerField, type WorldRoom, worldField } from "./room.ts";
import { verify } from "./verify.ts";

const fork = defineOperation({
  name: "world.fork",
  summary: "Creates a new world that shares the past of this one up to the beat of a cursor.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({
    cursor: z.string().min(1).describe("Cursor of the last line to keep."),
    world: worldField,
    viewer: viewerField,
    world_id: z.string().optional().describe("Id of the new world."),
    title: z.string().min(1).max(120).optional().describe("Title of the new world."),
    key: keyField,
  }),
  output: z.strictObject({ world_id: z.string(), parent_world_id: z.string(), parent_position: z.int() }),
  run: async (room: WorldRoom, { cursor, world, viewer, world_id, title, key }) =>
    forkWorld(
      room,
      await findWorldId(room, world),
      { cursor, viewer: viewer ?? null, world_id: world_id ?? null, title: title ?? null },
      key ?? null,
    ),
});

const exportInput = z.strictObject({
  world: worldField,
  kind: z.enum(["full", "viewer"]).default("full").describe("Everything, or only what a viewer may see."),
  viewer: viewerField,
  out: z.string().optional().describe("New file to write (default: print the lines)."),
  sign: z.string().min(1).optional().describe("Key to sign with: a name, or the path of a key file."),
});

interface Exported {
  readonly world_id: string;
  readonly lines: readonly string[];
  readonly key_id: string | null;
}

async function makeExport(room: WorldRoom, input: z.output<typeof exportInput>): Promise<Exported> {
  if (input.sign !== undefined) requireLocal(room, "sign");
  const key = input.sign === undefined ? null : await room.loadKey(input.sign);
  const world_id = await findWorldId(room, input.world);
  const lines =
    input.kind === "full" ? await exportWorld(room, world_id) : await exportView(room, world_id, input.viewer ?? null);
  return { world_id, lines: key === null ? lines : await signExport(lines, key), key_id: key?.key_id ?? null };
}

const exportOperation = defineOperation({
  name: "world.export",
  summary: "Writes a world as lines that verify offline, or a viewer's part of it.",
  effect: "read",
  who: VIEWER,
  input: exportInput,
  output: z.strictObject({
    world_id: z.string(),
    kind: z.string(),
    lines: z.int(),
    file: z.string().nullable(),
    sha256: z.string(),
    key_id: z.string().nullable().describe("Key that signed it."),
  }),
  async run(room: WorldRoom, input) {
    if (input.out !== undefined) requireLocal(room, "out");
    const { world_id, lines, key_id } = await makeExport(room, input);
    const text = lines.map((line) => `${line}\n`).join("");
    if (input.out !== undefined) await room.files.create(input.out, encodeUtf8(text));
    const sha256 = room.crypto.sha256(text);
    return { world_id, kind: input.kind, lines: lines.length, file: input.out ?? null, sha256, key_id };
  },
  async *lines(room: WorldRoom, input) {
    yield* (await makeExport(room, input)).lines;
  },
});

const health = defineOperation({
  name: "world.health",
  summary: "Shows the health of the room: store, queue, writers, checkpoint and index.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({}),
  output: z.strictObject({
    store: z.boolean().describe("Whether the store is writable."),
    queue: z.int().describe("Beats that are waiting for their turn."),
    worlds: z.int(),
    ledger_entries: z.int(),
    writers: z
      .strictObject({ scripted: z.int(), reachable: z.int(), unreachable: z.int() })
      .describe("Worlds by whether their writer responds; checked at most every 30 s."),
    checkpoint_age_s: z.int().nullable().describe("Age of the newest recorded checkpoint; null if there is none."),
    index_lag: z.int().describe("Entries that are not in the search index; entries are indexed when they are written."),
  }),
  run: async (room: WorldRoom) => readHealth(room),
});

const authorize = defineOperation({
  name: "world.authorize",
  summary: "Shows what a token of a world may do.",
  effect: "read",
  who: OWNER,
  surfaces: ["http", "library"],
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
    const stored = await room.store.read((tx) => tx.world.token(token_sha256));
    const now = room.clock.now();
    const token = stored !== null && isOpen(stored, now) ? stored : null;
    const today = formatTime(now).slice(0, "2026-01-01".length);
    if (token !== null && token.made_ms !== null && token.used_on !== today) {
      // Where a store takes no writes just now, a reader is still let in: only the day of its last use is not told.
      await room
        .writable()
        .then((store) => store.transact((tx) => tx.world.useToken(token_sha256, today)))
        .catch(() => undefined);
    }
    return { role: token?.role ?? null, world_id: token?.world_id ?? null, viewer: token?.viewer ?? null };
  },
});

const opens = defineOperation({
  name: "world.opens",
  summary: "Says whether a token of a story opens one of its worlds.",
  effect: "read",
  who: OWNER,
  surfaces: ["http", "library"],
  input: z.strictObject({
    story: z.string().describe("Story of the token."),
    world: z.string().describe("World that is asked for."),
    role: z.string().describe("Role of the token."),
  }),
  output: z.strictObject({ opens: z.boolean() }),
  async run(room: WorldRoom, { story, world, role }) {
    return room.store.read(async (tx) => {
      const row = await tx.world.find(world);
      const root = await tx.world.find(story);
      if (row === null || root === null || storyOf(parseState(row)) !== story) return { opens: false };
      const { kept = [] } = parseState(root);
      return { opens: role === "operator" || world === story || kept.includes(world) };
    });
  },
});

const metrics = defineOperation({
  name: "world.metrics",
  summary: "Counts and durations since the start, without ids, titles or text.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({}),
  output: z.strictObject({ text: z.string().describe("Text format of Prometheus.") }),
  run: async (room: WorldRoom) => ({ text: room.beats.metrics.format() }),
});

const autonomy = defineOperation({
  name: "world.autonomy",
  summary: "Runs an empty beat in every world where one is due.",
  effect: "append",
  who: OWNER,
  surfaces: ["http", "library"],
  input: z.strictObject({}),
  output: z.strictObject({ beats: z.int() }),
  async run(room: WorldRoom) {
    const rows = await room.store.read((tx) => tx.world.list());
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
  opens,
  health,
  metrics,
  autonomy,
] as const;

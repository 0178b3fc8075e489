import { z } from "zod";
import { decodeUtf8, isJsonObject, parseJson, toJson } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, OPERATOR, OWNER, PLAYER, VIEWER } from "../../../core/operation.ts";
import { changeSettings } from "../history/worlds.ts";
import { readMarks } from "../knowledge/marks.ts";
import { audienceOf, MAX_KEY, MAX_KEYS, MAX_LORE, setLore } from "../people/lore-writing.ts";
import { setPersona } from "../people/persona.ts";
import { listPins, pin, unpin } from "../people/pins.ts";
import { loadWorld, toLedgerEntry } from "../projection/reading.ts";
import { notesSchema } from "../settings.ts";
import { findWorldId, keyField as key, requireLocal, viewerField, type WorldRoom, worldField } from "./room.ts";

const pinSchema = z.strictObject({
  pin_id: z.string(),
  entry_id: z.string(),
  start: z.int(),
  end: z.int(),
  quote: z.string(),
});

const pins = defineOperation({
  name: "world.pins",
  summary: "Lists the pinned quotes whose lines a viewer may see.",
  effect: "read",
  who: VIEWER,
  input: z.strictObject({ world: worldField, viewer: viewerField }),
  output: z.strictObject({ pins: z.array(pinSchema) }),
  run: async (room: WorldRoom, { world, viewer }) => ({
    pins: await listPins(room, await findWorldId(room, world), viewer ?? null),
  }),
});

const pinSet = defineOperation({
  name: "world.pin",
  summary: "Pins an exact quote: every writer who may know its line is sent it, however long ago it was.",
  effect: "append",
  who: PLAYER,
  input: z.strictObject({
    entry_id: z.string().min(1).describe("Entry that is quoted."),
    quote: z.string().min(1).max(65_536).describe("Exact part of its text."),
    viewer: viewerField,
    world: worldField,
    key,
  }),
  output: pinSchema,
  run: async (room: WorldRoom, { entry_id, quote, viewer, world, key: once }) =>
    pin(room, await findWorldId(room, world), { entry_id, quote, viewer: viewer ?? null }, once ?? null),
});

const pinRemove = defineOperation({
  name: "world.unpin",
  summary: "Takes a pin away.",
  effect: "append",
  who: PLAYER,
  input: z.strictObject({
    pin_id: z.string().min(1).describe("Id of the pin."),
    viewer: viewerField,
    world: worldField,
    key,
  }),
  output: z.strictObject({ pin_id: z.string() }),
  run: async (room: WorldRoom, { pin_id, viewer, world, key: once }) =>
    unpin(room, await findWorldId(room, world), { pin_id, viewer: viewer ?? null }, once ?? null),
});

const loreId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/)
  .describe("Id of the line of lore.");
const keys = z.array(z.string().min(1).max(MAX_KEY)).max(MAX_KEYS);
const wish = {
  lore_id: loreId,
  text: z.string().min(1).optional().describe("What it says; another text is another line."),
  visible_to: z.string().optional().describe("WORLD (the narrator), PUBLIC, or one person."),
  keys: keys.optional().describe("Words that bring it: each key is words that follow each other."),
  also: keys.optional().describe("Further keys, which match narrows."),
  match: z.enum(["any", "all", "not"]).optional().describe("Which of the further keys must be there."),
  always: z.boolean().optional().describe("Send it in every beat."),
  order: z.int().optional().describe("Larger numbers come first where there is not room for all."),
  enabled: z.boolean().optional().describe("Whether it is sent at all."),
};
const wishSchema = z.strictObject(wish);
const setSchema = z.strictObject({ lore_id: z.string(), entry_id: z.string() });

const loreSchema = z.strictObject({
  lore_id: z.string(),
  entry_id: z.string(),
  text: z.string(),
  visible_to: z.string(),
  keys: z.array(z.string()),
  also: z.array(z.string()),
  match: z.enum(["any", "all", "not"]),
  always: z.boolean(),
  order: z.int(),
  enabled: z.boolean(),
});
type ShownLore = z.input<typeof loreSchema>;

/** Lore in the order of its ids, for its owner. */
async function listLore(room: WorldRoom, worldId: string, only: string | null): Promise<ShownLore[]> {
  return room.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const { lore } = await readMarks(tx.world, world);
    const wanted = only === null ? lore : lore.filter(({ lore_id }) => lore_id === only);
    const rows = await tx.world.entriesById(
      world.number,
      wanted.map(({ entry_id }) => entry_id),
    );
    const entries = new Map(rows.map(toLedgerEntry).map((entry) => [entry.entry_id, entry]));
    return wanted.flatMap(({ lore_id, entry_id, number: _, keys: own, also, ...rule }) => {
      const entry = entries.get(entry_id);
      if (entry === undefined) return [];
      const visible_to = audienceOf(entry.visibility);
      return [{ lore_id, entry_id, text: entry.text, visible_to, keys: [...own], also: [...also], ...rule }];
    });
  });
}

const loreList = defineOperation({
  name: "world.lore",
  summary: "Lists the lore of a world with its keys.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({ world: worldField }),
  output: z.strictObject({ lore: z.array(loreSchema) }),
  run: async (room: WorldRoom, { world }) => ({ lore: await listLore(room, await findWorldId(room, world), null) }),
});

const loreShow = defineOperation({
  name: "world.lore-show",
  summary: "Shows one line of lore.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({ lore_id: loreId, world: worldField }),
  output: loreSchema,
  async run(room: WorldRoom, { lore_id, world }) {
    const [lore] = await listLore(room, await findWorldId(room, world), lore_id);
    if (lore === undefined) throw new VerbatimError("LORE_NOT_FOUND", { where: lore_id });
    return lore;
  },
});

const loreSet = defineOperation({
  name: "world.lore-set",
  summary: "Sets a line of lore and what brings it; what is not named stays as it is.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({ ...wish, world: worldField, key }),
  output: setSchema,
  async run(room: WorldRoom, { world, key: once, ...wanted }) {
    const { lore } = await setLore(room, await findWorldId(room, world), [wanted], once ?? null);
    return lore[0]!;
  },
});

const MAX_LORE_FILE = 64 * 1024 * 1024;

const loreFile = defineOperation({
  name: "world.lore-file",
  summary: "Sets lines of lore from a JSON file: an array of them, or {lore: [...]}. All of them or none.",
  effect: "append",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    file: z.string().min(1).describe("File to read; - reads standard input."),
    world: worldField,
    key,
  }),
  output: z.strictObject({ lore: z.array(setSchema) }),
  async run(room: WorldRoom, { file, world, key: once }) {
    requireLocal(room, "file");
    const value = parseJson(await room.files.read(file, MAX_LORE_FILE), { file });
    const list = isJsonObject(value) ? value["lore"] : value;
    const parsed = z.array(wishSchema).max(MAX_LORE).safeParse(list);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new VerbatimError("INPUT_INVALID", {
        message: issue!.message,
        where: `${file}: /${issue!.path.join("/")}`,
      });
    }
    return setLore(room, await findWorldId(room, world), parsed.data, once ?? null);
  },
});

const loreOff = defineOperation({
  name: "world.lore-off",
  summary: "Turns a line of lore off; the line itself stays.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({ lore_id: loreId, world: worldField, key }),
  output: setSchema,
  async run(room: WorldRoom, { lore_id, world, key: once }) {
    const worldId = await findWorldId(room, world);
    if ((await listLore(room, worldId, lore_id)).length === 0) {
      throw new VerbatimError("LORE_NOT_FOUND", { where: lore_id });
    }
    const { lore } = await setLore(room, worldId, [{ lore_id, enabled: false }], once ?? null);
    return lore[0]!;
  },
});

const MAX_ABOUT_FILE = 65_536;

async function readAbout(room: WorldRoom, file: string): Promise<string> {
  requireLocal(room, "about_file");
  const text = decodeUtf8(await room.files.read(file, MAX_ABOUT_FILE));
  if (text === null) throw new VerbatimError("INPUT_INVALID", { message: "the file is not UTF-8", where: file });
  return text;
}

const persona = defineOperation({
  name: "world.persona",
  summary: "Says whom the operator plays; the narrator is told while the operator is present.",
  effect: "append",
  who: OPERATOR,
  input: z.strictObject({
    name: z.string().min(1).max(80).describe("Name that readers see."),
    about: z.string().min(1).optional().describe("Who that is (default: nothing is said)."),
    about_file: z.string().min(1).optional().describe("File that says who that is; - reads standard input."),
    world: worldField,
    key,
  }),
  output: z.strictObject({ name: z.string(), entry_id: z.string().nullable() }),
  localFields: ["about_file"],
  async run(room: WorldRoom, { name, about, about_file, world, key: once }) {
    const text = about_file === undefined ? about : await readAbout(room, about_file);
    return setPersona(room, await findWorldId(room, world), { name, about: text ?? null }, once ?? null);
  },
});

const noteSchema = z.strictObject({ notes: notesSchema });

const notes = defineOperation({
  name: "world.notes",
  summary: "Lists what writers are told beside the story.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({ world: worldField }),
  output: noteSchema,
  async run(room: WorldRoom, { world }) {
    return { notes: await readNotes(room, await findWorldId(room, world)) };
  },
});

async function readNotes(room: WorldRoom, worldId: string): Promise<Notes> {
  return (await room.store.read((tx) => loadWorld(tx.world, worldId))).state.settings.notes ?? [];
}

const noteSet = defineOperation({
  name: "world.note-set",
  summary: "Tells writers something beside the story, only those whose people are named.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({
    note_id: z.string().min(1).max(64).describe("Id of the note."),
    text: z.string().min(1).max(2000).describe("What it says."),
    visible_to: z.array(z.string()).default(["WORLD"]).describe("Whose writers are told: people, or WORLD."),
    world: worldField,
    key,
  }),
  output: noteSchema,
  async run(room: WorldRoom, { note_id, text, visible_to, world, key: once }) {
    const worldId = await findWorldId(room, world);
    const others = (await readNotes(room, worldId)).filter((one) => one.note_id !== note_id);
    return saveNotes(room, worldId, [...others, { note_id, text, visible_to }], once);
  },
});

const noteRemove = defineOperation({
  name: "world.note-remove",
  summary: "Takes a note away.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({ note_id: z.string().min(1).max(64).describe("Id of the note."), world: worldField, key }),
  output: noteSchema,
  async run(room: WorldRoom, { note_id, world, key: once }) {
    const worldId = await findWorldId(room, world);
    const all = await readNotes(room, worldId);
    const rest = all.filter((one) => one.note_id !== note_id);
    if (rest.length === all.length) {
      throw new VerbatimError("INPUT_INVALID", { message: `there is no note ${note_id}`, where: "/note_id" });
    }
    return saveNotes(room, worldId, rest, once);
  },
});

type Notes = z.output<typeof notesSchema>;

async function saveNotes(room: WorldRoom, worldId: string, list: Notes, once: string | undefined) {
  const { settings } = await changeSettings(room, worldId, { notes: toJson(list) }, once ?? null);
  return { notes: settings.notes };
}

export const TELLING_OPERATIONS = [
  pins,
  pinSet,
  pinRemove,
  loreList,
  loreShow,
  loreSet,
  loreFile,
  loreOff,
  persona,
  notes,
  noteSet,
  noteRemove,
] as const;

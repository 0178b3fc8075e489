import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, OWNER, VIEWER } from "../../../core/operation.ts";
import { decodeBase64, encodeBase64 } from "../../../core/trust/base64.ts";
import { type ListedImport, listImports } from "../import/import-list.ts";
import { findImported, readEntrySwipes } from "../import/originals.ts";
import { MAX_PICTURE } from "../import/picture.ts";
import { MAX_IMPORT_BYTES } from "../import/read.ts";
import { readAvatar, removeAvatar, setAvatar } from "../people/avatars.ts";
import { loadWorld } from "../projection/reading.ts";
import { importProfileOperation } from "./import-profile.ts";
import { findWorldId, keyField as key, requireLocal, type WorldRoom, worldField } from "./room.ts";

const importedFile = z.strictObject({
  number: z.int(),
  format: z.string(),
  source_sha256: z.string(),
  people: z.array(z.strictObject({ person_id: z.string(), display_name: z.string() })),
  entries: z.int(),
  not_imported: z.array(z.string()),
  lost: z.array(z.strictObject({ what: z.string(), count: z.int(), where: z.string() })),
});

function toShown({ people, not_imported, lost, ...rest }: ListedImport): z.input<typeof importedFile> {
  return { ...rest, people: [...people], not_imported: [...not_imported], lost: [...lost] };
}

const number = z.int().min(1).describe("Number of the import.");

const imports = defineOperation({
  name: "world.imports",
  summary: "Lists the files that were imported into a world.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({ world: worldField }),
  output: z.strictObject({ imports: z.array(importedFile) }),
  async run(room: WorldRoom, { world }) {
    const worldId = await findWorldId(room, world);
    await room.store.read((tx) => loadWorld(tx.world, worldId));
    return { imports: (await listImports(room, worldId)).map(toShown) };
  },
});

const importShow = defineOperation({
  name: "world.import-show",
  summary: "Shows one import: what was written, and what of the file a world has no place for.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({ number, world: worldField }),
  output: importedFile,
  run: async (room: WorldRoom, input) =>
    toShown(await findImported(room, await findWorldId(room, input.world), input.number)),
});

const importOriginal = defineOperation({
  name: "world.import-original",
  summary: "Gives the file of an import back, byte for byte.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({
    number,
    world: worldField,
    out: z.string().min(1).optional().describe("New file to write (default: in the answer)."),
  }),
  output: z.strictObject({
    number: z.int(),
    sha256: z.string(),
    bytes: z.int(),
    file: z.string().nullable(),
    base64: z.string().nullable(),
  }),
  localFields: ["out"],
  async run(room: WorldRoom, { number: wanted, world, out }) {
    const { source_sha256: sha256 } = await findImported(room, await findWorldId(room, world), wanted);
    const bytes = await room.content.get(sha256);
    if (out !== undefined) {
      requireLocal(room, "out");
      await room.files.create(out, bytes);
    }
    const base64 = out === undefined ? encodeBase64(bytes) : null;
    return { number: wanted, sha256, bytes: bytes.length, file: out ?? null, base64 };
  },
});

const swipes = defineOperation({
  name: "world.swipes",
  summary: "Shows the other texts of a line that was imported, as its file has them.",
  effect: "read",
  who: OWNER,
  input: z.strictObject({ entry_id: z.string().min(1).describe("Id of the entry."), world: worldField }),
  output: z.strictObject({ entry_id: z.string(), swipes: z.array(z.string()), chosen: z.int().nullable() }),
  async run(room: WorldRoom, { entry_id, world }) {
    const shown = await readEntrySwipes(room, await findWorldId(room, world), entry_id);
    return { ...shown, swipes: [...shown.swipes] };
  },
});

const person_id = z.string().min(1).max(64).describe("Id of the person, or of the operator.");
const avatarSchema = z.strictObject({ person_id: z.string(), sha256: z.string(), media_type: z.string() });

const avatar = defineOperation({
  name: "world.avatar",
  summary: "Shows the picture of a person.",
  effect: "read",
  who: VIEWER,
  input: z.strictObject({
    person_id,
    world: worldField,
    out: z.string().min(1).optional().describe("New file to write (default: in the answer)."),
  }),
  output: avatarSchema.extend({ bytes: z.int(), file: z.string().nullable(), base64: z.string().nullable() }),
  localFields: ["out"],
  async run(room: WorldRoom, { person_id: id, world, out }) {
    const { bytes, sha256, media_type } = await readAvatar(room, await findWorldId(room, world), id);
    if (out !== undefined) {
      requireLocal(room, "out");
      await room.files.create(out, bytes);
    }
    const base64 = out === undefined ? encodeBase64(bytes) : null;
    return { person_id: id, sha256, media_type, bytes: bytes.length, file: out ?? null, base64 };
  },
});

const avatarSet = defineOperation({
  name: "world.avatar-set",
  summary: "Gives a person a picture. Everything that its file says beside the picture is taken out.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({
    person_id,
    file: z.string().min(1).optional().describe("PNG, JPEG or WebP; - reads standard input."),
    base64: z
      .string()
      .max(Math.ceil((MAX_IMPORT_BYTES * 4) / 3) + 4)
      .optional()
      .describe("The picture in base64, instead of a file."),
    world: worldField,
    key,
  }),
  output: avatarSchema,
  localFields: ["file"],
  async run(room: WorldRoom, { person_id: id, file, base64, world, key: once }) {
    if ((file === undefined) === (base64 === undefined)) {
      throw new VerbatimError("USAGE", { message: "one picture is needed: a file, or its bytes" });
    }
    return setAvatar(room, await findWorldId(room, world), id, await readPicture(room, file, base64), once ?? null);
  },
});

// The original may say more than a picture has; what is kept of it is smaller.
const MAX_PICTURE_FILE = 4 * MAX_PICTURE;

async function readPicture(room: WorldRoom, file: string | undefined, base64: string | undefined): Promise<Uint8Array> {
  if (file !== undefined) {
    requireLocal(room, "file");
    return room.files.read(file, MAX_PICTURE_FILE);
  }
  const bytes = decodeBase64(base64!);
  if (bytes === null) throw new VerbatimError("INPUT_INVALID", { message: "not base64", where: "/base64" });
  return bytes;
}

const avatarRemove = defineOperation({
  name: "world.avatar-remove",
  summary: "Takes the picture of a person away.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({ person_id, world: worldField, key }),
  output: z.strictObject({ person_id: z.string() }),
  run: async (room: WorldRoom, { person_id: id, world, key: once }) =>
    removeAvatar(room, await findWorldId(room, world), id, once ?? null),
});

export const IMPORT_OPERATIONS = [
  importProfileOperation,
  imports,
  importShow,
  importOriginal,
  swipes,
  avatar,
  avatarSet,
  avatarRemove,
] as const;

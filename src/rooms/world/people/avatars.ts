import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { appendRecord } from "../history/commit.ts";
import { type CleanPicture, cleanPicture } from "../import/picture.ts";
import { readMarks } from "../knowledge/marks.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";
import { loadWorld, type OpenWorld } from "../projection/reading.ts";
import { isSomebody } from "./cast.ts";
import { controlWorld } from "./control.ts";
import { unknownPerson } from "./people.ts";

export interface Avatar {
  readonly person_id: string;
  /** Of the cleaned picture. */
  readonly sha256: string;
  readonly media_type: string;
}

/** The picture of a person, and its bytes; AVATAR_NOT_FOUND without one, and for anybody who is not in this world. */
export async function readAvatar(
  ports: Pick<WorldPorts, "store" | "content">,
  worldId: string,
  person_id: string,
): Promise<Avatar & { readonly bytes: Uint8Array }> {
  const picture = await ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    return (await readMarks(tx.world, world)).pictures.get(person_id) ?? null;
  });
  if (picture === null) throw new VerbatimError("AVATAR_NOT_FOUND", { where: person_id });
  const { sha256, media_type } = picture;
  const bytes = await ports.content.get(sha256);
  // The record may come from another program's file and name anything that is kept here.
  if (!isClean(bytes, media_type)) throw new VerbatimError("AVATAR_NOT_FOUND", { where: person_id });
  return { person_id, sha256, media_type, bytes };
}

function isClean(bytes: Uint8Array, media_type: string): boolean {
  try {
    const clean = cleanPicture(bytes);
    return (
      clean.media_type === media_type &&
      clean.bytes.length === bytes.length &&
      clean.bytes.every((byte, i) => byte === bytes[i])
    );
  } catch (thrown) {
    if (isVerbatimError(thrown)) return false;
    throw thrown;
  }
}

/** Gives a person or the operator a picture, without anything that was said beside it in the file. */
export async function setAvatar(
  ports: WorldPorts,
  worldId: string,
  person_id: string,
  bytes: Uint8Array,
  key: string | null,
): Promise<Avatar> {
  const clean = cleanPicture(bytes);
  await ports.store.read(async (tx) => {
    const { cast } = await loadWorld(tx.world, worldId);
    if (!isSomebody(cast, person_id)) throw unknownPerson(person_id, "/person_id");
  });
  const { media_type } = clean;
  const sha256 = await ports.content.put(clean.bytes);
  return controlWorld(ports, worldId, { key, body: { avatar: person_id, sha256 } }, async (tx, world) => {
    const known = (await readMarks(tx.world, world)).pictures.get(person_id);
    const isSame = known?.sha256 === sha256 && known.media_type === media_type;
    if (!isSame) await appendRecord(ports, tx, world, "WORLD_AVATAR_SET", { person_id, sha256, media_type });
    return { person_id, sha256, media_type };
  });
}

/** The same inside a transaction, for a picture that is kept already. */
export async function setAvatarIn(
  ports: WorldPorts,
  tx: WorldWriteTransaction,
  world: OpenWorld,
  person_id: string,
  { sha256, media_type }: { readonly sha256: string; readonly media_type: CleanPicture["media_type"] },
): Promise<void> {
  await appendRecord(ports, tx, world, "WORLD_AVATAR_SET", { person_id, sha256, media_type });
}

/** Takes the picture of a person away. */
export async function removeAvatar(
  ports: WorldPorts,
  worldId: string,
  person_id: string,
  key: string | null,
): Promise<{ readonly person_id: string }> {
  return controlWorld(ports, worldId, { key, body: { no_avatar: person_id } }, async (tx, world) => {
    if (!(await readMarks(tx.world, world)).pictures.has(person_id)) {
      throw new VerbatimError("AVATAR_NOT_FOUND", { where: person_id });
    }
    await appendRecord(ports, tx, world, "WORLD_AVATAR_SET", { person_id, sha256: null, media_type: null });
    return { person_id };
  });
}

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { isPlainBelow, listGuarded, readGuarded, withGuardedFile } from "../disk/guarded/guarded-file.ts";
import { findInIndex } from "./pack-index.ts";
import { type GitObject, readPacked } from "./pack-object.ts";

const MOST_PACKS = 1000;
const MOST_STEPS = 64;
/** A commit or a tag is a few hundred bytes. */
const MOST_OBJECT = 1024 * 1024;

/**
 * Reads single small objects of a repository without git: no configuration, no alternates, no replacement is used, so
 * nothing that is in the repository can make anything run. What is damaged, large or missing is null.
 */
export class ObjectReader {
  readonly #objects: string;
  #packs: readonly string[] | null = null;

  constructor(objects: string) {
    this.#objects = objects;
  }

  /** Whether an object is here, by its name alone. */
  has(id: string): boolean {
    const loose = lstatSync(join(this.#objects, id.slice(0, 2), id.slice(2)), { throwIfNoEntry: false });
    return loose?.isFile() === true || this.#find(id) !== null;
  }

  /** `steps` is how many objects may build on one another. */
  read(id: string, steps = MOST_STEPS): GitObject | null {
    return steps === 0 ? null : (this.#readLoose(id) ?? this.#readPacked(id, steps));
  }

  #readLoose(id: string): GitObject | null {
    const path = `${id.slice(0, 2)}/${id.slice(2)}`;
    if (!isPlainBelow(this.#objects, path)) return null;
    const packed = readGuarded(join(this.#objects, path), MOST_OBJECT);
    const bytes = packed === null ? null : inflate(packed, MOST_OBJECT);
    const end = bytes?.indexOf(0) ?? -1;
    const head = /^(commit|tree|blob|tag) [0-9]+$/.exec(bytes?.subarray(0, Math.max(end, 0)).toString("latin1") ?? "");
    return head === null ? null : { type: head[1] as GitObject["type"], bytes: bytes!.subarray(end + 1) };
  }

  #readPacked(id: string, steps: number): GitObject | null {
    const found = this.#find(id);
    if (found === null) return null;
    const base = (other: string, left: number) => this.read(other, left);
    const reading = { most: MOST_OBJECT, name_bytes: id.length / 2, inflate, base };
    return withGuardedFile(`${found.pack}.pack`, (file) => readPacked(file, found.offset, reading, steps));
  }

  #find(id: string): { readonly pack: string; readonly offset: number } | null {
    for (const pack of this.#listPacks()) {
      const offset = withGuardedFile(`${pack}.idx`, (file) => findInIndex(file, id));
      if (offset !== null) return { pack, offset };
    }
    return null;
  }

  #listPacks(): readonly string[] {
    if (this.#packs !== null) return this.#packs;
    const folder = join(this.#objects, "pack");
    const names = listGuarded(folder, 4 * MOST_PACKS).filter((name) => /^pack-[0-9a-f]{40,64}\.idx$/.test(name));
    this.#packs = names.slice(0, MOST_PACKS).map((name) => join(folder, name.slice(0, -4)));
    return this.#packs;
  }
}

/** What a zlib stream at the beginning of some bytes holds; null when it is damaged or larger than allowed. */
function inflate(bytes: Buffer, most: number): Buffer | null {
  try {
    return inflateSync(bytes, { maxOutputLength: most });
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown) return null;
    throw thrown;
  }
}

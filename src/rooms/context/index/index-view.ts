import { decodeUtf8, isHash } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { showPath } from "../../../core/paths/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { Section } from "../contracts/index.ts";
import type { ContextReader, ContextStore, FileRow, FileVersion, IndexFacts } from "../ports.ts";
import { type CutFile, collectSections, eachSectionRow, type TakeSection } from "../sections/section-rows.ts";
import type { Target } from "../symbols/symbol.ts";
import { resolveTarget } from "../symbols/symbol.ts";
import { findCandidates, placeOf } from "./id-table.ts";
import {
  decodeImage,
  decodeStats,
  decodeTable,
  type FolderImage,
  findFile,
  hashOf,
  type IdTable,
  type IndexImage,
} from "./index-image.ts";

// Section lists stay in memory up to this many sections; the oldest go first.
const MAX_SECTIONS = 200_000;

/** One revision of the stored index, with the section lists that were asked for so far. */
export class IndexView {
  readonly facts: IndexFacts;
  readonly image: IndexImage;
  readonly #crypto: SyncCrypto;
  readonly #files = new Map<string, CutFile>();
  readonly #places = new Map<string, number>();
  #sections = 0;
  #ids: IdTable | null = null;

  constructor(crypto: SyncCrypto, facts: IndexFacts, image: IndexImage) {
    this.#crypto = crypto;
    this.facts = facts;
    this.image = image;
  }

  /** Number of a path in the index, or -1. Remembered, because expanding asks for the same few. */
  fileNumber(path: string): number {
    let number = this.#places.get(path);
    if (number === undefined) {
      number = findFile(this.image, path);
      if (number !== -1) this.#places.set(path, number);
    }
    return number;
  }

  /** The section a target means; every way in which it means none is an error (see `resolveTarget`). */
  async resolve(context: ContextReader, target: Target, label: string): Promise<Section> {
    const section = target.type === "SECTION" ? await this.findSection(context, target.section_id) : undefined;
    const file = target.type === "SECTION" ? undefined : await this.load(context, target.file_path);
    return resolveTarget(target, { findSection: () => section, sectionsOfFile: () => file?.sections }, label);
  }

  /** The section of a file or of an id, when what was loaded before is enough to tell. */
  findLoaded(target: Target): Section | undefined {
    if (target.type === "FILE") return this.#files.get(target.file_path)?.sections[0];
    if (target.type !== "SECTION" || this.#ids === null) return undefined;
    for (const n of findCandidates(this.#ids, target.section_id)) {
      const { file, ordinal } = placeOf(this.#ids, n);
      const sections = this.#files.get(this.image.paths[file]!)?.sections;
      if (sections === undefined) return undefined;
      if (sections[ordinal]?.section_id === target.section_id) return sections[ordinal];
    }
    return undefined;
  }

  /** The first section in index order with an id. Cost: a binary search and the section list of one file. */
  async findSection(context: ContextReader, sectionId: string): Promise<Section | undefined> {
    if (!isHash(sectionId)) return undefined;
    this.#ids ??= await loadIds(context, this.image.paths.length);
    for (const n of findCandidates(this.#ids, sectionId)) {
      const { file, ordinal } = placeOf(this.#ids, n);
      const section = (await this.load(context, this.image.paths[file]!))?.sections[ordinal];
      if (section?.section_id === sectionId) return section;
    }
    return undefined;
  }

  /** How many sections come before each file, and at the end how many there are. */
  async sectionStarts(context: ContextReader): Promise<Float64Array> {
    this.#ids ??= await loadIds(context, this.image.paths.length);
    return this.#ids.starts;
  }

  /** The first section of every id that begins with these digits, at most `most` of them. */
  async findBeginning(context: ContextReader, digits: string, most: number): Promise<Section[]> {
    this.#ids ??= await loadIds(context, this.image.paths.length);
    const found = new Map<string, Section>();
    for (const n of findCandidates(this.#ids, digits)) {
      const { file, ordinal } = placeOf(this.#ids, n);
      const section = (await this.load(context, this.image.paths[file]!))?.sections[ordinal];
      if (section?.section_id.startsWith(digits) !== true || found.has(section.section_id)) continue;
      found.set(section.section_id, section);
      if (found.size === most) break;
    }
    return [...found.values()];
  }

  /** The sections of a file, loaded once; undefined when the file is not in the index. */
  async load(context: ContextReader, path: string): Promise<CutFile | undefined> {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const number = this.fileNumber(path);
    if (number === -1) return undefined;
    const row = await context.file(toVersion(path, hashOf(this.image, number), this.facts.rules));
    const file = parseRow(this.#crypto, path, row);
    this.#files.set(path, file);
    this.#sections += file.sections.length;
    this.#forgetOldest(path);
    return file;
  }

  #forgetOldest(newest: string): void {
    for (const [path, { sections }] of this.#files) {
      if (this.#sections <= MAX_SECTIONS || path === newest) return;
      this.#sections -= sections.length;
      this.#files.delete(path);
    }
  }
}

/** Keeps the view of the current revision between calls. */
export class ViewCache {
  readonly #crypto: SyncCrypto;
  #view: IndexView | null = null;

  constructor(crypto: SyncCrypto) {
    this.#crypto = crypto;
  }

  /** The view of the index as the transaction sees it; INDEX_MISSING when there is none. */
  async open(context: ContextReader): Promise<IndexView> {
    const facts = await context.facts();
    if (facts === null) throw new VerbatimError("INDEX_MISSING");
    if (this.#view?.facts.revision !== facts.revision) {
      this.#view = new IndexView(this.#crypto, facts, await loadImage(context));
    }
    return this.#view;
  }
}

/** The stored index as one read sees it. */
export interface Stored {
  readonly facts: IndexFacts;
  readonly image: IndexImage;
}

/** Whether anything was ever indexed. */
export async function hasIndex(store: ContextStore): Promise<boolean> {
  return store.read(async ({ context }) => (await context.facts()) !== null);
}

/** Loads facts and image; null when there is no index. */
export async function loadStored(store: ContextStore): Promise<Stored | null> {
  return store.read(async ({ context }) => {
    const facts = await context.facts();
    return facts === null ? null : { facts, image: await loadImage(context) };
  });
}

/** The same, or INDEX_MISSING. */
export async function requireStored(store: ContextStore): Promise<Stored> {
  const stored = await loadStored(store);
  if (stored === null) throw new VerbatimError("INDEX_MISSING");
  return stored;
}

/** Paths, hashes and stat cache of the current index. */
export async function loadImage(context: ContextReader): Promise<IndexImage> {
  const paths = await context.image("paths");
  const hashes = await context.image("hashes");
  return decodeImage(paths, hashes, await context.image("stats")) ?? refuseIndex("the stored list of files is damaged");
}

/** The folders the current index was made from. */
export async function loadFolders(context: ContextReader): Promise<FolderImage> {
  const paths = await context.image("folders");
  return (
    decodeStats(paths, await context.image("folder_stats")) ?? refuseIndex("the stored list of folders is damaged")
  );
}

/** The table from ids to sections. */
async function loadIds(context: ContextReader, files: number): Promise<IdTable> {
  const starts = await context.image("starts");
  return decodeTable(starts, await context.image("ids"), files) ?? refuseIndex("the stored table of ids is damaged");
}

/** The key of a file's sections: its content, and the rules by which it was cut. */
export function toVersion(path: string, contentHash: string, rules: number): FileVersion {
  return { path, version: `${contentHash}.${rules}` };
}

/** The sections of a stored row: see `eachRow`. */
export function parseRow(crypto: SyncCrypto, path: string, row: FileRow | null): CutFile {
  return collectSections((take) => eachRow(crypto, path, row, take));
}

/** Hands over the sections of a stored row; a missing or damaged one is STORE_CORRUPT. */
export function eachRow(crypto: SyncCrypto, path: string, row: FileRow | null, take: TakeSection): void {
  const text = row === null ? null : decodeUtf8(row.sections);
  if (text !== null && eachSectionRow(crypto, path, text, take)) return;
  refuseIndex(`the stored sections of ${showPath(path)} are ${row === null ? "missing" : "damaged"}`);
}

/** STORE_CORRUPT about the index. */
export function refuseIndex(message: string): never {
  throw new VerbatimError("STORE_CORRUPT", {
    message,
    fix: { cli: "Build the index again: verbatim index build --full", others: "Build the whole index again." },
  });
}

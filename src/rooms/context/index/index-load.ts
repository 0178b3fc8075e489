import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { showPath } from "../../../core/paths/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { ContextReader, ContextStore, FileRow, FileVersion, IndexFacts } from "../ports.ts";
import { eachSectionRow } from "../sections/section-rows.ts";
import { type CutFile, collectSections, type TakeSection } from "../sections/sections.ts";
import {
  decodeImage,
  decodeStats,
  decodeTable,
  type FolderImage,
  type IdTable,
  type IndexImage,
} from "./index-image.ts";

/** The stored index as one read sees it. */
export interface Stored {
  readonly facts: IndexFacts;
  readonly image: IndexImage;
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
  return decodeImage(paths, hashes, await context.image("stats")) ?? refuse("the stored list of files is damaged");
}

/** The folders the current index was made from. */
export async function loadFolders(context: ContextReader): Promise<FolderImage> {
  const paths = await context.image("folders");
  return decodeStats(paths, await context.image("folder_stats")) ?? refuse("the stored list of folders is damaged");
}

/** The table from ids to sections. */
export async function loadIds(context: ContextReader, files: number): Promise<IdTable> {
  const starts = await context.image("starts");
  return decodeTable(starts, await context.image("ids"), files) ?? refuse("the stored table of ids is damaged");
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
  refuse(`the stored sections of ${showPath(path)} are ${row === null ? "missing" : "damaged"}`);
}

function refuse(message: string): never {
  throw new VerbatimError("STORE_CORRUPT", { message, fix: "Build the index again: verbatim index build --full" });
}

import { compareCodePoints, sortedUnique } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { toHex } from "../../../core/hex.ts";
import type { ContentStore, Random, SyncCrypto } from "../../../core/ports.ts";
import { type LandingSnapshot, newSnapshot } from "../contracts/landing.ts";
import type { LandingFiles, RunFolder } from "../ports.ts";
import { LandingRecord } from "./landing-record.ts";
import type { FoundImage, LandingPlan, PlannedFile } from "./plan-landing.ts";
import { isAt, listParents, putBack, temporaryName } from "./put-back.ts";

/** What landing needs from outside to write. */
export interface WritePorts {
  readonly files: LandingFiles;
  readonly content: Pick<ContentStore, "get">;
  readonly crypto: SyncCrypto;
  readonly random: Random;
}

/** Where a landing keeps its records. */
export interface LandingPlace {
  readonly folder: RunFolder;
  /** The number of the landing. */
  readonly l: number;
}

/**
 * Writes a plan without conflicts into the working tree, all of it or nothing; the tree lock is held by the caller. When
 * it returns, every path has been read back, and the landing counts as done whatever happens to this process; the
 * caller writes its result and closes it. LAND_RACED: someone wrote a path meanwhile, and everything was put back.
 */
export async function writeLanding(ports: WritePorts, place: LandingPlace, plan: LandingPlan): Promise<void> {
  const { files, crypto } = ports;
  const record = new LandingRecord(place.folder, place.l);
  const work = plan.files.filter(({ how }) => how === "as_is" || how === "merged");
  if (plan.files.some(({ how }) => how === "conflict")) throw new VerbatimError("LAND_CONFLICT");
  const token = toHex(ports.random.bytes(6));
  const snapshot = await takeSnapshot(ports, record, work);
  record.note("writing", token);
  try {
    await writeAll(ports, work, token);
    for (const { path, post } of snapshot.files) if (!isAt(files, crypto, path, post)) throw raced(path);
  } catch (thrown) {
    const { kept } = putBack(files, crypto, record, token);
    record.note("restored", token);
    const isRaced = isVerbatimError(thrown) && thrown.code === "LAND_RACED" && thrown.where !== undefined;
    throw isRaced ? raced(thrown.where!, kept) : thrown;
  }
  record.note("written", token);
}

/** The caller has written down what became of the landing. */
export function closeLanding({ folder, l }: LandingPlace): void {
  const record = new LandingRecord(folder, l);
  const journal = record.journal();
  if (journal?.state === "written") record.note("closed", journal.token);
}

/** Whether the tree may be in between, or the result of the landing is not written down yet. */
export function isLandingOpen({ folder, l }: LandingPlace): boolean {
  const state = new LandingRecord(folder, l).journal()?.state;
  return state === "writing" || state === "written";
}

async function takeSnapshot(
  { files, crypto }: WritePorts,
  record: LandingRecord,
  work: readonly PlannedFile[],
): Promise<LandingSnapshot> {
  const images = new Map<string, Uint8Array>();
  for (const { path, pre } of work) {
    const entry = files.look(path);
    const bytes = entry.kind === "file" || entry.kind === "link" ? entry.bytes : null;
    if ((bytes === null) !== (pre === null) || entry.kind === "special") throw changed(path);
    if (bytes === null || pre === null) continue;
    if (crypto.sha256(bytes) !== pre.sha256 || !("mode" in entry) || entry.mode !== pre.mode) throw changed(path);
    images.set(path, bytes);
  }
  const snapshot = newSnapshot({
    files: work.map(({ path, pre, post }) => ({
      path,
      pre: pre === null ? null : toSide(pre),
      post: post === null ? null : { mode: post.mode, sha256: post.sha256 },
    })),
    folders: listFolders(files, work),
  });
  await record.keep(snapshot, images);
  return snapshot;
}

function toSide({ mode, sha256, permissions }: FoundImage) {
  return { mode, sha256, ...(permissions === null ? {} : { permissions }) };
}

/** The folders that are there: above every path, and those that a file takes the place of. The shallow ones first. */
function listFolders(files: LandingFiles, work: readonly PlannedFile[]): LandingSnapshot["folders"] {
  const paths = work.flatMap(({ path, post }) => [
    ...listParents(path),
    ...(post !== null && files.look(path).kind === "folder" ? [path, ...files.below(path).folders] : []),
  ]);
  return sortedUnique(paths).flatMap((path) => {
    const permissions = files.folderPermissions(path);
    return permissions === null ? [] : [{ path, permissions }];
  });
}

async function writeAll(ports: WritePorts, work: readonly PlannedFile[], token: string): Promise<void> {
  const { files } = ports;
  const folders = new Set<string>([""]);
  // What goes, goes first and from the inside out: it may stand where a folder or a file has to be.
  for (const { path, pre, post } of [...work].sort(byPath).reverse()) {
    if (post !== null || pre === null) continue;
    if (!files.drop(path, checkUnchanged(ports, path, pre))) throw raced(path);
    for (const folder of listParents(path)) {
      folders.add(folder);
      files.removeFolder(folder);
    }
  }
  for (const [index, { path, pre, post }] of work.entries()) {
    if (post === null) continue;
    for (const folder of listParents(path).reverse()) {
      folders.add(folder);
      files.makeFolder(folder, null);
    }
    if (pre === null) clearFolder(files, path);
    const temporary = temporaryName(token, index);
    const bytes = await ports.content.get(post.sha256);
    const isFile = pre !== null && pre.mode !== "120000" && post.mode !== "120000";
    files.stage(path, temporary, { mode: post.mode, bytes, permissions: isFile ? pre.permissions : null });
    const stamp = pre === null ? null : checkUnchanged(ports, path, pre);
    if (!files.place(path, temporary, stamp)) throw raced(path);
  }
  files.sync([...folders]);
}

/** The empty folders where a file is to be; one that still holds something stops the landing when it gets its name. */
function clearFolder(files: LandingFiles, path: string): void {
  if (files.look(path).kind !== "folder") return;
  for (const folder of [...files.below(path).folders, path].sort(compareCodePoints).reverse()) {
    files.removeFolder(folder);
  }
}

/** The stamp of what is there now, which is byte for byte what was planned with, whoever touched it since. */
function checkUnchanged({ files, crypto }: WritePorts, path: string, pre: FoundImage): string {
  const entry = files.look(path);
  if (entry.kind !== "file" && entry.kind !== "link") throw raced(path);
  if (entry.mode !== pre.mode || crypto.sha256(entry.bytes) !== pre.sha256) throw raced(path);
  return entry.stamp;
}

function byPath(a: PlannedFile, b: PlannedFile): number {
  return compareCodePoints(a.path, b.path);
}

/** Before anything was written there is nothing to put back. */
function changed(path: string): VerbatimError {
  return new VerbatimError("LAND_RACED", {
    message: `somebody changed ${path} before it could be applied; nothing was changed`,
    where: path,
    details: { path },
  });
}

/** `kept`: what could not be put back, because someone's file stands there. */
function raced(path: string, kept: readonly string[] = []): VerbatimError {
  return new VerbatimError("LAND_RACED", {
    message: `somebody changed ${path} while it was being applied; everything was put back`,
    where: path,
    details: { path, kept },
  });
}

import { compareCodePoints } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { overlaps } from "../../../core/paths/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { LandingSnapshot } from "../contracts/landing.ts";
import type { LandingFiles } from "../ports.ts";
import type { LandingRecord } from "./landing-record.ts";

type SnapshotFile = LandingSnapshot["files"][number];
type SnapshotSide = SnapshotFile["pre"];

/** Whether a path is exactly in a state. */
export function isAt(files: LandingFiles, crypto: SyncCrypto, path: string, side: SnapshotSide): boolean {
  const entry = files.look(path);
  if (entry.kind !== "file" && entry.kind !== "link") return side === null && entry.kind !== "special";
  return side !== null && entry.mode === side.mode && crypto.sha256(entry.bytes) === side.sha256;
}

/** Every folder above a path, the deepest first. */
export function listParents(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, i) => parts.slice(0, parts.length - i).join("/"));
}

/** A name for the i-th file while it is not finished. */
export function temporaryName(token: string, index: number): string {
  return `.verbatim-${token}-${index}`;
}

/**
 * Puts every path of a snapshot back to what it was before a landing. Only what the landing itself left is touched: a
 * path that someone wrote meanwhile stays as it is and is named in the answer. May be repeated after a kill.
 */
export function putBack(
  files: LandingFiles,
  crypto: SyncCrypto,
  record: LandingRecord,
  token: string,
): { readonly kept: readonly string[] } {
  const snapshot = record.snapshot();
  if (snapshot === null) throw new VerbatimError("RUN_CORRUPT", { message: "the snapshot of the landing is missing" });
  const all = snapshot.files.map((file, index) => ({ ...file, index }));
  for (const { path, index } of all) files.discard(path, temporaryName(token, index));
  const touched = all.filter(({ path, pre }) => !isAt(files, crypto, path, pre));
  const own = new Set(all.map(({ path }) => path));
  const theirs = touched
    .filter(({ path, post }) => !isAt(files, crypto, path, post) || isBlockedByOthers(files, path, own))
    .map(({ path }) => path);
  // Where someone's file stays, no file can be above it and none below.
  const kept = touched.map(({ path }) => path).filter((path) => theirs.some((one) => overlaps(one, path)));
  const ours = touched.filter(({ path }) => !kept.includes(path));
  const known = new Set(snapshot.folders.map(({ path }) => path));
  const folders = new Set(all.flatMap(({ path }) => listParents(path)));
  // First what goes, from the inside out: a file may stand where a folder was, and the other way round.
  for (const { path, pre } of [...ours].reverse()) {
    if (pre === null || files.look(path).kind === "folder") removeOurs(files, path);
  }
  for (const folder of [...folders].sort(compareCodePoints).reverse()) {
    if (!known.has(folder)) files.removeFolder(folder);
  }
  for (const file of ours) clearWay(files, file, ours);
  for (const { path, permissions } of snapshot.folders) {
    if (files.look(path).kind === "missing") files.makeFolder(path, permissions);
  }
  for (const { path, pre, index } of ours) {
    if (pre === null) continue;
    restore(files, record, path, pre, index, temporaryName(token, index));
  }
  files.sync([...folders, ""]);
  const wrong = ours.filter(({ path, pre }) => !isAt(files, crypto, path, pre)).map(({ path }) => path);
  if (wrong.length > 0) {
    throw new VerbatimError("INTERNAL", {
      message: `${wrong.join(", ")} could not be put back`,
      details: { paths: wrong },
    });
  }
  return { kept };
}

/** Whether files that belong to no landing are in a folder where a file was, or are that folder's way. */
export function isBlockedByOthers(files: LandingFiles, path: string, own: ReadonlySet<string>): boolean {
  const { kind } = files.look(path);
  if (kind === "folder") return files.below(path).files.some((one) => !own.has(one));
  return (
    kind === "blocked" &&
    listParents(path).some((folder) => ["file", "link"].includes(files.look(folder).kind) && !own.has(folder))
  );
}

function removeOurs(files: LandingFiles, path: string): void {
  const entry = files.look(path);
  if (entry.kind === "file" || entry.kind === "link") files.drop(path, entry.stamp);
}

/** A file of the landing that stands where a folder has to be again goes before that folder is made. */
function clearWay(files: LandingFiles, { path, pre }: SnapshotFile, ours: readonly SnapshotFile[]): void {
  if (pre === null) return;
  for (const folder of listParents(path)) {
    if (ours.some((one) => one.path === folder && one.pre === null)) removeOurs(files, folder);
  }
}

function restore(
  files: LandingFiles,
  record: LandingRecord,
  path: string,
  pre: NonNullable<SnapshotSide>,
  index: number,
  temporary: string,
): void {
  const bytes = record.image(index);
  if (bytes === null) throw new VerbatimError("RUN_CORRUPT", { message: `the snapshot has no bytes of ${path}` });
  const entry = files.look(path);
  if (entry.kind === "folder") files.removeFolder(path);
  files.stage(path, temporary, { mode: pre.mode, bytes, permissions: pre.permissions ?? null });
  const stamp = entry.kind === "file" || entry.kind === "link" ? entry.stamp : null;
  if (!files.place(path, temporary, stamp)) files.discard(path, temporary);
}

import { compareCodePoints } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { isInside } from "../declare/path-rules.ts";
import type { Limits } from "../declare/settings.ts";
import type { CatalyticPorts, FingerprintScan, RunDisk } from "../ports.ts";
import { parentOf, placeOf } from "../run/places.ts";
import { Reading, WITHOUT_LIMITS } from "../tree/reading.ts";
import type { Entry, OtherEntry } from "../tree/tree.ts";
import { type Staged, toDeclared } from "./outputs.ts";

/** One anchor after the command: what it was and what the command sees there. */
export interface AnchorState {
  readonly path: string;
  /** Where it can be read as it was. */
  readonly before: string;
  /** Where it can be read as the command left it. */
  readonly after: string;
}

interface Change {
  readonly before: Entry | OtherEntry | null;
  readonly after: Entry | OtherEntry | null;
}

/** What differs below an anchor: repository path -> entry before and after, null where there is none. */
export type AnchorDiff = ReadonlyMap<string, Change>;

/** Where two readings of one folder are taken. */
type Sides = Pick<AnchorState, "before" | "after">;

interface FoldersDiff {
  readonly changes: AnchorDiff;
  readonly not_utf8: ReadonlySet<string>;
}

export interface StagedOutputs extends Staged {
  readonly entries: ReadonlyMap<string, Entry | OtherEntry | null>;
  readonly not_utf8: ReadonlySet<string>;
}

type StagingPorts = Pick<CatalyticPorts, "disk">;

/** A path that two scans show differently. */
export interface Candidate {
  readonly path: string;
  readonly was: FingerprintScan;
  readonly is: FingerprintScan;
}

/**
 * Compares two readings of one folder. A path whose stat is the same on both sides is the same file and is not read;
 * in an overlay that is everything the command did not touch, in a copy nothing. Cost: one lstat per path and side.
 */
export async function diffFolders(
  disk: RunDisk,
  sides: Sides,
  skip: (path: string) => boolean,
  reading: Reading,
  known: FingerprintScan | null = null,
): Promise<FoldersDiff> {
  const options = { from: [""], skip };
  const was = known === null ? await reading.scan(sides.before, options) : without(known, skip);
  const is = await reading.scan(sides.after, options, was);
  const candidates: Candidate[] = [];
  for (const path of new Set([...was.packed.keys(), ...is.packed.keys()])) {
    if (path !== "." && was.packed.get(path) !== is.packed.get(path)) candidates.push({ path, was, is });
  }
  return { changes: await readCandidates(disk, sides, candidates, reading), not_utf8: is.not_utf8 };
}

function without({ packed, not_utf8 }: FingerprintScan, skip: (path: string) => boolean): FingerprintScan {
  return { packed: new Map([...packed].filter(([path]) => !skip(path))), not_utf8 };
}

/** Reads what differs by stat, and keeps what actually differs. What matters less comes last: it gets what is left. */
export async function readCandidates(
  disk: RunDisk,
  sides: Sides,
  candidates: readonly Candidate[],
  reading: Reading,
): Promise<AnchorDiff> {
  const sorted = [...candidates].sort((a, b) => compareCodePoints(a.path, b.path));
  const added = sorted.filter(({ path, was }) => !was.packed.has(path)).map(({ path }) => path);
  const later = await reading.findLater(
    sorted.map(({ path }) => path),
    added,
  );
  const changes = new Map<string, Change>();
  for (const one of [
    ...sorted.filter(({ path }) => !later.has(path)),
    ...sorted.filter(({ path }) => later.has(path)),
  ]) {
    reading.check();
    const before = entryAt(disk, sides.before, one.path, one.was);
    const after = isRead(disk, one, reading) ? entryAt(disk, sides.after, one.path, one.is) : OTHER;
    if (before !== null && after !== null && isSameEntry(before, after)) continue;
    changes.set(one.path, { before, after });
  }
  return new Map([...changes].sort(([a], [b]) => compareCodePoints(a, b)));
}

const OTHER: OtherEntry = { type: "other" };

/** A file as large as the one it was costs no more than what was there before. */
function isRead(disk: RunDisk, { path, was, is }: Candidate, reading: Reading): boolean {
  const [old, now] = [was.packed.get(path), is.packed.get(path)];
  if (now === undefined) return true;
  const { type, size } = disk.unpack(now);
  return type !== "file" || (old !== undefined && disk.unpack(old).size === size) || reading.takes(size);
}

/** What a scan showed at a path, with the hash of a file. */
export function entryAt(disk: RunDisk, base: string, path: string, scan: FingerprintScan): Entry | OtherEntry | null {
  const packed = scan.packed.get(path);
  if (packed === undefined) return null;
  const { type, mode, size, target } = disk.unpack(packed);
  if (scan.not_utf8.has(path)) return { type: "other" };
  switch (type) {
    case "dir":
      return { type, mode };
    case "symlink":
      return { type, target: target ?? "" };
    case "file": {
      const sha256 = disk.hashFile(`${base}/${path}`);
      return sha256 === null ? { type: "other" } : { type, mode, size, sha256 };
    }
    case "other":
      return { type };
  }
}

/** Whether two readings show the same thing; a special file is never the same. */
export function isSameEntry(a: Entry | OtherEntry, b: Entry | OtherEntry): boolean {
  return a.type !== "other" && b.type !== "other" && haveSame(a, b);
}

const SHOWN_FIELDS = ["type", "mode", "size", "sha256", "target"] as const;
type ShownFields = { readonly [F in (typeof SHOWN_FIELDS)[number]]?: unknown };

function haveSame(a: ShownFields, b: ShownFields): boolean {
  return SHOWN_FIELDS.every((field) => a[field] === b[field]);
}

/** Everything an anchor shows that is not looked after otherwise, under its repository path. */
export async function diffAnchors(
  { disk }: StagingPorts,
  anchors: readonly AnchorState[],
  skip: (path: string) => boolean,
  maxBytes: number,
): Promise<FoldersDiff> {
  const all = new Map<string, Change>();
  const notUtf8 = new Set<string>();
  // Everything must be found to be put back, however long that takes; only contents have a limit.
  const limits = { ...WITHOUT_LIMITS, file_bytes: maxBytes, total_bytes: maxBytes };
  const reading = new Reading(disk, () => 0, limits);
  for (const anchor of anchors) {
    const found = await diffFolders(disk, anchor, (path) => skip(`${anchor.path}/${path}`), reading);
    for (const [path, change] of found.changes) all.set(`${anchor.path}/${path}`, change);
    for (const path of found.not_utf8) notUtf8.add(`${anchor.path}/${path}`);
  }
  return { changes: all, not_utf8: notUtf8 };
}

/**
 * Copies the declared outputs, and whatever was written next to them, out of the reach of the command, and lists what
 * is there (CMP-01, Phase 3). `made` are folders the tool made: still empty, they are not an output.
 */
export async function stageOutputs(
  ports: StagingPorts,
  setting: {
    readonly outputs: readonly string[];
    readonly anchors: readonly AnchorState[];
    readonly stage: string;
    readonly made: ReadonlySet<string>;
    readonly limits: Pick<Limits, "max_entries" | "output_bytes" | "quarantine_bytes">;
    readonly skip: (path: string) => boolean;
  },
): Promise<StagedOutputs & { readonly kept: ReadonlySet<string>; readonly changes: AnchorDiff }> {
  const { disk } = ports;
  const { quarantine_bytes, output_bytes, max_entries } = setting.limits;
  const { changes, not_utf8 } = await diffAnchors(ports, setting.anchors, setting.skip, quarantine_bytes);
  const entries = new Map<string, Entry | OtherEntry | null>();
  const tooLarge = new Set<string>();
  const left = { bytes: output_bytes, entries: max_entries };
  const notUtf8 = new Set<string>();
  const kept = new Set<string>();
  const declared = setting.outputs.map(toDeclared);
  for (const { path, folder } of declared) {
    const place = locate(path, setting.anchors);
    const facts = disk.stat(place);
    if (facts === null || (folder && setting.made.has(path) && disk.list(place)?.length === 0)) {
      entries.set(path, null);
      continue;
    }
    // By stat alone: what is too large costs neither a copy nor a hash.
    if (!(await isWithin(disk, place, left))) {
      tooLarge.add(path);
      entries.set(path, OTHER);
      continue;
    }
    const target = `${setting.stage}/${path}`;
    disk.makeFolders(parentOf(target));
    await disk.copy(place, target);
    kept.add(path);
    const options = { strict_mtime: false, max_entries: Number.MAX_SAFE_INTEGER, lenient: true };
    const taken = await disk.snapshot(target, options);
    for (const [below, entry] of taken.entries) entries.set(below === "." ? path : `${path}/${below}`, entry);
    for (const below of taken.not_utf8) notUtf8.add(`${path}/${below}`);
  }
  let bytes = 0;
  for (const [path, { after }] of changes) {
    if (declared.some((one) => isInside(path, one.path))) continue;
    entries.set(path, after);
    if (not_utf8.has(path)) notUtf8.add(path);
    if (after === null || after.type === "other" || after.type === "dir") continue;
    bytes += after.type === "file" ? after.size : 0;
    if (bytes > quarantine_bytes) continue;
    const target = `${setting.stage}/${path}`;
    disk.makeFolders(parentOf(target));
    await disk.copy(locate(path, setting.anchors), target);
    kept.add(path);
  }
  return { entries, not_utf8: notUtf8, too_large: tooLarge, kept, changes };
}

/** Whether a declared output fits into what is left; what it takes of it is subtracted. */
async function isWithin(disk: RunDisk, place: string, left: { bytes: number; entries: number }): Promise<boolean> {
  const limits = { ...WITHOUT_LIMITS, entries: left.entries };
  const reading = new Reading(disk, () => 0, limits);
  try {
    const { packed } = await reading.scan(place, { from: [""], skip: () => false }, NO_ENTRIES);
    let bytes = 0;
    for (const one of packed.values()) bytes += disk.unpack(one).size;
    if (bytes > left.bytes) return false;
    left.bytes -= bytes;
    left.entries -= packed.size;
    return true;
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "VIEW_TOO_LARGE") return false;
    throw thrown;
  }
}

const NO_ENTRIES: FingerprintScan = { packed: new Map(), not_utf8: new Set() };

function locate(path: string, anchors: readonly AnchorState[]): string {
  const anchor = anchors.find((one) => isInside(path, one.path))!;
  return placeOf(anchor.after, path.slice(anchor.path.length + 1));
}

/** Makes an anchor what it was, from its copy. Only what differs is touched; what was added has been staged. */
export async function restoreAnchor(disk: RunDisk, anchor: AnchorState, changes: AnchorDiff): Promise<void> {
  const own = [...changes].filter(([path]) => isInside(path, anchor.path));
  for (const [path, { before }] of own.toReversed()) {
    if (before === null) await disk.discardShown(anchor.after, path.slice(anchor.path.length + 1));
  }
  for (const [path, { before, after }] of own) {
    if (before === null || before.type === "other") continue;
    const below = path.slice(anchor.path.length + 1);
    const place = `${anchor.after}/${below}`;
    if (after !== null && after.type !== before.type) await disk.discard(place);
    if (before.type !== "dir") {
      await disk.discard(place);
      await disk.copy(`${anchor.before}/${below}`, place);
    } else {
      disk.createFolder(place, 0o700);
      disk.setMode(place, Number.parseInt(before.mode, 8));
    }
  }
}

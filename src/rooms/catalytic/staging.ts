import { sortedByCodePoint } from "../../core/canonical/index.ts";
import { type Staged, toDeclared } from "./outputs.ts";
import { isInside } from "./path-rules.ts";
import { parentOf, placeOf } from "./places.ts";
import type { CatalyticPorts, FingerprintScan, RunDisk } from "./ports.ts";
import type { Entry, OtherEntry } from "./tree.ts";

/** One anchor after the command: what it was and what the command sees there. */
export interface AnchorState {
  readonly path: string;
  /** Where it can be read as it was. */
  readonly before: string;
  /** Where it can be read as the command left it. */
  readonly after: string;
}

/** What differs below an anchor: repository path -> entry before and after, null where there is none. */
export type AnchorDiff = ReadonlyMap<
  string,
  { readonly before: Entry | OtherEntry | null; readonly after: Entry | OtherEntry | null }
>;

export interface StagedOutputs extends Staged {
  readonly entries: ReadonlyMap<string, Entry | OtherEntry | null>;
  readonly not_utf8: ReadonlySet<string>;
}

type StagingPorts = Pick<CatalyticPorts, "disk">;

/**
 * Compares two readings of one folder. A path whose stat is the same on both sides is the same file and is not read;
 * in an overlay that is everything the command did not touch, in a copy nothing. Cost: one lstat per path and side.
 */
export async function diffFolders(
  disk: RunDisk,
  before: string,
  after: string,
  skip: (path: string) => boolean,
  known: FingerprintScan | null = null,
  most = Number.POSITIVE_INFINITY,
): Promise<{ readonly changes: AnchorDiff; readonly not_utf8: ReadonlySet<string> }> {
  const options = { from: [""], skip, max_entries: Number.MAX_SAFE_INTEGER };
  const was = known ?? (await disk.scan(before, options));
  const is = await disk.scan(after, options);
  const changes = new Map<string, { before: Entry | OtherEntry | null; after: Entry | OtherEntry | null }>();
  for (const path of sortedByCodePoint(new Set([...was.packed.keys(), ...is.packed.keys()]))) {
    if (path === "." || was.packed.get(path) === is.packed.get(path) || skip(path)) continue;
    const [old, now] = entriesAt(disk, path, [before, was], [after, is], most);
    if (old !== null && now !== null && isSameEntry(old, now)) continue;
    changes.set(path, { before: old, after: now });
  }
  return { changes, not_utf8: is.not_utf8 };
}

/**
 * What two scans showed at a path. A file of the second side that is larger than allowed is not read, unless it is as
 * large as the one it was: then reading it costs no more than what was there before.
 */
export function entriesAt(
  disk: RunDisk,
  path: string,
  [before, was]: readonly [string, FingerprintScan],
  [after, is]: readonly [string, FingerprintScan],
  most: number,
): readonly [Entry | OtherEntry | null, Entry | OtherEntry | null] {
  const sizeIn = ({ packed }: FingerprintScan) => {
    const text = packed.get(path);
    return text === undefined ? -1 : disk.unpack(text).size;
  };
  const isAllowed = sizeIn(is) <= most || sizeIn(was) === sizeIn(is);
  return [entryAt(disk, before, path, was), isAllowed ? entryAt(disk, after, path, is) : { type: "other" }];
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
  const left = a as unknown as Record<string, unknown>;
  const right = b as unknown as Record<string, unknown>;
  if (a.type === "other" || b.type === "other") return false;
  return ["type", "mode", "size", "sha256", "target"].every((field) => left[field] === right[field]);
}

/** Everything an anchor shows that is not looked after otherwise, under its repository path. */
export async function diffAnchors(
  { disk }: StagingPorts,
  anchors: readonly AnchorState[],
  skip: (path: string) => boolean,
): Promise<{ readonly changes: AnchorDiff; readonly not_utf8: ReadonlySet<string> }> {
  const all = new Map<string, { before: Entry | OtherEntry | null; after: Entry | OtherEntry | null }>();
  const notUtf8 = new Set<string>();
  for (const anchor of anchors) {
    const found = await diffFolders(disk, anchor.before, anchor.after, (path) => skip(`${anchor.path}/${path}`));
    for (const [path, change] of found.changes) all.set(`${anchor.path}/${path}`, change);
    for (const path of found.not_utf8) notUtf8.add(`${anchor.path}/${path}`);
  }
  return { changes: all, not_utf8: notUtf8 };
}

/**
 * Copies the declared outputs, and whatever was written beside them, out of the reach of the command, and lists what
 * is there (CMP-01, Phase 3). `made` are folders the tool made: still empty, they are not an output.
 */
export async function stageOutputs(
  ports: StagingPorts,
  setting: {
    readonly outputs: readonly string[];
    readonly anchors: readonly AnchorState[];
    readonly stage: string;
    readonly made: ReadonlySet<string>;
    readonly max_bytes: number;
    readonly skip: (path: string) => boolean;
  },
): Promise<StagedOutputs & { readonly kept: ReadonlySet<string>; readonly changes: AnchorDiff }> {
  const { disk } = ports;
  const { changes, not_utf8 } = await diffAnchors(ports, setting.anchors, setting.skip);
  const entries = new Map<string, Entry | OtherEntry | null>();
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
    if (bytes > setting.max_bytes) continue;
    const target = `${setting.stage}/${path}`;
    disk.makeFolders(parentOf(target));
    await disk.copy(locate(path, setting.anchors), target);
    kept.add(path);
  }
  return { entries, not_utf8: notUtf8, kept, changes };
}

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

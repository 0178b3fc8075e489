import { sortedByCodePoint } from "../../core/canonical/index.ts";
import type { FingerprintScan, RunDisk } from "./ports.ts";
import { type AnchorDiff, entriesAt, isSameEntry } from "./staging.ts";
import type { Entry, OtherEntry } from "./tree.ts";

/** Where the two sides of an overlay and the upper folder can be read. */
export interface OverlayPlaces {
  readonly lower: string;
  readonly merged: string;
  readonly upper: string;
}

interface Side {
  readonly before: Entry | OtherEntry | null;
  readonly after: Entry | OtherEntry | null;
}

/**
 * What a command changed in an overlay. Whatever it wrote, removed or renamed has a place in the upper folder, and so
 * has every folder above it: a folder that is not there, and whose stat is that of the real one, is the real one and is
 * not entered. Cost: the entries of the folders that were touched.
 */
export async function diffOverlay(
  disk: RunDisk,
  places: OverlayPlaces,
  skip: (path: string) => boolean,
  most: number,
): Promise<{ readonly changes: AnchorDiff; readonly not_utf8: ReadonlySet<string> }> {
  const found = new Map<string, Side>();
  const notUtf8 = new Set<string>();
  const read = async (base: string, path: string, shallow: boolean) => {
    const scan = await disk.scan(base, { from: [path], skip, max_entries: Number.MAX_SAFE_INTEGER, shallow });
    if (base === places.merged) for (const one of scan.not_utf8) notUtf8.add(one);
    return scan;
  };
  const touched = [""];
  for (let folder = touched.pop(); folder !== undefined; folder = touched.pop()) {
    const was = await read(places.lower, folder, true);
    const is = await read(places.merged, folder, true);
    for (const path of new Set([...was.packed.keys(), ...is.packed.keys()])) {
      if (path === (folder || ".")) continue;
      const [old, now] = [was.packed.get(path), is.packed.get(path)];
      const isFolder = (packed: string | undefined) => packed?.startsWith("dir|") === true;
      if (isFolder(old) && isFolder(now) && disk.stat(`${places.upper}/${path}`)?.kind === "dir") touched.push(path);
      else if (old !== now && (isFolder(old) || isFolder(now))) {
        const whole = [await read(places.lower, path, false), await read(places.merged, path, false)] as const;
        compare(disk, places, whole[0], whole[1], found, most);
        continue;
      }
      if (old !== now) note(disk, places, path, was, is, found, most);
    }
  }
  const changes = new Map(sortedByCodePoint(found.keys()).map((path) => [path, found.get(path)!]));
  return { changes, not_utf8: notUtf8 };
}

function compare(
  disk: RunDisk,
  places: OverlayPlaces,
  was: FingerprintScan,
  is: FingerprintScan,
  found: Map<string, Side>,
  most: number,
): void {
  for (const path of new Set([...was.packed.keys(), ...is.packed.keys()])) {
    if (was.packed.get(path) !== is.packed.get(path)) note(disk, places, path, was, is, found, most);
  }
}

function note(
  disk: RunDisk,
  { lower, merged }: OverlayPlaces,
  path: string,
  was: FingerprintScan,
  is: FingerprintScan,
  found: Map<string, Side>,
  most: number,
): void {
  const [before, after] = entriesAt(disk, path, [lower, was], [merged, is], most);
  if (before !== null && after !== null && isSameEntry(before, after)) return;
  found.set(path, { before, after });
}

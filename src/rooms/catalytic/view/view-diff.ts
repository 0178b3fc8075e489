import { type AnchorDiff, type Candidate, readCandidates } from "../outputs/staging.ts";
import type { FingerprintScan, RunDisk } from "../ports.ts";
import type { Reading } from "../tree/reading.ts";

/** Where the two sides of an overlay and the upper folder can be read. */
interface OverlayPlaces {
  readonly lower: string;
  readonly merged: string;
  readonly upper: string;
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
  reading: Reading,
): Promise<{ readonly changes: AnchorDiff; readonly not_utf8: ReadonlySet<string> }> {
  const candidates: Candidate[] = [];
  const notUtf8 = new Set<string>();
  const read = async (path: string, shallow: boolean) => {
    const options = { from: [path], skip, shallow };
    const was = await reading.scan(places.lower, options);
    const is = await reading.scan(places.merged, options, was);
    for (const one of is.not_utf8) notUtf8.add(one);
    return { was, is };
  };
  const note = (path: string, was: FingerprintScan, is: FingerprintScan) => {
    if (was.packed.get(path) !== is.packed.get(path) && !isUntouched(disk, places, path))
      candidates.push({ path, was, is });
  };
  const touched = [""];
  for (let folder = touched.pop(); folder !== undefined; folder = touched.pop()) {
    const { was, is } = await read(folder, true);
    for (const path of pathsOf(was, is)) {
      if (path === (folder || ".")) continue;
      const [old, now] = [was.packed.get(path), is.packed.get(path)];
      const isFolder = (packed: string | undefined) => packed?.startsWith("dir|") === true;
      if (isFolder(old) && isFolder(now) && disk.stat(`${places.upper}/${path}`)?.kind === "dir") touched.push(path);
      else if (old !== now && (isFolder(old) || isFolder(now))) {
        const whole = await read(path, false);
        for (const one of pathsOf(whole.was, whole.is)) note(one, whole.was, whole.is);
        continue;
      }
      note(path, was, is);
    }
  }
  const sides = { before: places.lower, after: places.merged };
  return { changes: await readCandidates(disk, sides, candidates, reading), not_utf8: notUtf8 };
}

/**
 * Whether the view shows the real thing, of which the upper folder has nothing: then someone else changed it between two
 * looks. A folder that was renamed shows another one's files at its old paths, and those have other numbers.
 */
function isUntouched(disk: RunDisk, { lower, merged, upper }: OverlayPlaces, path: string): boolean {
  if (disk.stat(`${upper}/${path}`) !== null) return false;
  const [real, shown] = [disk.stat(`${lower}/${path}`), disk.stat(`${merged}/${path}`)];
  return real === null ? shown === null : real.ino === shown?.ino;
}

function pathsOf(was: FingerprintScan, is: FingerprintScan): Set<string> {
  return new Set([...was.packed.keys(), ...is.packed.keys()]);
}

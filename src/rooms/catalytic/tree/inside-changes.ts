import { GUARD_FACTS } from "../../../core/contracts/guards.ts";
import type { Fingerprint } from "../guard/tripwire.ts";
import type { RunDisk } from "../ports.ts";
import { placeOf } from "../run/places.ts";
import type { RunContext } from "../run/run-context.ts";
import type { Layers } from "./layers.ts";
import type { Tree, Trees } from "./tree.ts";

/** What a command did in its domains before they were put back, counted by paths. */
export interface InsideChanges {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

export const NO_CHANGES: InsideChanges = { added: 0, changed: 0, removed: 0 };

/**
 * Counts what the command left in its domains, by stat alone: for the summary, never for the verdict. An upper layer
 * holds nothing but changes; a copy is compared with its original, whose times it was given.
 */
export async function countInside(
  { ports, places, guard }: RunContext,
  layers: Layers,
  pre: Trees,
): Promise<InsideChanges> {
  const method = GUARD_FACTS[guard].restore_method;
  const sum = { ...NO_CHANGES } as { -readonly [K in keyof InsideChanges]: number };
  for (const [i, { path, aside }] of layers.domains.entries()) {
    const home = placeOf(places.root, path);
    const before = pre.get(path) ?? new Map();
    const found =
      method === "discard-upper"
        ? await countUpper(ports.disk, `${places.work}/up${i}`, before)
        : method === "discard-copy"
          ? await countCopy(ports.disk, home, layers.copyOf(i))
          : await countCopy(ports.disk, aside, home);
    sum.added += found.added;
    sum.changed += found.changed;
    sum.removed += found.removed;
  }
  return sum;
}

const EVERYTHING = { from: [""], skip: () => false, max_entries: Number.MAX_SAFE_INTEGER };

async function countUpper(disk: RunDisk, upper: string, before: Tree): Promise<InsideChanges> {
  let [added, changed, removed] = [0, 0, 0];
  for (const [path, packed] of (await disk.scan(upper, EVERYTHING)).packed) {
    const was = before.get(path);
    const is = disk.unpack(packed);
    if (path === ".") continue;
    if (was === undefined) added++;
    // What was deleted is a device in the upper layer.
    else if (is.type === "other") removed++;
    else if (is.type !== "dir" || was.type !== "dir" || is.mode !== was.mode) changed++;
  }
  return { added, changed, removed };
}

async function countCopy(disk: RunDisk, original: string, copy: string): Promise<InsideChanges> {
  const before = (await disk.scan(original, EVERYTHING)).packed;
  const after = (await disk.scan(copy, EVERYTHING)).packed;
  let [added, changed, removed] = [0, 0, 0];
  for (const path of before.keys()) if (!after.has(path)) removed++;
  for (const [path, packed] of after) {
    const was = before.get(path);
    if (was === undefined) added++;
    else if (!isSame(disk.unpack(was), disk.unpack(packed))) changed++;
  }
  return { added, changed, removed };
}

function isSame(a: Fingerprint, b: Fingerprint): boolean {
  if (a.type !== b.type || a.mode !== b.mode || a.target !== b.target) return false;
  return a.type !== "file" || (a.size === b.size && a.mtime_ns === b.mtime_ns);
}

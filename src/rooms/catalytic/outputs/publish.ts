import { isJsonObject, type JsonObject, sortedByCodePoint } from "../../../core/canonical/index.ts";
import { QUARANTINE_FOLDER } from "../contracts/constants.ts";
import type { RunDisk } from "../ports.ts";
import type { Journal } from "../record/journal.ts";
import type { JournalRecord } from "../recover/recovery.ts";
import { type Places, parentOf, placeOf } from "../run/places.ts";
import { type Entry, formatSortedMap, formatTreeEntry, type OtherEntry } from "../tree/tree.ts";
import { toDeclared } from "./outputs.ts";

/** Puts the staged outputs in place, one rename each; until PROOF.json exists a crash takes all of them back. */
export async function publishOutputs(
  disk: RunDisk,
  journal: Journal,
  places: Places,
  outputs: readonly string[],
  makeFolder: (path: string) => void,
): Promise<{ readonly path: string; readonly removed: readonly string[] }[]> {
  journal.record("PUBLISH_INTENT", { paths: outputs });
  disk.makeFolders(`${places.work}/backup`);
  const published: { path: string; removed: string[] }[] = [];
  for (const [i, output] of outputs.entries()) {
    const { path, folder } = toDeclared(output);
    const target = placeOf(places.root, path);
    const backup = `${places.work}/backup/${i}`;
    const staged = disk.stat(`${places.work}/stage/${path}`)!;
    for (const parent of missingParents(disk, places.root, path)) makeFolder(parent);
    const old = disk.stat(target);
    const before = folder && old?.kind === "dir" ? await namesIn(disk, target) : [];
    const after = new Set(before.length === 0 ? [] : await namesIn(disk, `${places.work}/stage/${path}`));
    journal.record("PUBLISH_ITEM", { path, backup: old === null ? null : backup, dev: staged.dev, ino: staged.ino });
    if (old !== null) await move(disk, target, backup);
    await move(disk, `${places.work}/stage/${path}`, target);
    disk.syncFolder(parentOf(target));
    published.push({ path, removed: before.filter((name) => !after.has(name)).map((name) => `${path}/${name}`) });
  }
  journal.record("PUBLISHED");
  return published;
}

async function namesIn(disk: RunDisk, place: string): Promise<string[]> {
  const { packed } = await disk.scan(place, { from: [""], skip: () => false, max_entries: Number.MAX_SAFE_INTEGER });
  return [...packed.keys()].filter((path) => path !== ".");
}

function missingParents(disk: RunDisk, root: string, path: string): string[] {
  const missing: string[] = [];
  for (let at = parentOf(path); at !== "" && disk.stat(placeOf(root, at)) === null; at = parentOf(at))
    missing.unshift(at);
  return missing;
}

/** Renames, or copies where the two places are on different devices. */
async function move(disk: RunDisk, from: string, to: string): Promise<void> {
  const [source, target] = [disk.stat(from), disk.stat(parentOf(to))];
  if (source?.dev === target?.dev) {
    disk.rename(from, to);
    return;
  }
  await disk.copy(from, to);
  await disk.discard(from);
}

/** Takes one published output back: the old one returns, or the place is empty again. Doing it twice changes nothing. */
export async function rollBackOutput(
  disk: RunDisk,
  places: Pick<Places, "root" | "work">,
  item: JournalRecord & JsonObject,
): Promise<void> {
  const { path, backup } = item;
  const target = placeOf(places.root, path ?? "");
  if (typeof backup === "string") {
    // Without its backup the old output was never moved away.
    if (disk.stat(backup) === null) return;
    await keepAside(disk, places.work, path ?? "", target);
    await move(disk, backup, target);
    return;
  }
  const now = disk.stat(target);
  if (now !== null && now.ino === item["ino"] && now.dev === item["dev"])
    await keepAside(disk, places.work, path ?? "", target);
}

async function keepAside(disk: RunDisk, work: string, path: string, target: string): Promise<void> {
  if (disk.stat(target) === null) return;
  const stage = `${work}/stage/${path}`;
  if (disk.stat(stage) !== null) {
    await disk.discard(target);
    return;
  }
  disk.makeFolders(parentOf(stage));
  await move(disk, target, stage);
}

/** Moves everything staged to the quarantine of the run and returns QUARANTINE.json, or null when there is nothing. */
export async function quarantine(
  disk: RunDisk,
  places: Places,
  entries: ReadonlyMap<string, Entry | OtherEntry | null>,
): Promise<{ readonly text: string; readonly paths: readonly string[] } | null> {
  const stage = `${places.work}/stage`;
  const there = disk.list(stage) ?? [];
  const listed = sortedByCodePoint(entries.keys()).filter((path) => entries.get(path) !== null);
  if (listed.length === 0) return null;
  const target = `${places.record}/${QUARANTINE_FOLDER}`;
  disk.makeFolders(target);
  for (const name of sortedByCodePoint(there)) await move(disk, `${stage}/${name}`, `${target}/${name}`);
  const known = new Map(listed.map((path) => [path, entries.get(path) as Entry | OtherEntry]));
  return { text: formatSortedMap(known, formatTreeEntry), paths: listed };
}

/** The entries a QUARANTINE.json lists. */
export function readQuarantine(value: unknown): string[] {
  return isJsonObject(value) ? sortedByCodePoint(Object.keys(value)) : [];
}

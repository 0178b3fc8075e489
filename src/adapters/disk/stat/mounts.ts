import { readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { errnoCode } from "../../../core/errors/system.ts";

interface Mount {
  readonly place: string;
  /** `ext4`, `tmpfs`, `overlay` and so on. */
  readonly type: string;
}

/** Mount points below a folder, which may be on the same device. */
export function listMountsBelow(folder: string): string[] {
  return listMounts().filter((place) => place.startsWith(`${folder}/`));
}

/** Every mount point this process sees; none where the system does not say. */
export function listMounts(): string[] {
  return readMounts().map(({ place }) => place);
}

/** The kind of file system a place is on, or would be on; null where the system does not say. */
export function fileSystemOf(place: string): string | null {
  const real = `${realAncestor(place)}/`;
  let best: Mount | null = null;
  // A later mount hides an earlier one at the same place.
  for (const mount of readMounts()) {
    const prefix = mount.place === "/" ? "/" : `${mount.place}/`;
    if (real.startsWith(prefix) && mount.place.length >= (best?.place.length ?? 0)) best = mount;
  }
  return best?.type ?? null;
}

function realAncestor(place: string): string {
  try {
    return realpathSync(place);
  } catch (thrown) {
    if (errnoCode(thrown) !== "ENOENT" || place === dirname(place)) throw thrown;
    return realAncestor(dirname(place));
  }
}

function readMounts(): Mount[] {
  let text: string;
  try {
    text = readFileSync("/proc/self/mountinfo", "utf8");
  } catch (thrown) {
    if (errnoCode(thrown) !== "ENOENT") throw thrown;
    return [];
  }
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const fields = line.split(" ");
      return { place: unescapeMount(fields[4] ?? ""), type: fields[fields.indexOf("-") + 1] ?? "" };
    });
}

function unescapeMount(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

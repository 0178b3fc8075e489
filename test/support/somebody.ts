import { statSync } from "node:fs";
import { dirname } from "node:path";

/** As whom root tries what root may always do: `nobody` on every Unix we know. Nothing for everybody else. */
export const SOMEBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The first folder on the way to a place that somebody else may not enter; only asked for root. */
export function findClosedFolder(place: string): string | null {
  if (process.getuid?.() !== 0) return null;
  for (let at = place; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return at;
    if (at === dirname(at)) return null;
  }
}

/** Does something without the rights of root. What it loads has to be loaded before. */
export async function asSomebody<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work();
  process.seteuid!(65_534);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
  }
}

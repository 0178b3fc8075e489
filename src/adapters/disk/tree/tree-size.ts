import { lstatSync, readdirSync } from "node:fs";
import { errnoCode } from "../../../core/errors/system.ts";

/** How many bytes the files below a folder have together, counted no further than `most`; `skip` names are left out. */
export function measureTree(root: string, most: number, skip: readonly string[]): number {
  let total = 0;
  const pending = readNames(root)
    .filter((name) => !skip.includes(name))
    .map((name) => `${root}/${name}`);
  for (let place = pending.pop(); place !== undefined && total <= most; place = pending.pop()) {
    const facts = lstatSync(place, { throwIfNoEntry: false });
    if (facts?.isDirectory() === true) for (const name of readNames(place)) pending.push(`${place}/${name}`);
    else total += facts?.size ?? 0;
  }
  return total;
}

function readNames(place: string): string[] {
  try {
    return readdirSync(place);
  } catch (thrown) {
    // It went away meanwhile, or copying will say that it may not be read.
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(errnoCode(thrown) ?? "")) return [];
    throw thrown;
  }
}

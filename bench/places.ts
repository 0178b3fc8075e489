import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The root of the checkout, seen from here or from the bundle that the benches run in. */
export const ROOT = findRoot(import.meta.dirname);

/** The command line as it ships. */
export const BIN = join(ROOT, "bin/verbatim.js");

/** What is made once and kept; git ignores it. */
export const CACHE = join(ROOT, "bench/.cache");

function findRoot(start: string): string {
  for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "bench/run.ts"))) return folder;
  }
  throw new Error(`${start} is not in a checkout`);
}

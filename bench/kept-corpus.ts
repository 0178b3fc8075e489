import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CACHE, ROOT } from "./places.ts";

/**
 * A folder that is made once and kept for later runs: made again when one of the files that make it changes. The
 * paths of those are relative to the checkout.
 */
export async function keepCorpus(
  name: string,
  makers: readonly string[],
  make: (folder: string) => void | Promise<void>,
): Promise<string> {
  const hash = createHash("sha256");
  for (const maker of makers) hash.update(readFileSync(join(ROOT, maker)));
  const folder = join(CACHE, `${name}-${hash.digest("hex").slice(0, 12)}`);
  if (existsSync(folder)) {
    // Left by a run that was stopped.
    rmSync(join(folder, ".verbatim"), { recursive: true, force: true });
    console.error(`corpus ${name}: kept from an earlier run`);
    return folder;
  }
  mkdirSync(CACHE, { recursive: true });
  for (const old of readdirSync(CACHE)) {
    if (old.startsWith(`${name}-`)) rmSync(join(CACHE, old), { recursive: true, force: true });
  }
  const unfinished = `${folder}.new`;
  mkdirSync(unfinished);
  await make(unfinished);
  renameSync(unfinished, folder);
  return folder;
}

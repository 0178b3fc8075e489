import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode, toDiskError } from "../../../core/errors/system.ts";
import type { BundleSink } from "../../../rooms/jobs/ports.ts";
import { writeDurable } from "../durable/atomic-write.ts";
import { syncFolder } from "../durable/sync-folder.ts";

const STALE_MS = 60_000;

/**
 * Fills a new folder next to the target and renames it into place when `fill` is done: the target is there whole or
 * not at all. What is in the way stays; a folder that a dead build left is removed.
 */
export async function createBundleFolder<T>(
  target: string,
  now: number,
  fill: (folder: string, sink: BundleSink) => Promise<T>,
): Promise<T> {
  requireFree(target);
  const parent = dirname(target);
  const folder = join(parent, `.${basename(target)}.tmp-${process.pid}-${randomBytes(6).toString("hex")}`);
  try {
    await removeStale(parent, basename(target), now);
    await mkdir(folder);
    await mkdir(join(folder, "artifacts"));
    const result = await fill(folder, {
      // A bundle is made to be handed on, whatever the umask of who makes it.
      write: (path, bytes) => writeDurable(join(folder, path), bytes, { mode: 0o644, exact: true }),
    });
    await syncFolder(join(folder, "artifacts"));
    await syncFolder(folder);
    await rename(folder, target).catch((thrown: unknown) => {
      throw errnoCode(thrown) === "ENOTEMPTY" || errnoCode(thrown) === "EEXIST" || errnoCode(thrown) === "ENOTDIR"
        ? notEmpty(target)
        : thrown;
    });
    await syncFolder(parent);
    return result;
  } catch (thrown) {
    await rm(folder, { recursive: true, force: true });
    if (errnoCode(thrown) === "ENOENT") {
      throw new VerbatimError("FILE_NOT_FOUND", {
        message: "the folder for the bundle does not exist",
        where: parent,
        cause: thrown,
      });
    }
    throw toDiskError(thrown, target);
  }
}

function requireFree(target: string): void {
  const facts = lstatSync(target, { throwIfNoEntry: false });
  if (facts !== undefined && (!facts.isDirectory() || readdirSync(target).length > 0)) throw notEmpty(target);
}

function notEmpty(target: string): VerbatimError {
  return new VerbatimError("BUNDLE_TARGET_NOT_EMPTY", { where: target });
}

/** Removes what an earlier build of the same target left: old enough, and its process is gone. */
async function removeStale(parent: string, name: string, now: number): Promise<void> {
  const prefix = `.${name}.tmp-`;
  for (const entry of readdirSync(parent)) {
    if (!entry.startsWith(prefix)) continue;
    const pid = Number(entry.slice(prefix.length).split("-")[0]);
    const facts = lstatSync(join(parent, entry), { throwIfNoEntry: false });
    if (facts?.isDirectory() === true && now - facts.mtimeMs > STALE_MS && !isAlive(pid)) {
      await rm(join(parent, entry), { recursive: true, force: true });
    }
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return errnoCode(thrown) === "EPERM";
  }
}

import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { errnoCode } from "../../../core/errors/system.ts";
import { PRIVATE_FOLDER } from "../guarded/private-modes.ts";

const HOST = createHash("sha256").update(hostname()).digest("hex").slice(0, 12);
const NAME = /^([0-9a-f]{12})-([0-9]+)-[0-9a-f]{12}[.]tmp$/;
const DAY_MS = 86_400_000;

/** Names for unfinished files that say who makes them, so that what a dead process left can be told apart. */
export class TemporaryFiles {
  readonly folder: string;
  #ready: Promise<void> | undefined;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** A fresh path; on the first call the folder is made and cleaned of what dead processes left. */
  async next(): Promise<string> {
    this.#ready ??= this.#prepare();
    await this.#ready;
    return join(this.folder, `${HOST}-${process.pid}-${randomBytes(6).toString("hex")}.tmp`);
  }

  async #prepare(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: PRIVATE_FOLDER });
    for (const name of await readdir(this.folder)) {
      const [, host, pid] = NAME.exec(name) ?? [];
      if (host === undefined) continue;
      const path = join(this.folder, name);
      if (await isAbandoned(path, host, Number(pid))) await rm(path, { force: true });
    }
  }
}

/**
 * A process of another machine, or an earlier one with our own number, cannot be asked: then a day decides. The
 * modification time of a payload comes from the Clock port and says nothing here; the change time is the system's own.
 */
async function isAbandoned(path: string, host: string, pid: number): Promise<boolean> {
  if (host === HOST && pid !== process.pid) return !isAlive(pid);
  try {
    return Date.now() - (await stat(path)).ctimeMs > DAY_MS;
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT") return false;
    throw thrown;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return errnoCode(thrown) === "EPERM";
  }
}

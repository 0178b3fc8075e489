import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { FingerprintScan, RunDisk, ScanOptions } from "../ports.ts";

/** How much of what a command left is looked at. */
interface ReadingLimits {
  /** More entries than there were before the command. */
  readonly entries: number;
  readonly file_bytes: number;
  readonly total_bytes: number;
  readonly time_ms: number;
}

/** No change that can be reviewed comes near: larger files, or more of them, are listed and not read. */
const VIEW_FILE_BYTES = 32 * 1024 ** 2;
const VIEW_TOTAL_BYTES = 128 * 1024 ** 2;
const VIEW_TIME_MS = 10 * 60_000;

/** The limits of a view, with the entries of the configuration. */
export function viewLimits(maxEntries: number): ReadingLimits {
  return {
    entries: maxEntries,
    file_bytes: VIEW_FILE_BYTES,
    total_bytes: VIEW_TOTAL_BYTES,
    time_ms: VIEW_TIME_MS,
  };
}

export const WITHOUT_LIMITS: ReadingLimits = {
  entries: Number.MAX_SAFE_INTEGER,
  file_bytes: Number.MAX_SAFE_INTEGER,
  total_bytes: Number.MAX_SAFE_INTEGER,
  time_ms: Number.MAX_SAFE_INTEGER,
};

/** Says which of the paths that differ matter less than others; `added` are those of them that appeared. */
type FindLater = (paths: readonly string[], added: readonly string[]) => Promise<ReadonlySet<string>>;

/**
 * One reading of what a command left. Sizes are those of a stat, so a file that is not worth its bytes costs nothing; too
 * many entries or too much time end the reading: VIEW_TOO_LARGE, VIEW_READ_TIMED_OUT.
 */
export class Reading {
  readonly limits: ReadingLimits;
  readonly findLater: FindLater;
  readonly #disk: RunDisk;
  readonly #now: () => number;
  readonly #end: number;
  #bytes: number;
  #entries: number;

  constructor(
    disk: RunDisk,
    now: () => number,
    limits: ReadingLimits,
    findLater: FindLater = async () => new Set<string>(),
  ) {
    this.limits = limits;
    this.findLater = findLater;
    this.#disk = disk;
    this.#now = now;
    this.#end = now() + limits.time_ms;
    this.#bytes = limits.total_bytes;
    this.#entries = limits.entries;
  }

  /** Whether a file of that size may still be read. It is counted then. */
  takes(size: number): boolean {
    if (size > this.limits.file_bytes || size > this.#bytes) return false;
    this.#bytes -= size;
    return true;
  }

  /** For every loop over paths. */
  check(): void {
    if (this.#now() <= this.#end) return;
    throw new VerbatimError("VIEW_READ_TIMED_OUT", {
      message: `what the command left could not be read in ${this.limits.time_ms / 1000} s`,
      details: { path: ".", limit_ms: this.limits.time_ms },
    });
  }

  /** The stat of everything at a place; with `was`, of the command's side of what that scan showed. */
  async scan(
    base: string,
    options: Pick<ScanOptions, "from" | "skip" | "shallow">,
    was: FingerprintScan | null = null,
  ): Promise<FingerprintScan> {
    const before = was?.packed.size ?? 0;
    const most = was === null ? Number.MAX_SAFE_INTEGER : Math.min(before + this.#entries, Number.MAX_SAFE_INTEGER);
    const skip = (path: string) => {
      this.check();
      return options.skip(path);
    };
    try {
      const scan = await this.#disk.scan(base, { ...options, skip, max_entries: most });
      if (was !== null) this.#entries -= Math.max(0, scan.packed.size - before);
      return scan;
    } catch (thrown) {
      if (!isVerbatimError(thrown) || thrown.code !== "TRIPWIRE_TOO_LARGE") throw thrown;
      throw new VerbatimError("VIEW_TOO_LARGE", {
        message: `the command left more than ${this.limits.entries} entries that were not there before`,
        details: { path: ".", limit: this.limits.entries },
        cause: thrown,
      });
    }
  }
}

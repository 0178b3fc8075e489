import {
  decodeUtf8,
  encodeUtf8,
  formatCanonical,
  isJsonObject,
  type JsonObject,
  parseJson,
} from "../../../core/canonical/index.ts";
import type { GuardName, RestoreMethod } from "../../../core/contracts/guards.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { RunDisk } from "../ports.ts";
import type { JournalRecord } from "../recover/recovery.ts";
import type { LockOwner } from "../run/lock-state.ts";

/** What the journal says about a domain before anything is done to it. */
export interface JournalDomain {
  readonly path: string;
  /** Device and inode of the original; null for a domain that does not exist. */
  readonly dev: string | null;
  readonly ino: string | null;
  /** Where the original waits while it is swapped out. */
  readonly aside: string;
  readonly copy: string;
}

/** The first record of a journal. */
export interface BeginRecord extends LockOwner {
  readonly op: "BEGIN";
  readonly run_id: string;
  readonly root: string;
  readonly record: string;
  readonly guard: GuardName;
  readonly method: RestoreMethod;
  readonly domains: readonly JournalDomain[];
  readonly anchors: readonly { readonly path: string; readonly copy: string }[];
}

/** What a run is about to do, durable before it is done. It remembers what it wrote, so that a stranger's hand shows. */
export class Journal {
  readonly #disk: RunDisk;
  readonly #place: string;
  readonly #lines: string[] = [];

  constructor(disk: RunDisk, place: string) {
    this.#disk = disk;
    this.#place = place;
  }

  record(op: string, facts: object = {}): void {
    const line = `${formatCanonical({ op, ...facts })}\n`;
    this.#lines.push(line);
    this.#disk.append(this.#place, [encodeUtf8(line)]);
  }

  /** Whether someone else wrote into it. Then it is made what it was: recovery must not do what a stranger announced. */
  async mend(): Promise<boolean> {
    const expected = this.#lines.join("");
    const isFile = this.#disk.stat(this.#place)?.kind === "file";
    const bytes = isFile ? this.#disk.read(this.#place) : null;
    if (bytes !== null && decodeUtf8(bytes) === expected) return false;
    await this.#disk.discard(this.#place);
    this.#disk.replaceFile(this.#place, encodeUtf8(expected), "folder");
    return true;
  }
}

/** The records of a journal. A last line without its end did not happen. */
export function readJournal(disk: RunDisk, place: string): (JournalRecord & JsonObject)[] {
  const bytes = disk.read(place);
  const text = bytes === null ? "" : (decodeUtf8(bytes) ?? "");
  const records: (JournalRecord & JsonObject)[] = [];
  for (const line of text.slice(0, text.lastIndexOf("\n") + 1).split("\n")) {
    if (line === "") continue;
    const value = readLine(line);
    if (value === null) break;
    records.push(value);
  }
  return records;
}

function readLine(line: string): (JournalRecord & JsonObject) | null {
  try {
    const value = parseJson(line);
    return isJsonObject(value) && typeof value["op"] === "string" ? (value as JournalRecord & JsonObject) : null;
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}

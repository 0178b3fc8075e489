import { type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { type JsonContract, parseContract } from "../../../core/contracts/index.ts";
import { formatArtifact } from "../artifacts/json.ts";
import {
  LANDING_JOURNAL,
  LANDING_SNAPSHOT,
  type LandingJournal,
  type LandingSnapshot,
  newJournal,
} from "../contracts/landing.ts";
import type { RunFolder } from "../ports.ts";

/** The files of one landing in its run directory. */
export class LandingRecord {
  readonly #folder: RunFolder;
  readonly #name: string;

  constructor(folder: RunFolder, l: number) {
    this.#folder = folder;
    this.#name = String(l).padStart(2, "0");
  }

  /** How far the landing came; null: it never began to write. CONTRACT_VIOLATED when it is not what we wrote. */
  journal(): LandingJournal | null {
    return this.#read(this.#journalFile, LANDING_JOURNAL);
  }

  /** Durable when it returns: what follows may rely on it after any crash. */
  note(state: LandingJournal["state"], token: string): void {
    this.#folder.write(this.#journalFile, formatArtifact(newJournal(state, token)));
  }

  snapshot(): LandingSnapshot | null {
    return this.#read(`${this.#snapshotFolder}/manifest.json`, LANDING_SNAPSHOT);
  }

  /** Pre-images first, the manifest last: with a manifest the snapshot is complete. */
  async keep(snapshot: LandingSnapshot, images: ReadonlyMap<string, Uint8Array>): Promise<void> {
    const files = snapshot.files.flatMap(({ path }, i) => {
      const bytes = images.get(path);
      return bytes === undefined ? [] : [[this.#imageFile(i), bytes] as const];
    });
    await this.#folder.writeAll(files);
    this.#folder.write(`${this.#snapshotFolder}/manifest.json`, formatArtifact(snapshot));
  }

  image(index: number): Uint8Array | null {
    return this.#folder.read(this.#imageFile(index));
  }

  get #journalFile(): string {
    return `agent/landings/${this.#name}/journal.json`;
  }

  get #snapshotFolder(): string {
    return `snapshot/${this.#name}`;
  }

  #imageFile(index: number): string {
    return `${this.#snapshotFolder}/${index}.bytes`;
  }

  #read<T>(path: string, contract: JsonContract): T | null {
    const bytes = this.#folder.read(path);
    if (bytes === null) return null;
    const value: JsonValue = parseJson(bytes, { file: `${this.#folder.dir}/${path}` });
    return JSON.parse(JSON.stringify(parseContract(contract, value))) as T;
  }
}

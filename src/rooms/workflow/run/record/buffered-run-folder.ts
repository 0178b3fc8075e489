import { encodeUtf8 } from "../../../../core/canonical/index.ts";
import type { RunFolder } from "../../ports.ts";
import { RUN_FILE } from "./run-state.ts";

/**
 * A run directory whose files are held in memory until they are released, all at once and durable. For steps that are
 * over in a moment and change nothing else: a crash before the release leaves what was there before them.
 */
export class BufferedRunFolder implements RunFolder {
  readonly id: string;
  readonly dir: string;
  readonly #folder: RunFolder;
  readonly #files = new Map<string, Uint8Array>();
  #isHeld = true;

  constructor(folder: RunFolder) {
    this.#folder = folder;
    this.id = folder.id;
    this.dir = folder.dir;
  }

  /** Whether files still wait for their release. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Writes everything. From now on the folder is like any other. */
  async release(): Promise<void> {
    this.#isHeld = false;
    const { [RUN_FILE]: run, ...others } = Object.fromEntries(this.#files);
    this.#files.clear();
    // RUN.json makes the folder a run: whatever it speaks of is there before it.
    await this.#folder.writeAll(Object.entries(others));
    if (run !== undefined) this.#folder.write(RUN_FILE, run);
  }

  read(path: string): Uint8Array | null {
    return this.#files.get(path) ?? this.#folder.read(path);
  }

  size(path: string): number | null {
    return this.#files.get(path)?.length ?? this.#folder.size(path);
  }

  write(path: string, bytes: Uint8Array | string): void {
    if (!this.#isHeld) this.#folder.write(path, bytes);
    else this.#hold(path, typeof bytes === "string" ? encodeUtf8(bytes) : bytes);
  }

  async writeAll(files: readonly (readonly [path: string, bytes: Uint8Array])[]): Promise<void> {
    if (!this.#isHeld) await this.#folder.writeAll(files);
    else for (const [path, bytes] of files) this.#hold(path, bytes);
  }

  append(path: string, text: string): void {
    if (!this.#isHeld) {
      this.#folder.append(path, text);
      return;
    }
    const [before, more] = [this.read(path) ?? new Uint8Array(), encodeUtf8(text)];
    const bytes = new Uint8Array(before.length + more.length);
    bytes.set(before);
    bytes.set(more, before.length);
    this.#hold(path, bytes);
  }

  move(from: string, to: string): void {
    const held = this.#files.get(from);
    if (held === undefined) {
      this.#folder.move(from, to);
      return;
    }
    this.#hold(to, held);
    this.remove(from);
  }

  remove(path: string): void {
    for (const held of [...this.#files.keys()])
      if (held === path || held.startsWith(`${path}/`)) this.#files.delete(held);
    this.#folder.remove(path);
  }

  list(folder = ""): string[] {
    const inside = [...this.#files.keys()].filter((path) => folder === "" || path.startsWith(`${folder}/`));
    return [...new Set([...this.#folder.list(folder), ...inside])];
  }

  makeFolder(path: string): string {
    return this.#folder.makeFolder(path);
  }

  #hold(path: string, bytes: Uint8Array): void {
    this.#files.set(path, bytes);
  }
}

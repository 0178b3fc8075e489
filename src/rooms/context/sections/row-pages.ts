import { compareCodePoints } from "../../../core/canonical/index.ts";
import type { ContextStore, FileRow, FileVersion } from "../ports.ts";

const PAGE = 512;

/** Rows of the store for files that are asked for in path order: a page serves many of them. */
export class RowPages {
  readonly #store: ContextStore;
  /** Last row first. */
  #page: FileRow[] = [];

  constructor(store: ContextStore) {
    this.#store = store;
  }

  /** The row of a version, or null. Paths must not go back. */
  async find(wanted: FileVersion): Promise<FileRow | null> {
    const row = this.#take(wanted);
    if (row !== null) return row;
    this.#page = (await this.#store.read(({ context }) => context.filesFrom(wanted.path, PAGE))).reverse();
    return this.#take(wanted);
  }

  #take({ path, version }: FileVersion): FileRow | null {
    for (let row = this.#page.at(-1); row !== undefined; row = this.#page.at(-1)) {
      const order = compareCodePoints(row.path, path);
      if (order > 0) return null;
      if (order === 0 && row.version === version) return row;
      this.#page.pop();
    }
    return null;
  }
}

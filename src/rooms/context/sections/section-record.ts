import type { Hasher, SyncCrypto } from "../../../core/ports.ts";
import type { Section } from "../contracts/index.ts";
import { IdTableMaker } from "../index/id-table.ts";
import type { IdTable } from "../index/index-image.ts";
import { RowBuffer } from "./row-buffer.ts";
import { SectionLines } from "./section-index.ts";
import { formatSectionRow, type TakeSection } from "./section-rows.ts";
import { SECTION_RULES } from "./sections.ts";

// Texts are handed on in portions: one piece at a time would cost a call each, all at once would outlive collections.
const HASH_SIZE = 64 * 1024;
const ROW_SIZE = 16 * 1024;

/**
 * What a build makes of all sections, in index order, as they come: rows for the store, the table of ids, the hash of
 * SECTION_INDEX. No section is kept, so a file with very many of them takes no more memory than its rows.
 */
export class SectionRecord {
  /** Rows that are not in the store yet. */
  readonly rows: RowBuffer;
  readonly #table = new IdTableMaker();
  readonly #hasher: Hasher;
  readonly #format = new SectionLines();
  #lines = "";
  #row = "";
  #last: Section | null = null;
  #sections = 0;

  /** `seal` is what the hash of the index begins with besides its lines; `rules` is what the rows are cut by. */
  constructor(crypto: SyncCrypto, seal = "", rules = SECTION_RULES) {
    this.rows = new RowBuffer(rules);
    this.#hasher = crypto.hasher();
    this.#hasher.update(seal);
  }

  /** Number of different ids: a file and its first heading may share one, and so may two names on one line. */
  get sections(): number {
    return this.#sections;
  }

  /** Takes a section whose row the store lacks. */
  readonly takeNew: TakeSection = (section, size) => {
    this.#row += formatSectionRow(section, size, this.#last?.heading_path ?? []);
    if (this.#row.length >= ROW_SIZE) this.#flushRow();
    this.#take(section);
  };

  /** Takes a section whose row the store has. */
  readonly takeStored: TakeSection = (section) => this.#take(section);

  /** Ends a file that the store lacks. */
  endNew(path: string, contentHash: string): void {
    this.#flushRow();
    this.rows.end(path, contentHash);
    this.endStored();
  }

  endStored(): void {
    this.#table.endFile();
    this.#last = null;
  }

  /** What the sections amount to; the record is spent afterwards. */
  finish(): { readonly index_hash: string; readonly table: IdTable } {
    this.#hasher.update(this.#lines);
    return { index_hash: this.#hasher.digest(), table: this.#table.finish() };
  }

  #take(section: Section): void {
    const { section_id } = section;
    // The same id means the same lines, so those that share one follow each other.
    if (this.#last?.section_id !== section_id) this.#sections++;
    this.#last = section;
    this.#table.addSection(section_id);
    this.#lines += this.#format.format(section);
    if (this.#lines.length < HASH_SIZE) return;
    this.#hasher.update(this.#lines);
    this.#lines = "";
  }

  #flushRow(): void {
    this.rows.write(this.#row);
    this.#row = "";
  }
}

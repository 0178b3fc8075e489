import { VerbatimError } from "../../core/errors/index.ts";
import type { SyncCrypto } from "../../core/ports.ts";
import type { Section } from "./contracts.ts";
import { loadImage } from "./index-build.ts";
import { findCandidates, findFile, type IndexImage, placeOf } from "./index-image.ts";
import type { ContextReader, IndexFacts } from "./ports.ts";
import type { SectionLookup } from "./resolution.ts";
import { parseSectionRows } from "./section-rows.ts";
import type { Target } from "./symbol.ts";

// Section lists of this many files stay in memory; the oldest go first.
const MAX_FILES = 4096;

/** One revision of the stored index, with the section lists that were asked for so far. */
export class IndexView implements SectionLookup {
  readonly facts: IndexFacts;
  readonly image: IndexImage;
  readonly #crypto: SyncCrypto;
  readonly #files = new Map<string, readonly Section[]>();

  constructor(crypto: SyncCrypto, facts: IndexFacts, image: IndexImage) {
    this.#crypto = crypto;
    this.facts = facts;
    this.image = image;
  }

  /** Loads what resolving a target needs; afterwards the lookup answers at once. */
  async prepare(context: ContextReader, target: Target): Promise<void> {
    if (target.type !== "SECTION") {
      await this.load(context, target.file_path);
      return;
    }
    for (const n of findCandidates(this.image, target.section_id)) {
      await this.load(context, this.image.paths[placeOf(this.image, n).file]!);
    }
  }

  /** The sections of a file, loaded once; undefined when the file is not in the index. */
  async load(context: ContextReader, path: string): Promise<readonly Section[] | undefined> {
    const known = this.#files.get(path);
    const file = known === undefined ? findFile(this.image, path) : -1;
    if (known !== undefined || file === -1) return known;
    const row = await context.file(path, this.image.hashes[file]!);
    const sections = row === null ? null : parseSectionRows(this.#crypto, path, row.sections);
    if (sections === null) {
      throw new VerbatimError("STORE_CORRUPT", {
        message: `the stored sections of ${path} are damaged`,
        fix: "verbatim index build --full",
      });
    }
    if (this.#files.size >= MAX_FILES) this.#files.delete(this.#files.keys().next().value!);
    this.#files.set(path, sections);
    return sections;
  }

  sectionsOfFile(path: string): readonly Section[] | undefined {
    return this.#files.get(path);
  }

  findSection(sectionId: string): Section | undefined {
    for (const n of findCandidates(this.image, sectionId)) {
      const { file, ordinal } = placeOf(this.image, n);
      const section = this.#files.get(this.image.paths[file]!)?.[ordinal];
      if (section?.section_id === sectionId) return section;
    }
    return undefined;
  }
}

/** Keeps the view of the current revision between calls. */
export class ViewCache {
  readonly #crypto: SyncCrypto;
  #view: IndexView | null = null;

  constructor(crypto: SyncCrypto) {
    this.#crypto = crypto;
  }

  /** The view of the index as the door sees it; INDEX_MISSING when there is none. */
  async open(context: ContextReader): Promise<IndexView> {
    const facts = await context.facts();
    if (facts === null) throw new VerbatimError("INDEX_MISSING");
    if (this.#view?.facts.revision !== facts.revision) {
      this.#view = new IndexView(this.#crypto, facts, await loadImage(context));
    }
    return this.#view;
  }
}

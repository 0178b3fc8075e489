import { compareCodePoints, hashCanonical } from "../../core/canonical/index.ts";
import type { ResolvedContext } from "../../core/contracts/config/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { looksSecret } from "../../core/paths/secret-names.ts";
import type { Clock, Progress, SyncCrypto } from "../../core/ports.ts";
import { formatTime } from "../../core/time.ts";
import type { Section } from "./contracts.ts";
import {
  copyStat,
  decodeImage,
  EMPTY_IMAGE,
  encodeImage,
  findFile,
  type IndexImage,
  idPrefix,
  isUnchanged,
  makeIdTable,
  makeStats,
  setStat,
} from "./index-image.ts";
import type {
  BuildLock,
  ContextReader,
  ContextStore,
  ContextWriter,
  FileRow,
  IndexFacts,
  SearchFile,
  SourceFile,
  SourceTree,
} from "./ports.ts";
import { IMAGES } from "./ports.ts";
import { formatSectionLines } from "./section-index.ts";
import { formatSectionRows, parseSectionRows } from "./section-rows.ts";
import { SECTION_RULES, sectionsOf } from "./sections.ts";
import { decodeSource, type SourceProblem, sourcesInvalid } from "./source.ts";
import { compileSources } from "./source-rules.ts";

export interface BuildPorts {
  readonly store: ContextStore;
  readonly tree: SourceTree;
  readonly lock: BuildLock;
  readonly crypto: SyncCrypto;
  readonly clock: Clock;
  readonly progress: Progress;
  readonly actor: string;
  readonly config: ResolvedContext;
}

export interface BuildResult {
  readonly index_hash: string;
  readonly files: number;
  readonly sections: number;
  readonly changed: { readonly added: number; readonly modified: number; readonly removed: number };
  readonly mode: "full" | "incremental";
  readonly empty_globs: readonly string[];
  readonly skipped_links: readonly string[];
}

interface Stored {
  readonly facts: IndexFacts;
  readonly image: IndexImage;
}

/** Sources of the tree as it is now, in index order. */
export interface Survey {
  readonly files: readonly SourceFile[];
  readonly problems: SourceProblem[];
  readonly empty_globs: readonly string[];
  readonly skipped_links: readonly string[];
}

// Staged rows leave memory in portions; read files give others their turn as often.
const STAGE_BYTES = 4 * 1024 * 1024;
const PAUSE_FILES = 64;
const PAGE = 512;

/** Brings the index up to date. Readers see the old index or the new one; problems leave the old one untouched. */
export function buildIndex(ports: BuildPorts, options: { readonly full: boolean }): Promise<BuildResult> {
  return ports.lock.hold(() => build(ports, options.full));
}

async function build(ports: BuildPorts, full: boolean): Promise<BuildResult> {
  const started = ports.tree.clock();
  const stored = await loadStored(ports.store);
  const usable = stored !== null && stored.facts.rules === SECTION_RULES ? stored : null;
  const survey = surveySources(ports.tree, ports.config);
  const old = usable?.image ?? EMPTY_IMAGE;
  const known = matchFiles(survey.files, old);
  const fresh = survey.files.map((file, i) => full || known[i] === -1 || !isUnchanged(old.stats, known[i]!, file.stat));
  const shape = {
    mode: full || usable === null ? ("full" as const) : ("incremental" as const),
    empty_globs: survey.empty_globs,
    skipped_links: survey.skipped_links,
  };
  const removed = old.paths.length - known.filter((i) => i !== -1).length;
  if (usable !== null && removed === 0 && survey.problems.length === 0 && !fresh.includes(true)) {
    const { index_hash, files, sections } = usable.facts;
    return { index_hash, files, sections, changed: { added: 0, modified: 0, removed: 0 }, ...shape };
  }
  const made = await new Builder(ports, survey, old, known, fresh, started).run();
  const gone = findGone(old, made.image);
  const facts = {
    index_hash: made.index_hash,
    files: made.image.paths.length,
    sections: made.image.ids.length,
    sources_hash: hashCanonical(ports.crypto, { exclude: ports.config.exclude, sources: ports.config.sources }),
    rules: SECTION_RULES,
    built_at: formatTime(ports.clock.now()),
  };
  await ports.store.transact(async ({ context, ledger }) => {
    // Another machine on the same database may have built meanwhile; its rows are not the ones this build relied on.
    if ((await context.facts())?.revision !== stored?.facts.revision) throw new VerbatimError("INDEX_BUSY");
    await context.publish(facts, encodeImage(made.image));
    await context.dropFiles(gone);
    if ((await context.countFiles()) !== facts.files) await sweepFiles(context, made.image);
    if (stored?.facts.index_hash !== facts.index_hash) {
      const { index_hash, files, sections } = facts;
      await ledger.append("context", "next", [
        { kind: "INDEX_BUILT", actor: ports.actor, body: { index_hash, files, sections } },
      ]);
    }
  });
  const { index_hash, files, sections } = facts;
  return { index_hash, files, sections, changed: { added: made.added, modified: made.modified, removed }, ...shape };
}

/** Walks the tree and sorts what it finds; problems that need no reading are found here. */
export function surveySources(tree: SourceTree, config: ResolvedContext): Survey {
  const rules = compileSources(config.sources, config.exclude);
  const walk = tree.walk(rules);
  const allowed = new Set<string>(config.secrets.allow);
  const problems = [...walk.problems];
  const files: SourceFile[] = [];
  for (const file of walk.files) {
    if (looksSecret(file.path) && !allowed.has(file.path))
      problems.push({ code: "SOURCE_SECRET", file_path: file.path });
    else if (file.stat.size > config.max_file_bytes) {
      problems.push({
        code: "SOURCE_TOO_LARGE",
        file_path: file.path,
        bytes: Number(file.stat.size),
        limit: config.max_file_bytes,
      });
    } else files.push(file);
  }
  files.sort((a, b) => compareCodePoints(a.path, b.path));
  return {
    files,
    problems,
    empty_globs: rules.findEmpty(walk.files.map(({ path }) => path)),
    skipped_links: walk.skipped_links.sort(compareCodePoints),
  };
}

/** Loads facts and image together; an image that does not fit its parts is STORE_CORRUPT. */
export async function loadStored(store: ContextStore): Promise<Stored | null> {
  return store.read(async ({ context }) => {
    const facts = await context.facts();
    return facts === null ? null : { facts, image: await loadImage(context) };
  });
}

/** The image of the current index. */
export async function loadImage(context: ContextReader): Promise<IndexImage> {
  const parts = Object.fromEntries(
    await Promise.all(IMAGES.map(async (name) => [name, await context.image(name)] as const)),
  );
  const image = decodeImage(parts as Parameters<typeof decodeImage>[0]);
  if (image === null) {
    throw new VerbatimError("STORE_CORRUPT", {
      message: "the stored index is damaged",
      fix: "verbatim index build --full",
    });
  }
  return image;
}

/** For each file its number in the old image, or -1. Both are in index order: one pass. */
function matchFiles(files: readonly SourceFile[], old: IndexImage): number[] {
  let j = 0;
  return files.map(({ path }) => {
    while (j < old.paths.length && compareCodePoints(old.paths[j]!, path) < 0) j++;
    return old.paths[j] === path ? j : -1;
  });
}

/** Versions of files that the new image does not name. */
function findGone(old: IndexImage, made: IndexImage): SearchFile[] {
  const kept = new Set(made.paths.map((path, i) => `${path}\n${made.hashes[i]!}`));
  return old.paths.flatMap((path, i) => {
    const content_hash = old.hashes[i]!;
    return kept.has(`${path}\n${content_hash}`) ? [] : [{ path, content_hash }];
  });
}

/** Drops rows that a killed build staged and nothing names. */
async function sweepFiles(context: ContextWriter, image: IndexImage): Promise<void> {
  for (let from = ""; ; ) {
    const rows = await context.filesFrom(from, PAGE);
    const stray = rows.filter(({ path, content_hash }) => image.hashes[findFile(image, path)] !== content_hash);
    await context.dropFiles(stray);
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    // A path keeps at most its one named row now, so starting from it again moves on.
    from = last.path;
  }
}

interface Made {
  readonly image: IndexImage;
  readonly index_hash: string;
  readonly added: number;
  readonly modified: number;
}

/** One pass over the files in index order: reads what may have changed, takes the rest from the store. */
class Builder {
  readonly #ports: BuildPorts;
  readonly #survey: Survey;
  readonly #old: IndexImage;
  readonly #known: readonly number[];
  readonly #fresh: readonly boolean[];
  readonly #started: bigint;
  readonly #problems: SourceProblem[];
  readonly #hashes: string[] = [];
  readonly #starts: number[] = [0];
  readonly #stats: BigInt64Array;
  readonly #staged: SearchFile[] = [];
  #prefixes = new Float64Array(1024);
  #sections = 0;
  #waiting: FileRow[] = [];
  #waitingBytes = 0;
  #page: FileRow[] = [];
  #added = 0;
  #modified = 0;

  constructor(
    ports: BuildPorts,
    survey: Survey,
    old: IndexImage,
    known: readonly number[],
    fresh: readonly boolean[],
    started: bigint,
  ) {
    this.#ports = ports;
    this.#survey = survey;
    this.#old = old;
    this.#known = known;
    this.#fresh = fresh;
    this.#started = started;
    this.#problems = [...survey.problems];
    this.#stats = makeStats(survey.files.length);
  }

  async run(): Promise<Made> {
    const { files } = this.#survey;
    const hasher = this.#ports.crypto.hasher();
    try {
      for (let i = 0; i < files.length; i++) {
        const sections = this.#fresh[i] ? await this.#read(i) : await this.#reuse(i);
        if (sections === null) continue;
        this.#record(sections);
        hasher.update(formatSectionLines(sections));
        if (i % PAUSE_FILES === PAUSE_FILES - 1) await this.#rest(i);
      }
      if (this.#problems.length > 0) {
        throw sourcesInvalid(this.#problems.sort((a, b) => compareCodePoints(a.file_path, b.file_path)));
      }
      await this.#stage();
    } catch (thrown) {
      await this.#unstage();
      throw thrown;
    }
    const image: IndexImage = {
      paths: files.map(({ path }) => path),
      hashes: this.#hashes,
      stats: this.#stats,
      starts: Float64Array.from(this.#starts),
      ids: makeIdTable(this.#prefixes.subarray(0, this.#sections)),
    };
    return { image, index_hash: hasher.digest(), added: this.#added, modified: this.#modified };
  }

  async #rest(i: number): Promise<void> {
    this.#ports.progress.report({ label: "indexing", done: i + 1, total: this.#survey.files.length });
    if (this.#waitingBytes > STAGE_BYTES) await this.#stage();
    await this.#ports.tree.pause();
  }

  /** Reads a file that may have changed; null when it has a problem. */
  async #read(i: number): Promise<Section[] | null> {
    const { path, stat } = this.#survey.files[i]!;
    const bytes = this.#ports.tree.read(path, this.#ports.config.max_file_bytes);
    if (!(bytes instanceof Uint8Array)) {
      this.#problems.push(bytes);
      return null;
    }
    setStat(this.#stats, i, stat, this.#started);
    const before = this.#known[i]!;
    try {
      const content = decodeSource(bytes, path);
      if (before !== -1 && this.#ports.crypto.sha256(content.bytes) === this.#old.hashes[before]) {
        return await this.#fromStore(path, this.#old.hashes[before]!);
      }
      const sections = sectionsOf(this.#ports.crypto, path, content);
      if (before === -1) this.#added++;
      else this.#modified++;
      const row = { path, content_hash: sections[0]!.content_hash, sections: formatSectionRows(sections) };
      this.#waiting.push(row);
      this.#waitingBytes += row.sections.length;
      return sections;
    } catch (thrown) {
      if (!isVerbatimError(thrown) || thrown.code !== "SOURCE_NOT_UTF8") throw thrown;
      this.#problems.push({
        code: "SOURCE_NOT_UTF8",
        file_path: path,
        byte_offset: Number(thrown.details?.["byte_offset"]),
      });
      return null;
    }
  }

  async #reuse(i: number): Promise<Section[]> {
    const before = this.#known[i]!;
    copyStat(this.#old.stats, before, this.#stats, i);
    return this.#fromStore(this.#survey.files[i]!.path, this.#old.hashes[before]!);
  }

  /** Rows come in path order like the files, so a page serves many of them. */
  async #fromStore(path: string, contentHash: string): Promise<Section[]> {
    let row = this.#takeRow(path, contentHash);
    if (row === null) {
      this.#page = (await this.#ports.store.read(({ context }) => context.filesFrom(path, PAGE))).reverse();
      row = this.#takeRow(path, contentHash);
    }
    const sections = row === null ? null : parseSectionRows(this.#ports.crypto, path, row.sections);
    if (sections !== null) return sections;
    throw new VerbatimError("STORE_CORRUPT", {
      message: `the stored sections of ${path} are damaged`,
      fix: "verbatim index build --full",
    });
  }

  #takeRow(path: string, contentHash: string): FileRow | null {
    for (let row = this.#page.at(-1); row !== undefined; row = this.#page.at(-1)) {
      const order = compareCodePoints(row.path, path);
      if (order > 0) return null;
      if (order === 0 && row.content_hash === contentHash) return row;
      this.#page.pop();
    }
    return null;
  }

  #record(sections: readonly Section[]): void {
    this.#hashes.push(sections[0]!.content_hash);
    for (const { section_id } of sections) {
      if (this.#sections === this.#prefixes.length) {
        const larger = new Float64Array(this.#prefixes.length * 2);
        larger.set(this.#prefixes);
        this.#prefixes = larger;
      }
      this.#prefixes[this.#sections++] = idPrefix(section_id);
    }
    this.#starts.push(this.#sections);
  }

  async #stage(): Promise<void> {
    const rows = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (rows.length === 0) return;
    await this.#ports.store.transact(({ context }) => context.stageFiles(rows));
    for (const { path, content_hash } of rows) this.#staged.push({ path, content_hash });
  }

  /** Takes staged rows back when the build fails; rows that the old index names stay. */
  async #unstage(): Promise<void> {
    const named = new Set(this.#old.paths.map((path, i) => `${path}\n${this.#old.hashes[i]!}`));
    const mine = this.#staged.filter(({ path, content_hash }) => !named.has(`${path}\n${content_hash}`));
    if (mine.length > 0) await this.#ports.store.transact(({ context }) => context.dropFiles(mine));
  }
}

import type { ResolvedContext } from "../../../core/contracts/config/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { Progress, SyncCrypto } from "../../../core/ports.ts";
import {
  type CodeDefinition,
  type CodeOutliner,
  type ContextStore,
  type FileRow,
  type FileVersion,
  type OutlineProblem,
  type SourceProblem,
  type SourceTree,
  STAT_FIELDS,
} from "../ports.ts";
import { languageOf, type SectionRules, sealOf } from "../sections/code-outline.ts";
import { STAGE_SIZE } from "../sections/row-buffer.ts";
import { RowPages } from "../sections/row-pages.ts";
import { SectionRecord } from "../sections/section-record.ts";
import { eachSection } from "../sections/sections.ts";
import { decodeSource, type SourceContent, sourcesInvalid } from "../sources/source.ts";
import { copyStat, hashOf, type IdTable, type IndexImage, isUnchanged, makeStats, setStat } from "./index-image.ts";
import { type Survey, sortProblems } from "./index-survey.ts";
import { eachRow, toVersion } from "./index-view.ts";

interface BuilderPorts {
  readonly store: ContextStore;
  readonly tree: SourceTree;
  readonly outliner: CodeOutliner;
  readonly crypto: SyncCrypto;
  readonly progress: Progress;
  readonly config: ResolvedContext;
}

interface Task {
  readonly survey: Survey;
  readonly rules: SectionRules;
  readonly old: IndexImage;
  /** For each file of the survey its number in the old image, or -1. */
  readonly known: Int32Array;
  /** Files of code that had no outline when they were cut. */
  readonly unparsed: ReadonlyMap<string, OutlineProblem>;
  /** Time of the file system when the build began. */
  readonly started: number;
  /** Take nothing from the store. */
  readonly full: boolean;
  readonly stageSize?: number | undefined;
}

interface Made {
  readonly image: IndexImage;
  readonly table: IdTable;
  readonly index_hash: string;
  /** Number of different ids: a file and its first heading may share one. */
  readonly sections: number;
  /** Rows that are not in the store yet. */
  readonly rows: readonly FileRow[];
  readonly added: number;
  readonly modified: number;
  /** Files of code without an outline, in index order. */
  readonly unparsed: ReadonlyMap<string, OutlineProblem>;
}

// Hashes are joined in portions: a quarter of a million short texts would take more memory than what they say.
const JOIN_FILES = 1024;
const PAUSE_FILES = 256;

/** One pass over the files in index order: reads what may have changed, takes the rest from the store. */
export class Builder {
  readonly #ports: BuilderPorts;
  readonly #task: Task;
  readonly #problems: SourceProblem[];
  readonly #stored: RowPages;
  readonly #record: SectionRecord;
  readonly #stats: Float64Array;
  readonly #joined: string[] = [];
  readonly #unparsed = new Map<string, OutlineProblem>();
  #hashes: string[] = [];
  /** Files before this one have their rows in the store. */
  #staged = 0;
  #added = 0;
  #modified = 0;

  constructor(ports: BuilderPorts, task: Task) {
    this.#ports = ports;
    this.#task = task;
    this.#problems = [...task.survey.problems];
    this.#stored = new RowPages(ports.store);
    const { rules, survey } = task;
    this.#record = new SectionRecord(ports.crypto, sealOf(rules.number, survey.paths), rules.number);
    this.#stats = makeStats(task.survey.paths.length);
  }

  /** All that is to be published, or INDEX_SOURCES_INVALID with every problem. */
  async run(): Promise<Made> {
    const { paths } = this.#task.survey;
    try {
      for (let i = 0; i < paths.length; i++) {
        await (this.#mustRead(i) ? this.#read(i) : this.#reuse(i));
        if (this.#record.rows.size > (this.#task.stageSize ?? STAGE_SIZE)) await this.#stage(i + 1);
        if (i % PAUSE_FILES === PAUSE_FILES - 1) await this.#rest(i + 1);
      }
      if (this.#problems.length > 0) throw sourcesInvalid(sortProblems(this.#problems));
    } catch (thrown) {
      await this.#unstage();
      throw thrown;
    }
    return {
      image: { paths, hashes: this.#joinHashes(), stats: this.#stats },
      ...this.#record.finish(),
      sections: this.#record.sections,
      rows: this.#record.rows.list(),
      added: this.#added,
      modified: this.#modified,
      unparsed: this.#unparsed,
    };
  }

  #mustRead(i: number): boolean {
    const { survey, old, known, full } = this.#task;
    return full || known[i] === -1 || !isUnchanged(old.stats, known[i]!, survey.stats, i);
  }

  async #rest(done: number): Promise<void> {
    this.#ports.progress.report({ label: "indexing", done, total: this.#task.survey.paths.length });
    await this.#ports.tree.pause();
  }

  /** Reads a file that may have changed; one with a problem is remembered as such. */
  async #read(i: number): Promise<void> {
    const { survey, old, known, started, full } = this.#task;
    const path = survey.paths[i]!;
    const { tree, crypto, config } = this.#ports;
    const bytes = tree.read(path, config.max_file_bytes, survey.stats[i * STAT_FIELDS]!);
    const read = bytes instanceof Uint8Array ? this.#decode(bytes, path) : this.#refuse(bytes);
    if (read === null) return;
    setStat(this.#stats, i, survey.stats, i, started);
    const hash = crypto.sha256(read.bytes);
    const before = known[i]!;
    const isSame = before !== -1 && hashOf(old, before) === hash;
    if (isSame && !full) return this.#fromStore(path, hash);
    if (before === -1) this.#added++;
    else if (!isSame) this.#modified++;
    this.#noteHash(hash);
    const { content, definitions } = await this.#outline(path, read);
    eachSection(crypto, path, content, hash, this.#record.takeNew, definitions);
    this.#record.endNew(path, hash);
  }

  /** The definitions of a file of code; none when it has no outline, which is remembered. */
  async #outline(path: string, content: SourceContent) {
    const outlined = await outlineFile(this.#ports.outliner, this.#task.rules, path, content);
    if (outlined.problem === "OUTLINE_TIMEOUT") this.#refuse({ code: outlined.problem, file_path: path });
    else if (outlined.problem !== null) this.#unparsed.set(path, outlined.problem);
    return outlined;
  }

  #decode(bytes: Uint8Array, path: string) {
    try {
      return decodeSource(bytes, path);
    } catch (thrown) {
      if (!isVerbatimError(thrown) || thrown.code !== "SOURCE_NOT_UTF8") throw thrown;
      const byte_offset = Number(thrown.details?.["byte_offset"]);
      return this.#refuse({ code: "SOURCE_NOT_UTF8", file_path: path, byte_offset });
    }
  }

  #refuse(problem: SourceProblem): null {
    this.#problems.push(problem);
    return null;
  }

  async #reuse(i: number): Promise<void> {
    const { survey, old, known } = this.#task;
    const before = known[i]!;
    copyStat(old.stats, before, this.#stats, i);
    await this.#fromStore(survey.paths[i]!, hashOf(old, before));
  }

  async #fromStore(path: string, hash: string): Promise<void> {
    const row = await this.#stored.find(toVersion(path, hash, this.#task.rules.number));
    const problem = this.#task.unparsed.get(path);
    if (problem !== undefined) this.#unparsed.set(path, problem);
    this.#noteHash(hash);
    eachRow(this.#ports.crypto, path, row, this.#record.takeStored);
    this.#record.endStored();
  }

  #noteHash(hash: string): void {
    if (this.#hashes.push(hash) < JOIN_FILES) return;
    this.#joined.push(this.#hashes.join(""));
    this.#hashes = [];
  }

  #joinHashes(): string {
    return [...this.#joined, ...this.#hashes].join("");
  }

  async #stage(end: number): Promise<void> {
    // A build that will fail writes nothing.
    if (this.#problems.length === 0) {
      await this.#ports.store.transact(({ context }) => context.stageFiles(this.#record.rows.list()));
      this.#staged = end;
    }
    this.#record.rows.clear();
  }

  /** Takes staged rows back when the build fails; rows that the old index names stay. */
  async #unstage(): Promise<void> {
    if (this.#staged === 0) return;
    const { survey, rules, old, known } = this.#task;
    const made: IndexImage = { paths: survey.paths, hashes: this.#joinHashes(), stats: this.#stats };
    const mine: FileVersion[] = [];
    for (let i = 0; i < this.#staged; i++) {
      const hash = hashOf(made, i);
      const before = known[i]!;
      if (before === -1 || hashOf(old, before) !== hash) mine.push(toVersion(survey.paths[i]!, hash, rules.number));
    }
    await this.#ports.store.transact(({ context }) => context.dropFiles(mine));
  }
}

/** What there is to cut of a file: its content, and its definitions if it is code that is outlined. */
interface OutlinedFile {
  readonly content: SourceContent;
  readonly definitions: readonly CodeDefinition[];
  readonly problem: OutlineProblem | null;
}

/** Asks for the outline of a file, where the rules have one for it. */
export async function outlineFile(
  outliner: CodeOutliner,
  rules: SectionRules,
  path: string,
  content: SourceContent,
): Promise<OutlinedFile> {
  const language = rules.code ? languageOf(path) : null;
  if (language === null) return { content, definitions: [], problem: null };
  // The bytes are those of a buffer that others use while this one waits.
  const own = { text: content.text, bytes: content.bytes.slice() };
  const answer = await outliner.outline(language, own.text);
  if (typeof answer === "string") return { content: own, definitions: [], problem: answer };
  return { content: own, definitions: answer, problem: null };
}

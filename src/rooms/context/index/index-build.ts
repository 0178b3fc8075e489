import { compareCodePoints } from "../../../core/canonical/index.ts";
import type { ResolvedContext } from "../../../core/contracts/config/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { Clock, Progress, SyncCrypto } from "../../../core/ports.ts";
import { formatTime } from "../../../core/time.ts";
import { CONTEXT_RECORDS } from "../contracts/records.ts";
import type {
  BuildLock,
  CodeOutliner,
  ContextStore,
  ContextWriter,
  FileVersion,
  IndexFacts,
  OutlineProblem,
  SourceTree,
} from "../ports.ts";
import { type SectionRules, sectionRules } from "../sections/code-outline.ts";
import { LEFT_OUT_REASONS } from "../sources/left-out.ts";
import { compileSources } from "../sources/source-rules.ts";
import { Builder } from "./index-builder.ts";
import {
  decodeStats,
  EMPTY_IMAGE,
  encodeImages,
  type FolderImage,
  findFile,
  hashOf,
  type IndexImage,
  isUnchanged,
  makeStats,
  setStat,
} from "./index-image.ts";
import { encodeOrigin, type IndexOrigin, loadOrigin, outlineFor, toOrigin } from "./index-origin.ts";
import { hashSources, type SourceRule, type Survey, surveySources } from "./index-survey.ts";
import { loadFolders, loadImage, toVersion } from "./index-view.ts";

export interface BuildPorts {
  readonly store: ContextStore;
  readonly tree: SourceTree;
  readonly outliner: CodeOutliner;
  readonly lock: BuildLock;
  readonly crypto: SyncCrypto;
  readonly clock: Clock;
  readonly progress: Progress;
  readonly actor: string;
  readonly config: ResolvedContext;
}

interface BuildResult extends IndexOrigin {
  readonly index_hash: string;
  readonly files: number;
  readonly sections: number;
  readonly changed: { readonly added: number; readonly modified: number; readonly removed: number };
  readonly mode: "full" | "incremental";
  readonly empty_globs: readonly string[];
  readonly skipped_links: readonly string[];
}

interface BuildOptions {
  /** Read every file, whatever its facts say, and rely on nothing that is stored. */
  readonly full: boolean;
  /** Characters of rows that are held before they are written; a test makes it small. */
  readonly stageSize?: number;
}

const PAGE = 512;

/** Brings the index up to date. Readers see the old index or the new one; problems leave the old one untouched. */
export async function buildIndex(ports: BuildPorts, options: BuildOptions): Promise<BuildResult> {
  const current = options.full ? null : await findCurrent(ports);
  return current ?? ports.lock.hold(() => build(ports, options));
}

/**
 * The index when nothing can have changed since it was built: same configuration and rules, every folder and every
 * file the same by its facts. Takes no lock and writes nothing. Cost: one lstat per folder and file.
 */
async function findCurrent(ports: BuildPorts): Promise<BuildResult | null> {
  const { store, tree, config, crypto } = ports;
  const stored = await store.read(async ({ context }) => {
    const facts = await context.facts();
    if (facts === null || facts.sources_hash !== hashSources(crypto, config)) return null;
    const origin = await loadOrigin(context);
    if (facts.rules !== rulesFor(ports, origin.sources.rule).number) return null;
    if (origin.sources.rule === "git") return { facts, origin, image: await loadImage(context) };
    const folders = await loadFolders(context);
    const files = decodeStats(await context.image("paths"), await context.image("stats"));
    return files === null ? null : { facts, origin, folders, files };
  });
  if (stored === null) return null;
  const { facts, origin } = stored;
  if (origin.outline.kind !== outlineFor(config, origin.sources.rule)) return null;
  if ("image" in stored)
    return (await isSameSelection(ports, stored.image, origin)) ? toCurrent(facts, origin, []) : null;
  const { folders, files } = stored;
  // Without files it is not the folders of the contract alone that decide.
  if (folders.paths.length === 0 || (!config.names_sources && files.paths.length === 0)) return null;
  if (!isAllUnchanged(tree, folders, "folder") || !isAllUnchanged(tree, files, "file")) return null;
  return toCurrent(facts, origin, compileSources(config.sources, config.exclude).findEmpty(files.paths));
}

/** Whether git would choose the same files for the same reasons, and none of them has changed. */
async function isSameSelection(
  { tree, config }: BuildPorts,
  image: IndexImage,
  { sources }: IndexOrigin,
): Promise<boolean> {
  const { rule, paths, stats, problems, left_out } = await surveySources(tree, config, image);
  if (rule !== "git" || problems.length > 0 || paths.length !== image.paths.length) return false;
  if (LEFT_OUT_REASONS.some((reason) => left_out[reason] !== sources.left_out[reason])) return false;
  return paths.every((path, i) => path === image.paths[i] && isUnchanged(image.stats, i, stats, i));
}

/** How the files that a rule chose are cut. */
function rulesFor({ config, outliner }: BuildPorts, rule: SourceRule): SectionRules {
  return sectionRules(outlineFor(config, rule), () => outliner.missing());
}

function toCurrent(facts: IndexFacts, origin: IndexOrigin, empty_globs: readonly string[]): BuildResult {
  return {
    ...origin,
    index_hash: facts.index_hash,
    files: facts.files,
    sections: facts.sections,
    changed: { added: 0, modified: 0, removed: 0 },
    mode: "incremental",
    empty_globs,
    skipped_links: [],
  };
}

function isAllUnchanged(tree: SourceTree, known: FolderImage, kind: "file" | "folder"): boolean {
  const facts = tree.statAll(known.paths, kind);
  for (let i = 0; i < known.paths.length; i++) if (!isUnchanged(known.stats, i, facts, i)) return false;
  return true;
}

async function build(ports: BuildPorts, { full, stageSize }: BuildOptions): Promise<BuildResult> {
  const started = ports.tree.clock();
  const stored = await loadUsable(ports.store, full);
  const survey = await surveySources(ports.tree, ports.config, full ? EMPTY_IMAGE : (stored.image ?? EMPTY_IMAGE));
  const rules = rulesFor(ports, survey.rule);
  // Nothing that other rules cut may be built upon.
  const image = stored.rules === rules.number ? stored.image : null;
  const old = image ?? EMPTY_IMAGE;
  const known = matchFiles(survey, old);
  const unparsed = image === null ? new Map<string, OutlineProblem>() : stored.unparsed;
  const made = await new Builder(ports, { survey, rules, old, known, unparsed, started, full, stageSize }).run();
  const origin = toOrigin(survey, rules, ports.outliner.missing(), made.unparsed);
  const facts = {
    index_hash: made.index_hash,
    files: made.image.paths.length,
    sections: made.sections,
    sources_hash: hashSources(ports.crypto, ports.config),
    rules: rules.number,
    built_at: formatTime(ports.clock.now()),
  };
  const { index_hash, files, sections } = facts;
  const gone = findGone(old, made.image, stored.rules);
  await ports.store.transact(async ({ context, ledger }) => {
    // Another machine may have built meanwhile; its rows are not the ones this build relied on.
    if ((await context.holdRevision()) !== stored.revision) throw new VerbatimError("INDEX_BUSY");
    await context.stageFiles(made.rows);
    await context.publish(
      facts,
      encodeImages(encodeOrigin(origin), made.image, toFolders(survey, started), made.table),
    );
    await context.dropFiles(gone);
    // What may be damaged is made again: the search index too, when it is next needed.
    if (full) await context.clearSearch();
    if ((await context.countFiles()) !== files) await sweepFiles(context, made.image, rules.number);
    if (stored.index_hash !== index_hash) {
      const entry = CONTEXT_RECORDS.make("INDEX_BUILT", ports.actor, { index_hash, files, sections });
      await ledger.append("context", "next", [entry]);
    }
  });
  const removed = old.paths.length - known.reduce((count, before) => count + (before === -1 ? 0 : 1), 0);
  return {
    ...origin,
    index_hash,
    files,
    sections,
    changed: { added: made.added, modified: made.modified, removed },
    mode: full || image === null ? "full" : "incremental",
    empty_globs: survey.empty_globs,
    skipped_links: survey.skipped_links,
  };
}

interface Usable {
  readonly revision: number;
  readonly index_hash: string | null;
  readonly rules: number;
  /** Null when there is nothing that may be built upon. */
  readonly image: IndexImage | null;
  /** Files of code that have no outline. */
  readonly unparsed: ReadonlyMap<string, OutlineProblem>;
}

const NO_UNPARSED: ReadonlyMap<string, OutlineProblem> = new Map();

/** What a build may rely on; a full build not even on an image that loads. */
async function loadUsable(store: ContextStore, full: boolean): Promise<Usable> {
  return store.read(async ({ context }) => {
    const facts = await context.facts();
    if (facts === null) return { revision: 0, index_hash: null, rules: 0, image: null, unparsed: NO_UNPARSED };
    const { revision, index_hash, rules } = facts;
    try {
      const { outline } = await loadOrigin(context);
      // Codes of another version may be there; they are only shown.
      const unparsed = new Map(outline.unparsed.map((one) => [one.file_path, one.code as OutlineProblem]));
      return { revision, index_hash, rules, image: await loadImage(context), unparsed };
    } catch (thrown) {
      if (!full || !isVerbatimError(thrown) || thrown.code !== "STORE_CORRUPT") throw thrown;
      return { revision, index_hash, rules, image: null, unparsed: NO_UNPARSED };
    }
  });
}

/** For each file its number in the old image, or -1. Both are in index order: one pass. */
function matchFiles({ paths }: Survey, old: IndexImage): Int32Array {
  const known = new Int32Array(paths.length);
  let j = 0;
  for (let i = 0; i < paths.length; i++) {
    const path = paths[i]!;
    while (j < old.paths.length && compareCodePoints(old.paths[j]!, path) < 0) j++;
    known[i] = old.paths[j] === path ? j : -1;
  }
  return known;
}

/** Versions of files that the new image does not name. Both are in index order: one pass. */
function findGone(old: IndexImage, made: IndexImage, rules: number): FileVersion[] {
  const gone: FileVersion[] = [];
  let j = 0;
  for (let i = 0; i < old.paths.length; i++) {
    const path = old.paths[i]!;
    while (j < made.paths.length && compareCodePoints(made.paths[j]!, path) < 0) j++;
    const isKept = made.paths[j] === path && hashOf(made, j) === hashOf(old, i);
    if (!isKept) gone.push(toVersion(path, hashOf(old, i), rules));
  }
  return gone;
}

/** The folders as the next build will ask for them; none when they cannot vouch for the list of files. */
function toFolders({ folders }: Survey, clock: number): FolderImage {
  if (folders === null) return { paths: [], stats: new Float64Array() };
  const stats = makeStats(folders.paths.length);
  for (let i = 0; i < folders.paths.length; i++) setStat(stats, i, folders.stats, i, clock);
  return { paths: folders.paths, stats };
}

/** Drops rows that a killed build staged, or that belong to other rules: nothing names them. */
async function sweepFiles(context: ContextWriter, image: IndexImage, rules: number): Promise<void> {
  for (let from = ""; ; ) {
    const rows = await context.filesFrom(from, PAGE);
    const stray = rows.filter(({ path, version }) => {
      const file = findFile(image, path);
      return file === -1 || toVersion(path, hashOf(image, file), rules).version !== version;
    });
    await context.dropFiles(stray);
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    // A path keeps at most its one named row now, so starting from it again moves on.
    from = last.path;
  }
}

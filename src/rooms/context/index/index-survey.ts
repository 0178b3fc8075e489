import { compareCodePoints, hashCanonical } from "../../../core/canonical/index.ts";
import { type ResolvedContext, resolveContext } from "../../../core/contracts/config/index.ts";
import { looksSecret } from "../../../core/paths/secret-names.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { type SourceProblem, type SourceTree, STAT_FIELDS, type StatList } from "../ports.ts";
import { compileSources, type SourceRules } from "../sources/source-rules.ts";
import { type LeftOutCounts, selectTracked } from "../sources/tracked-sources.ts";
import { EMPTY_IMAGE, findFile, type IndexImage, isUnchanged } from "./index-image.ts";

/** What chose the sources: globs of the configuration, the contract's own, or git where there is neither. */
export const SOURCE_RULES = ["configuration", "contract", "git"] as const;
export type SourceRule = (typeof SOURCE_RULES)[number];

/** Sources of the tree as it is now, in index order. Problems that need no reading are found already. */
export interface Survey extends StatList {
  readonly rule: SourceRule;
  readonly left_out: LeftOutCounts;
  readonly problems: SourceProblem[];
  readonly folders: StatList | null;
  readonly empty_globs: readonly string[];
  readonly skipped_links: readonly string[];
}

/**
 * Finds the sources. Where the configuration names none they are the contract's canonical sources if there are any, else
 * the text files that git tracks; `old` spares reading those of them that have not changed.
 */
export async function surveySources(tree: SourceTree, config: ResolvedContext, old: IndexImage): Promise<Survey> {
  const { survey, tracked } = await findRule(tree, config);
  if (tracked === null) return survey;
  const isKnown = (path: string, stats: Float64Array, i: number) => {
    const before = findFile(old, path);
    return before !== -1 && isUnchanged(old.stats, before, stats, i);
  };
  const found = await selectTracked(tree, config, tracked, isKnown);
  return { ...found, rule: "git", folders: null, empty_globs: [] };
}

/** What an index would hold without any configuration. */
export async function findDefaultSources(
  tree: SourceTree,
): Promise<{ readonly rule: SourceRule; readonly files: number; readonly bytes: number }> {
  const { rule, paths, stats } = await surveySources(tree, resolveContext({}), EMPTY_IMAGE);
  const bytes = paths.reduce((sum, _, i) => sum + stats[i * STAT_FIELDS]!, 0);
  return { rule, files: paths.length, bytes };
}

/** The rule that holds for a tree, what its globs find, and the files that git tracks where those are the sources. */
export async function findRule(
  tree: SourceTree,
  config: ResolvedContext,
): Promise<{ readonly rule: SourceRule; readonly survey: Survey; readonly tracked: readonly string[] | null }> {
  const survey = surveyGlobs(tree, config);
  const isFound = config.names_sources || survey.paths.length + survey.problems.length > 0;
  const tracked = isFound ? null : await tree.tracked();
  return { rule: tracked === null ? survey.rule : "git", survey, tracked };
}

/** Walks the tree by globs. */
function surveyGlobs(tree: SourceTree, config: ResolvedContext): Survey {
  const rules = compileSources(config.sources, config.exclude);
  const walk = tree.walk(rules);
  const { paths, stats, links, folders, skipped_links } = walk;
  const problems = [...walk.problems];
  const bad = new Set<number>();
  for (let i = 0; i < paths.length; i++) {
    const path = paths[i]!;
    const problem = judge(config, rules, path, links.get(path) ?? path, stats[i * STAT_FIELDS]!);
    if (problem === null) continue;
    problems.push(problem);
    bad.add(i);
  }
  const empty_globs = rules.findEmpty(paths);
  const rule = config.names_sources ? "configuration" : "contract";
  const kept = bad.size === 0 ? { paths, stats } : without(walk, bad);
  return { ...kept, rule, left_out: {}, problems, folders, empty_globs, skipped_links };
}

/** What name, place and size say against a file. `place` is where it actually is. */
export function judge(
  config: ResolvedContext,
  rules: SourceRules,
  path: string,
  place: string,
  size: number,
): SourceProblem | null {
  if (place !== path) {
    if (rules.isNever(place)) return { code: "SOURCE_LINK_OUTSIDE", file_path: path };
    if (isSecret(place, config.secrets.allow)) return { code: "SOURCE_SECRET", file_path: path };
  }
  return judgeFile(config, path, size);
}

/** What its name and size say against a file that is not a link. */
export function judgeFile(config: ResolvedContext, path: string, size: number): SourceProblem | null {
  if (isSecret(path, config.secrets.allow)) return { code: "SOURCE_SECRET", file_path: path };
  const limit = config.max_file_bytes;
  return size > limit ? { code: "SOURCE_TOO_LARGE", file_path: path, bytes: size, limit } : null;
}

function isSecret(path: string, allow: readonly string[]): boolean {
  return looksSecret(path) && !allow.includes(path);
}

function without({ paths, stats }: StatList, bad: ReadonlySet<number>): StatList {
  const kept = paths.map((_, i) => i).filter((i) => !bad.has(i));
  const facts = new Float64Array(kept.length * STAT_FIELDS);
  for (const [to, from] of kept.entries()) {
    facts.set(stats.subarray(from * STAT_FIELDS, (from + 1) * STAT_FIELDS), to * STAT_FIELDS);
  }
  return { paths: kept.map((i) => paths[i]!), stats: facts };
}

/** Problems as they are reported: by path, then by code. */
export function sortProblems(problems: readonly SourceProblem[]): SourceProblem[] {
  return [...problems].sort((a, b) => compareCodePoints(a.file_path, b.file_path) || compareCodePoints(a.code, b.code));
}

/** What of the configuration decides which files are sources. */
export function hashSources(crypto: SyncCrypto, config: ResolvedContext): string {
  const { exclude, max_file_bytes, secrets, sources, names_sources } = config;
  return hashCanonical(crypto, { exclude, max_file_bytes, secrets, sources: names_sources ? sources : null });
}

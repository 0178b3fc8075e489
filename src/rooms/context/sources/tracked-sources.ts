import { decodeUtf8 } from "../../../core/canonical/index.ts";
import type { ResolvedContext } from "../../../core/contracts/config/index.ts";
import { sourcePath } from "../../../core/contracts/index.ts";
import { looksSecret } from "../../../core/paths/secret-names.ts";
import { type SourceProblem, type SourceTree, STAT_FIELDS, type StatList, type WalkRules } from "../ports.ts";
import { findLeftOut, type LeftOutReason, looksBinary } from "./left-out.ts";
import { compileSources, type SourceRules } from "./source-rules.ts";

/** How many tracked files were left out, by reason; reasons without any are not there. */
export type LeftOutCounts = Partial<Record<LeftOutReason, number>>;

/** The text files that git tracks. */
export interface TrackedSources extends StatList {
  readonly problems: SourceProblem[];
  readonly skipped_links: readonly string[];
  readonly left_out: LeftOutCounts;
}

const PAUSE_READS = 64;

/** Whether a file is known to be a source by its facts, so that its bytes need not be looked at again. */
type IsKnown = (path: string, stats: Float64Array, i: number) => boolean;

/**
 * Selects the text files among those that git tracks. Only real files in real folders count. Cost: a walk of the folders
 * that have tracked files, and one reading of every file that is not known.
 */
export async function selectTracked(
  tree: SourceTree,
  config: ResolvedContext,
  tracked: readonly string[],
  isKnown: IsKnown,
): Promise<TrackedSources> {
  const left_out: LeftOutCounts = {};
  const leave = (reason: LeftOutReason) => {
    left_out[reason] = (left_out[reason] ?? 0) + 1;
  };
  const rules = compileSources(["**/*"], config.exclude);
  const wanted: string[] = [];
  for (const path of tracked) {
    const reason = judgePath(config, rules, path);
    if (reason === null) wanted.push(path);
    else leave(reason);
  }
  const walk = tree.walk(toWalkRules(wanted));
  const paths: string[] = [];
  const kept: number[] = [];
  for (let i = 0, reads = 0; i < walk.paths.length; i++) {
    const path = walk.paths[i]!;
    const size = walk.stats[i * STAT_FIELDS]!;
    const isRead = !walk.links.has(path) && size <= config.max_file_bytes && !isKnown(path, walk.stats, i);
    const reason = walk.links.has(path)
      ? "link"
      : size > config.max_file_bytes
        ? "large"
        : isRead && isBinary(tree, path, config.max_file_bytes, size)
          ? "binary"
          : null;
    if (isRead && ++reads % PAUSE_READS === 0) await tree.pause();
    if (reason !== null) leave(reason);
    else {
      paths.push(path);
      kept.push(i);
    }
  }
  const stats = new Float64Array(kept.length * STAT_FIELDS);
  for (const [to, from] of kept.entries())
    stats.set(walk.stats.subarray(from * STAT_FIELDS, (from + 1) * STAT_FIELDS), to * STAT_FIELDS);
  // A link or a pipe in the place of a tracked file is not the file; one that cannot be read may be, so it is a problem.
  const problems = walk.problems.filter(({ code }) => code === "SOURCE_UNREADABLE");
  for (let i = problems.length; i < walk.problems.length; i++) leave("link");
  return { paths, stats, problems, skipped_links: walk.skipped_links, left_out };
}

/** Why a tracked path is not a source, as far as its name says it; null when it may be one. */
export function judgePath(config: ResolvedContext, rules: SourceRules, path: string): LeftOutReason | null {
  // git may track names that are not UTF-8; they come with replacement characters.
  if (path.includes("\ufffd") || !sourcePath.safeParse(path).success) return "name";
  if (rules.isNever(path) || !rules.matches(path)) return "excluded";
  if (looksSecret(path) && !config.secrets.allow.includes(path)) return "secret";
  return findLeftOut(path);
}

/** Whether a file is not text: it has a zero byte where git looks for one, or is not UTF-8. What cannot be read is not judged. */
export function isBinary(tree: SourceTree, path: string, limit: number, size: number): boolean {
  const bytes = tree.read(path, limit, size);
  return bytes instanceof Uint8Array && (looksBinary(bytes) || decodeUtf8(bytes) === null);
}

/** A walk that meets just these files. */
function toWalkRules(paths: readonly string[]): WalkRules {
  const files = new Set(paths);
  const folders = new Set([""]);
  for (const path of paths) {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const folder = path.slice(0, at);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return { prefixes: [""], enters: (folder) => folders.has(folder), matches: (path) => files.has(path) };
}

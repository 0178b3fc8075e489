import { compareCodePoints } from "../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { type BuildPorts, loadStored, surveySources } from "./index-build.ts";
import { findFile, type IndexImage, isUnchanged } from "./index-image.ts";
import { formatSectionLines } from "./section-index.ts";
import { sectionsOf } from "./sections.ts";
import { decodeSource, type SourceProblem, sourcesInvalid } from "./source.ts";

type VerifyPorts = Pick<BuildPorts, "store" | "tree" | "crypto" | "progress" | "config">;

export interface IndexVerdict {
  readonly ok: boolean;
  readonly index_hash: string;
  readonly actual_hash: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

const PAUSE_FILES = 64;

/** Reads every source and compares with the stored index. Changes nothing; one file in memory at a time. */
export async function verifyIndex(ports: VerifyPorts): Promise<IndexVerdict> {
  const stored = await loadStored(ports.store);
  if (stored === null) throw new VerbatimError("INDEX_MISSING");
  const { image } = stored;
  const { files, problems } = surveySources(ports.tree, ports.config);
  const hasher = ports.crypto.hasher();
  const added: string[] = [];
  const changed: string[] = [];
  for (const [i, { path }] of files.entries()) {
    const sections = readSections(ports, path, problems);
    if (sections !== null) {
      hasher.update(formatSectionLines(sections));
      const before = findFile(image, path);
      if (before === -1) added.push(path);
      else if (image.hashes[before] !== sections[0]!.content_hash) changed.push(path);
    }
    if (i % PAUSE_FILES === PAUSE_FILES - 1) {
      ports.progress.report({ label: "verifying the index", done: i + 1, total: files.length });
      await ports.tree.pause();
    }
  }
  if (problems.length > 0) throw sourcesInvalid(problems.sort((a, b) => compareCodePoints(a.file_path, b.file_path)));
  const present = new Set(files.map(({ path }) => path));
  const removed = image.paths.filter((path) => !present.has(path));
  const actual_hash = hasher.digest();
  const { index_hash } = stored.facts;
  return { ok: actual_hash === index_hash, index_hash, actual_hash, added, removed, changed };
}

function readSections(ports: VerifyPorts, path: string, problems: SourceProblem[]) {
  const bytes = ports.tree.read(path, ports.config.max_file_bytes);
  if (!(bytes instanceof Uint8Array)) {
    problems.push(bytes);
    return null;
  }
  try {
    return sectionsOf(ports.crypto, path, decodeSource(bytes, path));
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code !== "SOURCE_NOT_UTF8") throw thrown;
    problems.push({ code: "SOURCE_NOT_UTF8", file_path: path, byte_offset: Number(thrown.details?.["byte_offset"]) });
    return null;
  }
}

/** Paths that differ from the index by their stat alone, without reading anything. */
export function findStale(ports: Pick<BuildPorts, "tree" | "config">, image: IndexImage): string[] {
  const { files, problems } = surveySources(ports.tree, ports.config);
  const stale = problems.map(({ file_path }) => file_path);
  const present = new Set<string>();
  for (const { path, stat } of files) {
    present.add(path);
    const before = findFile(image, path);
    if (before === -1 || !isUnchanged(image.stats, before, stat)) stale.push(path);
  }
  stale.push(...image.paths.filter((path) => !present.has(path)));
  return [...new Set(stale)].sort(compareCodePoints);
}

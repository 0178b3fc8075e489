import { decodeUtf8, sortedUnique } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { type SourceProblem, STAT_FIELDS } from "../ports.ts";
import { type SectionRules, sealOf, sectionRules } from "../sections/code-outline.ts";
import { RowPages } from "../sections/row-pages.ts";
import { formatSectionLines } from "../sections/section-index.ts";
import { type CutFile, collectSections, formatSectionRows } from "../sections/section-rows.ts";
import { eachSection } from "../sections/sections.ts";
import { decodeSource, sourcesInvalid } from "../sources/source.ts";
import type { BuildPorts } from "./index-build.ts";
import { outlineFile } from "./index-builder.ts";
import { EMPTY_IMAGE, findFile, hashOf, hasSameFacts, type IndexImage, isUnchanged } from "./index-image.ts";
import { outlineFor } from "./index-origin.ts";
import { sortProblems, surveySources } from "./index-survey.ts";
import { requireStored, toVersion } from "./index-view.ts";

type VerifyPorts = Pick<BuildPorts, "store" | "tree" | "outliner" | "crypto" | "progress" | "config">;

interface IndexVerdict {
  readonly ok: boolean;
  readonly index_hash: string;
  readonly actual_hash: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

const PAUSE_FILES = 64;

/**
 * Reads every source and compares with the stored index, the stored sections included. Changes nothing; one file in
 * memory at a time. Sources that cannot be read are INDEX_SOURCES_INVALID.
 */
export async function verifyIndex(ports: VerifyPorts): Promise<IndexVerdict> {
  const { facts, image } = await requireStored(ports.store);
  const { rule, paths, stats, problems } = await surveySources(ports.tree, ports.config, EMPTY_IMAGE);
  const rules = sectionRules(outlineFor(ports.config, rule), () => ports.outliner.missing());
  const rows = new RowPages(ports.store);
  const hasher = ports.crypto.hasher();
  hasher.update(sealOf(rules.number, paths));
  const added: string[] = [];
  const changed: string[] = [];
  for (let i = 0; i < paths.length; i++) {
    const path = paths[i]!;
    const file = await readFile(ports, rules, path, stats[i * STAT_FIELDS]!, problems);
    if (file !== null) {
      hasher.update(formatSectionLines(file.sections));
      const before = findFile(image, path);
      if (before === -1) added.push(path);
      else {
        const row = await rows.find(toVersion(path, hashOf(image, before), facts.rules));
        if (row === null || decodeUtf8(row.sections) !== formatSectionRows(file)) changed.push(path);
      }
    }
    if (i % PAUSE_FILES === PAUSE_FILES - 1) {
      ports.progress.report({ label: "verifying the index", done: i + 1, total: paths.length });
      await ports.tree.pause();
    }
  }
  await requireRevision(ports, facts.revision);
  if (problems.length > 0) throw sourcesInvalid(sortProblems(problems));
  const present = new Set(paths);
  const removed = image.paths.filter((path) => !present.has(path));
  const actual_hash = hasher.digest();
  const { index_hash } = facts;
  const ok = actual_hash === index_hash && added.length + removed.length + changed.length === 0;
  return { ok, index_hash, actual_hash, added, removed, changed };
}

async function requireRevision({ store }: VerifyPorts, revision: number): Promise<void> {
  const facts = await store.read(({ context }) => context.facts());
  if (facts?.revision === revision) return;
  throw new VerbatimError("INDEX_BUSY", { message: "the index was rebuilt while it was being verified" });
}

async function readFile(
  ports: VerifyPorts,
  rules: SectionRules,
  path: string,
  size: number,
  problems: SourceProblem[],
): Promise<CutFile | null> {
  const bytes = ports.tree.read(path, ports.config.max_file_bytes, size);
  if (!(bytes instanceof Uint8Array)) {
    problems.push(bytes);
    return null;
  }
  try {
    const read = decodeSource(bytes, path);
    const hash = ports.crypto.sha256(read.bytes);
    const { content, definitions, problem } = await outlineFile(ports.outliner, rules, path, read);
    if (problem === "OUTLINE_TIMEOUT") problems.push({ code: problem, file_path: path });
    return collectSections((take) => eachSection(ports.crypto, path, content, hash, take, definitions));
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code !== "SOURCE_NOT_UTF8") throw thrown;
    problems.push({ code: "SOURCE_NOT_UTF8", file_path: path, byte_offset: Number(thrown.details?.["byte_offset"]) });
    return null;
  }
}

/**
 * Paths that differ from the index by their facts. Where equal facts prove nothing, because the file was too fresh when
 * it was indexed, its content is compared.
 */
export async function findStale(
  ports: Pick<BuildPorts, "tree" | "config" | "crypto">,
  image: IndexImage,
): Promise<string[]> {
  const { paths, stats, problems } = await surveySources(ports.tree, ports.config, image);
  const stale = problems.map(({ file_path }) => file_path);
  for (let i = 0; i < paths.length; i++) {
    const path = paths[i]!;
    const before = findFile(image, path);
    const isSame =
      before !== -1 &&
      (isUnchanged(image.stats, before, stats, i) ||
        (hasSameFacts(image.stats, before, stats, i) && hasContent(ports, path, hashOf(image, before))));
    if (!isSame) stale.push(path);
  }
  const present = new Set(paths);
  return sortedUnique([...stale, ...image.paths.filter((path) => !present.has(path))]);
}

function hasContent(
  { tree, config, crypto }: Pick<BuildPorts, "tree" | "config" | "crypto">,
  path: string,
  hash: string,
) {
  const bytes = tree.read(path, config.max_file_bytes, -1);
  if (!(bytes instanceof Uint8Array)) return false;
  try {
    return crypto.sha256(decodeSource(bytes, path).bytes) === hash;
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code !== "SOURCE_NOT_UTF8") throw thrown;
    return false;
  }
}

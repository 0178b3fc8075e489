import { z } from "zod";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, OWNER, READER } from "../../../core/operation.ts";
import { parseTime } from "../../../core/time.ts";
import { recordRefusal } from "../expansion/refusals.ts";
import { buildIndex } from "../index/index-build.ts";
import { exportBytes, exportIndex } from "../index/index-export.ts";
import { loadOrigin, outlineOrigin, sourcesOrigin } from "../index/index-origin.ts";
import { findRule, judge, SOURCE_RULES } from "../index/index-survey.ts";
import { findStale, verifyIndex } from "../index/index-verify.ts";
import { requireStored } from "../index/index-view.ts";
import { updateSearch } from "../search/search-update.ts";
import { parseKnownPath } from "../sources/asked-path.ts";
import { LEFT_OUT_REASONS } from "../sources/left-out.ts";
import { decodeSource, isDrift } from "../sources/source.ts";
import { compileSources, type SourceRules } from "../sources/source-rules.ts";
import { isBinary, judgePath } from "../sources/tracked-sources.ts";
import { findSymbolProblems } from "../symbols/registry.ts";
import type { ContextPorts } from "./ports.ts";

const count = z.int().min(0);
const hash = z.string().regex(/^[0-9a-f]{64}$/);

export const indexBuild = defineOperation({
  name: "context.index-build",
  summary: "Updates the index of sections from the files.",
  effect: "append",
  who: OWNER,
  input: z.strictObject({
    full: z.boolean().default(false).describe("Read every file, whatever its timestamps say."),
    with_search: z.boolean().default(true).describe("Update the search index as well; on by default."),
  }),
  output: z.strictObject({
    index_hash: hash,
    files: count,
    sections: count,
    changed: z.strictObject({ added: count, modified: count, removed: count }),
    mode: z.enum(["full", "incremental"]),
    empty_globs: z.array(z.string()),
    skipped_links: z.array(z.string()),
    sources: sourcesOrigin.describe("Which rule chose the sources, and what it left out."),
    outline: outlineOrigin.describe("What is a section besides whole files, and which files of code are not cut."),
  }),
  async run(ports: ContextPorts, { full, with_search }) {
    const result = await buildIndex(ports, { full })
      .then((built) => (with_search ? makeSearchable(ports, built) : built))
      .catch((thrown) => recordRefusal(ports, "context.index-build", { full, with_search }, thrown));
    return { ...result, empty_globs: [...result.empty_globs], skipped_links: [...result.skipped_links] };
  },
});

/** What a build may find changed again by the time it is made searchable; more often than this, a program keeps writing. */
const MOST_BUILDS = 3;

/** Makes a build searchable. A file that was written meanwhile is indexed again. */
async function makeSearchable(ports: ContextPorts, built: Awaited<ReturnType<typeof buildIndex>>) {
  let current = built;
  for (let builds = 1; ; builds++) {
    try {
      await updateSearch(ports);
      ports.searching.warm?.();
      return current;
    } catch (thrown) {
      if (!isDrift(thrown) || builds === MOST_BUILDS) throw thrown;
      const { index_hash, files, sections } = await buildIndex(ports, { full: false });
      current = { ...built, index_hash, files, sections };
    }
  }
}

export const indexVerify = defineOperation({
  name: "context.index-verify",
  summary: "Reads every source and compares it with the index; changes nothing.",
  effect: "read",
  who: READER,
  input: z.strictObject({}),
  output: z.strictObject({
    ok: z.boolean(),
    index_hash: hash,
    actual_hash: hash,
    added: z.array(z.string()),
    removed: z.array(z.string()),
    changed: z.array(z.string()),
  }),
  async run(ports: ContextPorts) {
    const verdict = await verifyIndex(ports);
    return { ...verdict, added: [...verdict.added], removed: [...verdict.removed], changed: [...verdict.changed] };
  },
});

export const indexStatus = defineOperation({
  name: "context.index-status",
  summary: "Shows what the index contains, which files have changed since, and which symbols would fail.",
  effect: "read",
  who: READER,
  input: z.strictObject({}),
  output: z.strictObject({
    index_hash: hash,
    built_at: z.string(),
    age_ms: z.int(),
    files: count,
    sections: count,
    sources: sourcesOrigin,
    outline: outlineOrigin,
    stale: z.array(z.string()),
    symbol_problems: z.array(z.strictObject({ symbol_id: z.string(), code: z.string(), message: z.string() })),
  }),
  async run(ports: ContextPorts) {
    const { facts, image } = await requireStored(ports.store);
    const { index_hash, built_at, files, sections } = facts;
    const { sources, outline } = await ports.store.read(({ context }) => loadOrigin(context));
    const age_ms = ports.clock.now() - parseTime(built_at);
    const symbol_problems = await findSymbolProblems(ports);
    const stale = await findStale(ports, image);
    return { index_hash, built_at, age_ms, files, sections, sources, outline, stale, symbol_problems };
  },
});

export const indexExplain = defineOperation({
  name: "context.index-explain",
  summary: "Says whether a path is a source, and why.",
  effect: "read",
  who: READER,
  input: z.strictObject({ path: z.string().describe("Path relative to the root of the workspace.") }),
  output: z.strictObject({
    file_path: z.string(),
    source: z.boolean(),
    rule: z.enum(SOURCE_RULES),
    sources: z.array(z.string()),
    exclude: z.array(z.string()),
    tracked: z.boolean().nullable().describe("Whether git tracks the file; null where git was not asked."),
    left_out: z.enum(LEFT_OUT_REASONS).nullable().describe("Why a tracked file is not a source."),
    problem: z.string().nullable(),
  }),
  async run(ports: ContextPorts, { path }) {
    const file_path = await parseKnownPath(ports, path);
    const rules = compileSources(ports.config.sources, ports.config.exclude);
    const { sources, exclude } = rules.explain(file_path);
    const { rule, tracked } = await findRule(ports.tree, ports.config);
    if (tracked !== null) return explainTracked(ports, tracked, file_path, exclude);
    const selected = sources.length > 0 && exclude.length === 0;
    const problem = selected ? findProblem(ports, rules, file_path) : null;
    const source = selected && problem === null;
    return { file_path, source, rule, sources, exclude, tracked: null, left_out: null, problem };
  },
});

/** What the rule of git says about a path. */
function explainTracked(ports: ContextPorts, listed: readonly string[], file_path: string, exclude: string[]) {
  const { tree, config } = ports;
  const tracked = listed.includes(file_path);
  const rules = compileSources(["**/*"], config.exclude);
  const about = { file_path, rule: "git" as const, sources: [], exclude, tracked };
  const named = tracked ? judgePath(config, rules, file_path) : null;
  if (!tracked || named !== null) return { ...about, source: false, left_out: named, problem: null };
  const place = tree.inspect(file_path);
  const size = tree.stat(file_path)?.size;
  const isFile = place === file_path && size !== undefined;
  if (!isFile) return { ...about, source: false, left_out: "link" as const, problem: null };
  if (size > config.max_file_bytes) return { ...about, source: false, left_out: "large" as const, problem: null };
  const isText = !isBinary(tree, file_path, config.max_file_bytes, size);
  return { ...about, source: isText, left_out: isText ? null : ("binary" as const), problem: null };
}

/** The problem a build would have with a selected file. */
function findProblem(ports: ContextPorts, rules: SourceRules, path: string): string | null {
  const place = ports.tree.inspect(path);
  if (typeof place !== "string") return place.code;
  const size = ports.tree.stat(path)?.size;
  if (size === undefined) return "SOURCE_UNREADABLE";
  const problem = judge(ports.config, rules, path, place, size);
  if (problem !== null) return problem.code;
  const bytes = ports.tree.read(path, ports.config.max_file_bytes, size);
  if (!(bytes instanceof Uint8Array)) return bytes.code;
  try {
    decodeSource(bytes, path);
    return null;
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "SOURCE_NOT_UTF8") return thrown.code;
    throw thrown;
  }
}

export const indexExport = defineOperation({
  name: "context.index-export",
  summary: "Writes SECTION_INDEX: every section as canonical JSON Lines.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    out: z.string().optional().describe("File to write, completely or not at all (default: standard output)."),
  }),
  output: z.strictObject({ path: z.string().nullable(), index_hash: hash, sections: count }),
  async run(ports: ContextPorts, { out }) {
    const stored = await requireStored(ports.store);
    if (out !== undefined) await ports.files.replace(out, exportBytes(ports, stored));
    const { index_hash, sections } = stored.facts;
    return { path: out ?? null, index_hash, sections };
  },
  async *lines(ports: ContextPorts) {
    for await (const lines of exportIndex(ports)) yield lines.slice(0, -1);
  },
});

import { z } from "zod";
import { encodeUtf8 } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { defineOperation, LOCAL_DOORS } from "../../core/operation.ts";
import { parseRepoPath } from "../../core/paths/index.ts";
import { looksSecret } from "../../core/paths/secret-names.ts";
import { parseTime } from "../../core/time.ts";
import { type BuildPorts, buildIndex, loadStored, surveySources } from "./index-build.ts";
import { findStale, verifyIndex } from "./index-verify.ts";
import type { ContextPorts } from "./operation-ports.ts";
import type { ContextReader } from "./ports.ts";
import { checkSymbols } from "./registry.ts";
import { updateSearch } from "./search.ts";
import { formatSectionLines } from "./section-index.ts";
import { parseSectionRows } from "./section-rows.ts";
import { decodeSource } from "./source.ts";
import { compileSources } from "./source-rules.ts";

const count = z.int().min(0);
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const PAGE = 256;

export const indexBuild = defineOperation({
  name: "context.index-build",
  summary: "Brings the index of sections up to date with the files.",
  effect: "append",
  input: z.strictObject({
    full: z.boolean().default(false).describe("Read every file, whatever its time stamps say."),
    with_search: z.boolean().default(false).describe("Bring the search index up to date as well."),
  }),
  output: z.strictObject({
    index_hash: hash,
    files: count,
    sections: count,
    changed: z.strictObject({ added: count, modified: count, removed: count }),
    mode: z.enum(["full", "incremental"]),
    empty_globs: z.array(z.string()),
    skipped_links: z.array(z.string()),
  }),
  async run(ports: ContextPorts, { full, with_search }) {
    const result = await buildIndex(ports, { full });
    if (with_search) await updateSearch(ports);
    return { ...result, empty_globs: [...result.empty_globs], skipped_links: [...result.skipped_links] };
  },
});

export const indexVerify = defineOperation({
  name: "context.index-verify",
  summary: "Reads every source and compares it with the index; changes nothing.",
  effect: "read",
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
  summary: "Says what the index holds, which files changed since, and which symbols would fail.",
  effect: "read",
  input: z.strictObject({}),
  output: z.strictObject({
    index_hash: hash,
    built_at: z.string(),
    age_ms: z.int(),
    files: count,
    sections: count,
    stale: z.array(z.string()),
    symbol_problems: z.array(z.strictObject({ symbol_id: z.string(), code: z.string(), message: z.string() })),
  }),
  async run(ports: ContextPorts) {
    const stored = await loadStored(ports.store);
    if (stored === null) throw new VerbatimError("INDEX_MISSING");
    const { index_hash, built_at, files, sections } = stored.facts;
    const age_ms = ports.clock.now() - parseTime(built_at);
    const symbol_problems = await checkSymbols(ports);
    return { index_hash, built_at, age_ms, files, sections, stale: findStale(ports, stored.image), symbol_problems };
  },
});

export const indexExplain = defineOperation({
  name: "context.index-explain",
  summary: "Says whether a path is a source, and why.",
  effect: "read",
  input: z.strictObject({ path: z.string().describe("Path relative to the root of the workspace.") }),
  output: z.strictObject({
    file_path: z.string(),
    source: z.boolean(),
    sources: z.array(z.string()),
    exclude: z.array(z.string()),
    problem: z.string().nullable(),
  }),
  async run(ports: ContextPorts, { path }) {
    const file_path = parseRepoPath(path);
    const { sources, exclude } = compileSources(ports.config.sources, ports.config.exclude).explain(file_path);
    const selected = sources.length > 0 && exclude.length === 0;
    const problem = selected ? findProblem(ports, file_path) : null;
    return { file_path, source: selected && problem === null, sources, exclude, problem };
  },
});

function findProblem(ports: BuildPorts, path: string): string | null {
  const { files, problems } = surveySources(ports.tree, { ...ports.config, sources: [escapeGlob(path)], exclude: [] });
  const known = problems.find((one) => one.file_path === path);
  if (known !== undefined) return known.code;
  if (files.every((one) => one.path !== path)) return looksSecret(path) ? "SOURCE_SECRET" : "SOURCE_UNREADABLE";
  const bytes = ports.tree.read(path, ports.config.max_file_bytes);
  if (!(bytes instanceof Uint8Array)) return bytes.code;
  try {
    decodeSource(bytes, path);
    return null;
  } catch (thrown) {
    if (thrown instanceof VerbatimError && thrown.code === "SOURCE_NOT_UTF8") return thrown.code;
    throw thrown;
  }
}

// Every character that means something in a glob becomes "any one character"; the path is compared again afterwards.
function escapeGlob(path: string): string {
  return path.replace(/[*[\]{}!]/g, "?");
}

export const indexExport = defineOperation({
  name: "context.index-export",
  summary: "Writes SECTION_INDEX: every section as canonical JSON Lines.",
  effect: "read",
  doors: LOCAL_DOORS,
  input: z.strictObject({
    out: z.string().optional().describe("File to write; never overwritten. Without it: standard output."),
  }),
  output: z.strictObject({ path: z.string().nullable(), index_hash: hash, sections: count }),
  async run(ports: ContextPorts, { out }) {
    const stored = await loadStored(ports.store);
    if (stored === null) throw new VerbatimError("INDEX_MISSING");
    const { index_hash, sections } = stored.facts;
    if (out === undefined) return { path: null, index_hash, sections };
    const chunks: Uint8Array[] = [];
    for await (const lines of listLines(ports)) chunks.push(encodeUtf8(lines));
    await ports.files.create(out, concat(chunks));
    return { path: out, index_hash, sections };
  },
  async *lines(ports: ContextPorts) {
    for await (const lines of listLines(ports)) yield lines.slice(0, -1);
  },
});

/** SECTION_INDEX, some files at a time, all from one read of the store. */
async function* listLines({ store, crypto }: ContextPorts): AsyncIterable<string> {
  const stored = await loadStored(store);
  if (stored === null) throw new VerbatimError("INDEX_MISSING");
  const { paths, hashes } = stored.image;
  for (let at = 0; at < paths.length; at += PAGE) {
    const end = Math.min(paths.length, at + PAGE);
    yield await store.read(async ({ context }) => {
      let text = "";
      for (let i = at; i < end; i++) text += await formatFile(context, crypto, paths[i]!, hashes[i]!);
      return text;
    });
  }
}

async function formatFile(
  context: ContextReader,
  crypto: ContextPorts["crypto"],
  path: string,
  contentHash: string,
): Promise<string> {
  const row = await context.file(path, contentHash);
  const sections = row === null ? null : parseSectionRows(crypto, path, row.sections);
  if (sections !== null) return formatSectionLines(sections);
  throw new VerbatimError("INDEX_BUSY", { message: "the index was rebuilt meanwhile; nothing more was written" });
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

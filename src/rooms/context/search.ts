import { VerbatimError } from "../../core/errors/index.ts";
import { cutLines, spaceScripts, toLines } from "../../core/text/index.ts";
import type { Section } from "./contracts.ts";
import type { ExpansionPorts } from "./expansion.ts";
import { findFile, type IndexImage } from "./index-image.ts";
import type { IndexView } from "./index-view.ts";
import type { CompiledQuery, ContextReader, SearchForm, SearchHit, SearchRow } from "./ports.ts";
import { parseSearchQuery, type SearchQuery, toFts5, toSearchWords, toTsquery } from "./search-query.ts";

export type SearchPorts = Pick<ExpansionPorts, "store" | "crypto" | "views" | "contents">;

/** A place to expand, never text. */
export interface SearchResult {
  readonly section_id: string;
  readonly file_path: string;
  readonly heading_path: readonly string[];
  readonly line_start: number;
  readonly line_end: number;
  readonly slice: string;
  readonly score: number;
}

const PAGE = 1000;
const AROUND = 3;
// Search rows are written in portions, so that a first search does not hold the store for long.
const PORTION = 64;

/** Finds sections whose own lines, path or headings have every term. The search index is brought up to date first. */
export async function searchSections(ports: SearchPorts, text: string, limit: number) {
  const query = parseSearchQuery(text);
  await updateSearch(ports);
  return ports.store.read(async ({ context }) => {
    const view = await ports.views.open(context);
    const compiled = compileQuery(query, context.searchForm);
    const { total, hits } = await context.search(compiled, limit);
    const results: SearchResult[] = [];
    for (const hit of hits) results.push(await toResult(ports, context, view, compiled, hit));
    return { query: text, ignored: [...query.ignored], total, results };
  });
}

/** Indexes changed files only. Files that changed on disk since the build are CONTENT_HASH_MISMATCH. */
export async function updateSearch(ports: SearchPorts): Promise<void> {
  const { added, gone } = await ports.store.read(async ({ context }) =>
    findChanges(context, (await ports.views.open(context)).image),
  );
  for (let at = 0; at < gone.length; at += PAGE) {
    await ports.store.transact(async ({ context }) => {
      for (const path of gone.slice(at, at + PAGE)) await context.removeSearchFile(path);
    });
  }
  for (let at = 0; at < added.length; at += PORTION) {
    const portion = await ports.store.read(async ({ context }) => {
      const view = await ports.views.open(context);
      const made = [];
      for (const path of added.slice(at, at + PORTION)) made.push(await toSearchFile(ports, context, view, path));
      return made;
    });
    await ports.store.transact(async ({ context }) => {
      for (const { file, pathText, rows } of portion) await context.putSearchFile(file, pathText, rows);
    });
  }
}

async function findChanges(context: ContextReader, image: IndexImage): Promise<{ added: string[]; gone: string[] }> {
  const current = new Set<string>();
  const gone: string[] = [];
  for (let after = ""; ; ) {
    const page = await context.searchFilesAfter(after, PAGE);
    for (const { path, content_hash } of page) {
      const file = findFile(image, path);
      if (file === -1) gone.push(path);
      else if (image.hashes[file] === content_hash) current.add(path);
    }
    if (page.length < PAGE) break;
    after = page.at(-1)!.path;
  }
  return { added: image.paths.filter((path) => !current.has(path)), gone };
}

/** Every section's own lines: from its start to its first child, so a word belongs to the innermost section only. */
async function toSearchFile(ports: SearchPorts, context: ContextReader, view: IndexView, path: string) {
  const sections = (await view.load(context, path))!;
  const lines = ports.contents.open(view, sections[0]!);
  const form = context.searchForm;
  const rows: SearchRow[] = sections.map((section, ordinal) => ({
    ordinal,
    text: toForm(cutLines(lines, section.line_start, ownEnd(sections, ordinal)), form),
    headings: toForm(section.heading_path.join(" "), form),
  }));
  return {
    file: { path, content_hash: sections[0]!.content_hash },
    pathText: toForm(path, form),
    rows: rows.filter((row, ordinal) => ordinal > 0 || row.text !== "" || sections.length === 1),
  };
}

/** Line at which a section's own text ends: its first child's start, which is the next section if it lies inside. */
function ownEnd(sections: readonly Section[], ordinal: number): number {
  const { line_start, line_end } = sections[ordinal]!;
  const next = sections[ordinal + 1];
  return next !== undefined && next.line_start < line_end ? Math.max(line_start, next.line_start) : line_end;
}

async function toResult(
  ports: SearchPorts,
  context: ContextReader,
  view: IndexView,
  query: CompiledQuery,
  hit: SearchHit,
): Promise<SearchResult> {
  const sections = await view.load(context, hit.path);
  const section = sections?.[hit.ordinal];
  if (sections === undefined || section === undefined || sections[0]!.content_hash !== hit.content_hash) {
    throw new VerbatimError("STORE_CORRUPT", {
      message: "the search index does not fit the index",
      fix: "verbatim index build --full",
    });
  }
  const { section_id, file_path, heading_path, line_start, line_end } = section;
  const first = await findFirstLine(ports, context, view, query, section, ownEnd(sections, hit.ordinal));
  const count = line_end - line_start;
  const slice = `lines[${Math.max(0, first - AROUND)}:${Math.min(count, first + AROUND + 1)}]`;
  return { section_id, file_path, heading_path, line_start, line_end, slice, score: hit.score };
}

/** A file that changed since the build still has an address; only its matching line cannot be known. */
async function findFirstLine(
  ports: SearchPorts,
  context: ContextReader,
  view: IndexView,
  query: CompiledQuery,
  section: Section,
  end: number,
): Promise<number> {
  const text = ports.contents.peek(view, section, end);
  if (text === null) return 0;
  const { starts } = toLines(text);
  const lines = starts.slice(0, -1).map((start, i) => toForm(text.slice(start, starts[i + 1]), context.searchForm));
  return Math.max(0, await context.firstMatch(query, lines));
}

function compileQuery(query: SearchQuery, form: SearchForm): CompiledQuery {
  const compile = (one: SearchQuery) => (form === "spaced" ? toFts5(one) : toTsquery(one));
  const each = query.terms.map((term) => `(${compile({ terms: [term], ignored: [] })})`);
  return { all: compile(query), any: each.join(form === "spaced" ? " OR " : " | ") };
}

function toForm(text: string, form: SearchForm): string {
  // NUL and half pairs cannot be stored, and no word contains them.
  return form === "spaced" ? spaceScripts(text).replaceAll("\0", " ") : toSearchWords(text);
}

import type { Progress } from "../../../core/ports.ts";
import type { Section } from "../contracts/index.ts";
import type { ExpansionPorts } from "../expansion/expansion.ts";
import { hashOf } from "../index/index-image.ts";
import type { IndexView } from "../index/index-view.ts";
import { toVersion } from "../index/index-view.ts";
import type { ContextReader, FileVersion, SearchEngine, SearchRow } from "../ports.ts";
import { cutRanges, ownRanges } from "../sections/own-lines.ts";
import { toSearchRows } from "./search-dialect.ts";

export interface UpdatePorts extends Pick<ExpansionPorts, "store" | "views" | "contents"> {
  readonly engine: SearchEngine;
  readonly progress: Progress;
}

interface Changes {
  readonly view: IndexView;
  readonly changed: readonly string[];
  readonly gone: readonly string[];
}

interface Portion {
  readonly files: readonly { readonly file: FileVersion; readonly rows: readonly SearchRow[] }[];
  readonly next: number;
}

const PAGE = 1000;
// Rows are written in portions, so that neither the memory nor the store is taken for long.
const PORTION_FILES = 64;
const PORTION_TEXT = 8 * 1024 * 1024;

/**
 * Brings the search index up to date with the index, changed files only. A changed file that is no longer on disk as
 * it was indexed is CONTENT_HASH_MISMATCH: nothing stale is ever searched.
 */
export async function updateSearch(ports: UpdatePorts): Promise<void> {
  const changes = await findChanges(ports);
  if (changes === null) return;
  const { view, changed, gone } = changes;
  for (let at = 0; at < changed.length; ) {
    const { files, next } = await readPortion(ports, view, changed, at);
    const isCurrent = await ports.store.transact(async ({ context }) => {
      if ((await context.holdRevision()) !== view.facts.revision) return false;
      for (const { file, rows } of files) await context.putSearchFile(file, rows);
      return true;
    });
    // The index was rebuilt meanwhile; whoever searches looks again.
    if (!isCurrent) return;
    at = next;
    ports.progress.report({ label: "making searchable", done: at, total: changed.length });
  }
  await ports.store.transact(async ({ context }) => {
    if ((await context.holdRevision()) !== view.facts.revision) return;
    for (const path of gone) await context.removeSearchFile(path);
    await context.setSearchRevision(view.facts.revision);
  });
}

/** Null when the search index is up to date. */
async function findChanges(ports: UpdatePorts): Promise<Changes | null> {
  return ports.store.read(async ({ context }) => {
    const view = await ports.views.open(context);
    if ((await context.searchRevision()) === view.facts.revision) return null;
    const current = new Set<string>();
    const gone: string[] = [];
    for await (const { path, version } of listSearchFiles(context)) {
      const file = view.fileNumber(path);
      if (file === -1) gone.push(path);
      else if (toVersion(path, hashOf(view.image, file), view.facts.rules).version === version) current.add(path);
    }
    return { view, changed: view.image.paths.filter((path) => !current.has(path)), gone };
  });
}

async function* listSearchFiles(context: ContextReader): AsyncIterable<FileVersion> {
  for (let after = ""; ; ) {
    const page = await context.searchFilesAfter(after, PAGE);
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.path;
  }
}

async function readPortion(
  ports: UpdatePorts,
  view: IndexView,
  paths: readonly string[],
  from: number,
): Promise<Portion> {
  const loaded = await ports.store.read(async ({ context }) => {
    const lists: (readonly Section[])[] = [];
    for (const path of paths.slice(from, from + PORTION_FILES)) {
      lists.push((await view.load(context, path))!.sections);
    }
    return lists;
  });
  const files: { file: FileVersion; rows: SearchRow[] }[] = [];
  let text = 0;
  for (const sections of loaded) {
    const rows = readRows(ports, view, sections);
    const { file_path, content_hash } = sections[0]!;
    files.push({ file: toVersion(file_path, content_hash, view.facts.rules), rows });
    for (const { body } of rows) text += body.length;
    if (text > PORTION_TEXT) break;
  }
  return { files, next: from + files.length };
}

/** Every section's own lines: those of no section inside it, so a word belongs to the innermost section only. */
function readRows(ports: UpdatePorts, view: IndexView, sections: readonly Section[]): SearchRow[] {
  const lines = ports.contents.open(view, sections[0]!);
  return sections.flatMap((section, ordinal) => {
    const { file_path: path, heading_path: headings, line_start, line_end } = section;
    const body = cutRanges(lines, ownRanges(sections, ordinal));
    // An empty section has nothing to expand; a file that begins with a heading has no text of its own.
    const isOwn = line_start < line_end && (ordinal > 0 || body !== "");
    return isOwn ? toSearchRows(ports.engine, { ordinal, body, path, headings }) : [];
  });
}

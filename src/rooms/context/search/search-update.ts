import type { Progress } from "../../../core/ports.ts";
import { cutLines, type LineText } from "../../../core/text/index.ts";
import type { Section } from "../contracts/index.ts";
import type { ExpansionPorts } from "../expansion/expansion.ts";
import { hashOf } from "../index/index-image.ts";
import { type IndexView, toVersion } from "../index/index-view.ts";
import type { ContextReader, ContextWriter, FileVersion, SearchFile, SearchSegment, SourceTree } from "../ports.ts";
import { ownRanges } from "../sections/own-lines.ts";
import { ByteWriter } from "./bytes.ts";
import { PLACES, SegmentBuilder } from "./search-segment.ts";
import { eachPiece } from "./search-words.ts";

export interface UpdatePorts extends Pick<ExpansionPorts, "store" | "views" | "contents"> {
  readonly tree: SourceTree;
  readonly progress: Progress;
}

interface Changes {
  readonly view: IndexView;
  readonly changed: readonly string[];
  readonly gone: readonly string[];
}

/** Raised whenever the words of a text or their form in the store change; then everything is made searchable again. */
const SEARCH_RULES = 2;
// More rules than there will ever be. What programs before rule 2 noted, a bare revision, is less than any mark of it.
const MOST_RULES = 1024;
const PAGE = 1000;
// A segment ends with the file that brings it to one of these, so that neither the memory nor the store is taken for long.
const SEGMENT_TEXT = 1024 * 1024;
const SEGMENT_SECTIONS = 2048;
// Small segments, which small changes make, are made one again when there are more than so many.
const MOST_SMALL = 12;
// Rows and units of text between two turns of the others.
const ROWS_AT_ONCE = 256;
const TEXT_AT_ONCE = 64 * 1024;

/**
 * Brings the search index up to date with the index, changed files only. A changed file that is no longer on disk as
 * it was indexed is CONTENT_HASH_MISMATCH: nothing stale is ever searched.
 */
export async function updateSearch(ports: UpdatePorts): Promise<void> {
  const changes = await findChanges(ports);
  if (changes === null) return;
  const { view, changed, gone } = changes;
  for (let at = 0; at < changed.length; ) {
    const { segment, next } = await readSegment(ports, view, changed, at);
    const { sections, words } = segment.finish();
    const isCurrent = await ports.store.transact(async ({ context }) => {
      if (!(await isAsked(context, view))) return false;
      const id = await context.putSearchSegment(segment.files, sections, isSmall(segment));
      for (let i = 0; i < words.length; i += ROWS_AT_ONCE) {
        await context.putSearchWords(id, words.slice(i, i + ROWS_AT_ONCE));
        await ports.tree.pause();
      }
      return true;
    });
    // The index was rebuilt meanwhile, or another process was faster; whoever searches looks again.
    if (!isCurrent) return;
    at = next;
    ports.progress.report({ label: "making searchable", done: at, total: changed.length });
  }
  await ports.store.transact(async ({ context }) => {
    if (!(await isAsked(context, view))) return;
    for (const path of gone) await context.removeSearchFile(path);
    await settleSegments(context);
    await context.setSearchRevision(toMark(view.facts.revision));
  });
}

function isSmall({ size, sections }: SegmentBuilder): boolean {
  return size * 2 < SEGMENT_TEXT && sections * 2 < SEGMENT_SECTIONS;
}

/** Whether the search index still is to be made for this view. No other transaction changes that before this one ends. */
async function isAsked(context: ContextWriter, { facts: { revision } }: IndexView): Promise<boolean> {
  return (await context.holdRevision()) === revision && (await context.searchRevision()) !== toMark(revision);
}

/** What is noted of an index that was made searchable: another program may have done it by other rules. */
function toMark(revision: number): number {
  return revision * MOST_RULES + SEARCH_RULES;
}

/** Whether this index was made searchable, by the rules of this program. */
export async function isSearchable(context: ContextReader, { facts: { revision } }: IndexView): Promise<boolean> {
  return (await context.searchRevision()) === toMark(revision);
}

/** Null when the search index is up to date. */
async function findChanges(ports: UpdatePorts): Promise<Changes | null> {
  return ports.store.read(async ({ context }) => {
    const view = await ports.views.open(context);
    if (await isSearchable(context, view)) return null;
    const files = await listSearchFiles(context);
    const gone = files.filter(({ path }) => view.fileNumber(path) === -1).map(({ path }) => path);
    const current = files.filter(({ path, version }) => {
      const number = view.fileNumber(path);
      return number !== -1 && searchVersion(path, hashOf(view.image, number), view).version === version;
    });
    const worn = findWorn(await context.searchSegments(), current);
    const kept = new Set(current.filter(({ segment }) => !worn.has(segment)).map(({ path }) => path));
    return { view, changed: view.image.paths.filter((path) => !kept.has(path)), gone };
  });
}

function searchVersion(path: string, contentHash: string, { facts }: IndexView): FileVersion {
  const { version } = toVersion(path, contentHash, facts.rules);
  return { path, version: `${version}.${SEARCH_RULES}` };
}

async function listSearchFiles(context: ContextReader): Promise<SearchFile[]> {
  const files: SearchFile[] = [];
  for (;;) {
    const page = await context.searchFilesAfter(files.at(-1)?.path ?? "", PAGE);
    files.push(...page);
    if (page.length < PAGE) return files;
  }
}

/** Segments that are mostly of files that are gone, and the small ones where there are many: to be made anew. */
function findWorn(segments: readonly SearchSegment[], current: readonly SearchFile[]): ReadonlySet<number> {
  const live = new Map<number, number>();
  for (const { segment } of current) live.set(segment, (live.get(segment) ?? 0) + 1);
  const small = segments.filter(({ small }) => small === 1);
  const worn = segments.filter(({ id, files }) => (live.get(id) ?? 0) * 2 < files);
  return new Set([...worn, ...(small.length > MOST_SMALL ? small : [])].map(({ id }) => id));
}

/** Drops segments without files, and notes in the others which of their files are searched elsewhere or nowhere. */
async function settleSegments(context: ContextWriter): Promise<void> {
  const live = new Map<number, Set<number>>();
  for (const { segment, number } of await listSearchFiles(context)) {
    const numbers = live.get(segment);
    if (numbers === undefined) live.set(segment, new Set([number]));
    else numbers.add(number);
  }
  for (const { id, files, gone } of await context.searchSegments()) {
    const numbers = live.get(id);
    if (numbers === undefined) {
      await context.dropSearchSegment(id);
      continue;
    }
    const now = new ByteWriter();
    for (let number = 0; number < files; number++) if (!numbers.has(number)) now.put(number);
    // Files only ever go, so a list of the same length is the same.
    const bytes = now.finish();
    if (bytes.length !== gone.length) await context.setSearchGone(id, bytes);
  }
}

/** Gives others their turn after so much text. */
class Turns {
  readonly #tree: SourceTree;
  #left = TEXT_AT_ONCE;

  constructor(tree: SourceTree) {
    this.#tree = tree;
  }

  spend(units: number): Promise<void> | undefined {
    this.#left -= units;
    if (this.#left > 0) return undefined;
    this.#left = TEXT_AT_ONCE;
    return this.#tree.pause();
  }
}

async function readSegment(ports: UpdatePorts, view: IndexView, paths: readonly string[], from: number) {
  const segment = new SegmentBuilder();
  const turns = new Turns(ports.tree);
  let next = from;
  while (next < paths.length && segment.size < SEGMENT_TEXT && segment.sections < SEGMENT_SECTIONS) {
    const path = paths[next]!;
    const { sections } = (await ports.store.read(({ context }) => view.load(context, path)))!;
    const lines = ports.contents.open(view, sections[0]!);
    segment.addFile(searchVersion(path, sections[0]!.content_hash, view));
    let isFirst = true;
    for (let ordinal = 0; ordinal < sections.length; ordinal++) {
      if (await addSection(turns, segment, lines, sections, ordinal, isFirst)) isFirst = false;
    }
    next++;
  }
  return { segment, next };
}

/** Adds a section with its own lines: those of no section inside it, so a word belongs to the innermost section only. */
async function addSection(
  turns: Turns,
  segment: SegmentBuilder,
  lines: LineText,
  sections: readonly Section[],
  ordinal: number,
  isFirst: boolean,
): Promise<boolean> {
  const { file_path, heading_path, line_start, line_end } = sections[ordinal]!;
  const ranges = ownRanges(sections, ordinal);
  // An empty section has nothing to expand; a file that begins with a heading has no text of its own.
  if (line_start === line_end || (ordinal === 0 && ranges.length === 0)) return false;
  segment.beginSection();
  addPath(segment, file_path, isFirst);
  for (const [i, heading] of heading_path.entries()) {
    segment.add(heading, PLACES.heading + (i === heading_path.length - 1 ? PLACES.name : 0));
  }
  let isMore = false;
  for (const [start, end] of ranges) {
    for (const piece of eachPiece(cutLines(lines, start, end))) {
      segment.add(piece, PLACES.body, isMore);
      isMore = true;
      const turn = turns.spend(piece.length);
      if (turn !== undefined) await turn;
    }
  }
  segment.endSection(ordinal);
  return true;
}

/** The first section of a file has the name of the file as one of its names. */
function addPath(segment: SegmentBuilder, path: string, isFirst: boolean): void {
  const at = path.lastIndexOf("/") + 1;
  const dot = path.lastIndexOf(".");
  const end = dot > at ? dot : path.length;
  segment.add(path.slice(0, at), PLACES.path);
  segment.add(path.slice(at, end), PLACES.path + (isFirst ? PLACES.name : 0), true);
  segment.add(path.slice(end), PLACES.path, true);
}

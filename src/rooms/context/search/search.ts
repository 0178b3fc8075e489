import { VerbatimError } from "../../../core/errors/index.ts";
import { looksSecret } from "../../../core/paths/index.ts";
import { cutLines, type LineText } from "../../../core/text/index.ts";
import type { Section } from "../contracts/index.ts";
import type { ExpansionPorts } from "../expansion/expansion.ts";
import { formatSectionRef } from "../expansion/section-ref.ts";
import type { IndexView } from "../index/index-view.ts";
import type { SearchHit, SearchReader, SourceTree } from "../ports.ts";
import { lineInRanges, ownRanges } from "../sections/own-lines.ts";
import { isDrift } from "../sources/source.ts";
import { makePreview, type Preview, PreviewMeter } from "./preview.ts";
import { findSections } from "./search-find.ts";
import { parseSearchQuery } from "./search-query.ts";
import { hasTerm, toWordTerm, type WordTerm } from "./search-term.ts";
import { isSearchable, type UpdatePorts, updateSearch } from "./search-update.ts";
import { listWords } from "./search-words.ts";

type SearchPorts = Pick<ExpansionPorts, "views" | "contents"> & UpdatePorts & { readonly searching: SearchReader };

/** A place to expand. The preview is all of its text that is ever shown without being expanded. */
interface SearchResult {
  readonly section_id: string;
  readonly file_path: string;
  readonly heading_path: readonly string[];
  readonly line_start: number;
  readonly line_end: number;
  /** The address of the section in words, or its id where it has none. */
  readonly ref: string;
  readonly slice: string;
  readonly score: number;
  readonly preview: Preview | null;
}

interface Found {
  readonly hit: SearchHit;
  readonly section: Section;
  readonly ref: string;
  /** Lines of the file that are the section's own. */
  readonly own: ReturnType<typeof ownRanges>;
}

const AROUND = 3;
const MOST_TRIES = 5;
// Lines that are looked at before others get their turn.
const PORTION = 256;

type Looks = (words: readonly string[]) => boolean;

/** Finds sections whose own lines, path or headings have every term. The search index is brought up to date first. */
export async function searchSections(ports: SearchPorts, text: string, limit: number) {
  const query = parseSearchQuery(text);
  const terms = query.terms.map(toWordTerm);
  const { view, total, found } = await search(ports, terms, limit);
  const results: SearchResult[] = [];
  const previews = new PreviewMeter();
  for (const one of found) {
    const result = await toResult(ports, view, terms, one);
    results.push({ ...result, preview: previews.take(result.preview) });
  }
  return { query: text, ignored: [...query.ignored], total, results };
}

/** A build may come between the update and the search; then what was found belongs to an index that is gone. */
async function search(ports: SearchPorts, terms: readonly WordTerm[], limit: number) {
  for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
    const answer = await ports.searching.read(async ({ context }) => {
      const view = await ports.views.open(context);
      if (!(await isSearchable(context, view))) return null;
      const { total, hits } = await findSections({ context, view, pause: () => ports.tree.pause() }, terms, limit);
      const found: Found[] = [];
      for (const hit of hits) {
        const sections = (await view.load(context, view.image.paths[hit.file] ?? ""))?.sections;
        const section = sections?.[hit.ordinal];
        if (sections === undefined || section === undefined) throw unfit();
        const ref = formatSectionRef(section, sections);
        found.push({ hit, section, ref, own: ownRanges(sections, hit.ordinal) });
      }
      return { view, total, found };
    });
    if (answer !== null) return answer;
    await updateSearch(ports);
  }
  throw new VerbatimError("INDEX_BUSY", { message: "the index keeps being rebuilt" });
}

function unfit(): VerbatimError {
  return new VerbatimError("STORE_CORRUPT", {
    message: "the search index does not match the index",
    fix: { cli: "Build the index again: verbatim index build --full", others: "Build the whole index again." },
  });
}

async function toResult(
  ports: SearchPorts,
  view: IndexView,
  terms: readonly WordTerm[],
  { hit, section, ref, own }: Found,
): Promise<SearchResult> {
  const { section_id, file_path, heading_path, line_start, line_end } = section;
  const lines = openLines(ports, view, section);
  const found = lines === null ? 0 : await findFirstLine(ports, terms, cutOwn(lines, own));
  // A match in the path or a heading alone is shown where the section's own lines begin.
  const first = own.length === 0 ? 0 : lineInRanges(own, found) - line_start;
  const count = line_end - line_start;
  const slice = `lines[${Math.max(0, first - AROUND)}:${Math.min(count, first + AROUND + 1)}]`;
  const isShown = lines !== null && !isSecret(ports.tree, file_path);
  const preview = isShown ? makePreview(lines, section, first, findPlace(lines, line_start + first, terms)) : null;
  return { section_id, file_path, heading_path, line_start, line_end, ref, slice, score: hit.score, preview };
}

/** A file that changed since the build still has an address; only its matching line cannot be known. */
function openLines(ports: SearchPorts, view: IndexView, section: Section): LineText | null {
  try {
    return ports.contents.open(view, section);
  } catch (thrown) {
    if (isDrift(thrown)) return null;
    throw thrown;
  }
}

function cutOwn(lines: LineText, ranges: Found["own"]): string[] {
  const own: string[] = [];
  for (const [start, end] of ranges) for (let i = start; i < end; i++) own.push(cutLines(lines, i, i + 1));
  return own;
}

/** A secret that the configuration allows as a source is read by whoever names it, and shown to nobody else. */
function isSecret(tree: SourceTree, path: string): boolean {
  const place = tree.inspect(path);
  return looksSecret(path) || typeof place !== "string" || looksSecret(place);
}

/**
 * Number of the first line that has a term, else of the first with another form of one, else, where a phrase runs over the end
 * of a line, of the first with a word of it. Nothing found, which a match in the path or a heading alone explains, is line 0.
 */
async function findFirstLine(
  ports: SearchPorts,
  terms: readonly WordTerm[],
  lines: readonly string[],
): Promise<number> {
  const whole: Looks = (words) => terms.some((term) => hasTerm(words, term, "exact"));
  const forms: Looks = (words) => terms.some((term) => hasTerm(words, term, "loose"));
  const parts: Looks = (words) =>
    words.some((word) => terms.some(({ before, judge }) => before.includes(word) || judge(word) !== null));
  for (const looks of [whole, forms, parts]) {
    for (const [i, line] of lines.entries()) {
      if (looks(listWords(line))) return i;
      if (i % PORTION === PORTION - 1) await ports.tree.pause();
    }
  }
  return 0;
}

/** Where a line has the beginning of a word of the query, as near as it can be told; 0 without one. */
function findPlace(lines: LineText, n: number, terms: readonly WordTerm[]): number {
  const line = cutLines(lines, n, n + 1);
  const lower = line.toLowerCase();
  // Few characters have a small form of another length; then no place in the one is a place in the other.
  if (lower.length !== line.length) return 0;
  const places = terms.map(({ before, last, range }) => {
    const exact = lower.indexOf(before[0] ?? last);
    return exact === -1 ? lower.indexOf(range[0]) : exact;
  });
  const found = places.filter((place) => place !== -1);
  return found.length === 0 ? 0 : Math.min(...found);
}

import { VerbatimError } from "../../../core/errors/index.ts";
import { cutLines } from "../../../core/text/index.ts";
import type { Section } from "../contracts/index.ts";
import type { ExpansionPorts } from "../expansion/expansion.ts";
import type { IndexView } from "../index/index-view.ts";
import type { SearchEngine, SearchHit } from "../ports.ts";
import { lineInRanges, ownRanges } from "../sections/own-lines.ts";
import { isDrift } from "../sources/content-cache.ts";
import { compileQuery, findFirstLine } from "./search-dialect.ts";
import { parseSearchQuery, type SearchQuery } from "./search-query.ts";
import { type UpdatePorts, updateSearch } from "./search-update.ts";

type SearchPorts = Pick<ExpansionPorts, "views" | "contents"> & UpdatePorts & { readonly engine: SearchEngine };

/** A place to expand, never text. */
interface SearchResult {
  readonly section_id: string;
  readonly file_path: string;
  readonly heading_path: readonly string[];
  readonly line_start: number;
  readonly line_end: number;
  readonly slice: string;
  readonly score: number;
}

interface Found {
  readonly hit: SearchHit;
  readonly section: Section;
  /** Lines of the file that are the section's own. */
  readonly own: ReturnType<typeof ownRanges>;
}

const AROUND = 3;
const MOST_TRIES = 5;

/** Finds sections whose own lines, path or headings have every term. The search index is brought up to date first. */
export async function searchSections(ports: SearchPorts, text: string, limit: number) {
  const query = parseSearchQuery(text);
  const { view, total, found } = await search(ports, query, limit);
  const results: SearchResult[] = [];
  for (const one of found) results.push(await toResult(ports, view, query, one));
  return { query: text, ignored: [...query.ignored], total, results };
}

/** A build may come between the update and the search; then what was found belongs to an index that is gone. */
async function search(ports: SearchPorts, query: SearchQuery, limit: number) {
  for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
    await updateSearch(ports);
    const answer = await ports.store.read(async ({ context }) => {
      const view = await ports.views.open(context);
      if ((await context.searchRevision()) !== view.facts.revision) return null;
      const { total, hits } = await context.search(compileQuery(ports.engine, query), limit);
      const found: Found[] = [];
      for (const hit of hits) {
        const sections = (await view.load(context, hit.path))?.sections;
        const section = sections?.[hit.ordinal];
        if (sections === undefined || section === undefined) throw unfit();
        found.push({ hit, section, own: ownRanges(sections, hit.ordinal) });
      }
      return { view, total, found };
    });
    if (answer !== null) return answer;
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
  query: SearchQuery,
  { hit, section, own }: Found,
): Promise<SearchResult> {
  const { section_id, file_path, heading_path, line_start, line_end } = section;
  const found = await findFirstLine(ports.engine, query, readLines(ports, view, section, own));
  // A match in the path or a heading alone is shown where the section begins.
  const first = found === 0 ? 0 : lineInRanges(own, found) - line_start;
  const lines = line_end - line_start;
  const slice = `lines[${Math.max(0, first - AROUND)}:${Math.min(lines, first + AROUND + 1)}]`;
  return { section_id, file_path, heading_path, line_start, line_end, slice, score: hit.score };
}

/** A file that changed since the build still has an address; only its matching line cannot be known. */
function readLines(ports: SearchPorts, view: IndexView, section: Section, ranges: Found["own"]): string[] {
  try {
    const lines = ports.contents.open(view, section);
    const own: string[] = [];
    for (const [start, end] of ranges) for (let i = start; i < end; i++) own.push(cutLines(lines, i, i + 1));
    return own;
  } catch (thrown) {
    if (isDrift(thrown)) return [];
    throw thrown;
  }
}

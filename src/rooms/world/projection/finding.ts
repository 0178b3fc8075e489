import { VerbatimError } from "../../../core/errors/index.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import { keyOf } from "../history/state.ts";
import { invalidCursor, makeCursor, makeNext, readNext } from "../ids.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { nameOf } from "../people/cast.ts";
import { SEARCH_EXCERPT, toExcerpt } from "../retrieval/excerpt.ts";
import { findTermRanges, queryTerms } from "../retrieval/terms.ts";
import { findMatches } from "../retrieval/world-search.ts";
import { gated, loadWorld, viewerView } from "./reading.ts";

export interface FindQuery {
  readonly viewer: string | null;
  readonly query: string;
  readonly person: string | null;
  readonly from: number | null;
  readonly to: number | null;
  readonly limit: number;
  readonly after: string | null;
}

export interface FoundLine {
  readonly entry_id: string;
  readonly bundle_id: string;
  readonly created_at_world: string;
  readonly visibility_scope: string;
  readonly verbatim_excerpt: string;
  readonly author_id: string;
  readonly author_label: string | null;
  readonly channel: string;
  readonly cursor: string;
  /** UTF-16 positions in the excerpt. */
  readonly matches: readonly (readonly [number, number])[];
}

/** Everything that a question finds, page by page, in the order of a search. */
export async function findLines(
  ports: WorldPorts,
  worldId: string,
  query: FindQuery,
): Promise<{ readonly results: readonly FoundLine[]; readonly next: string | null }> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const viewer = query.viewer ?? world.cast.operator_id;
    const view = viewerView(world, viewer);
    if (query.person !== null) viewerView(world, query.person, "/person");
    const key = keyOf(world.state);
    const scope = ["find", viewer, query.query, query.person ?? "", String(query.from), String(query.to)];
    const last = query.after === null ? null : readNext(ports.crypto, key, scope, query.after);
    if (query.after !== null && last === null) throw invalidCursor("/after");
    const [at] = last === null ? [] : gated(world, view, await tx.world.entriesById(world.number, [last]));
    if (last !== null && at === undefined) throw invalidCursor("/after");
    const asked = {
      query_text: query.query,
      limit: query.limit + 1,
      person_id: query.person,
      from: query.from,
      to: query.to,
      ...(at === undefined ? {} : { after: at.wseq }),
    };
    const { matches } = await findMatches(ports, tx.world, world, view, asked);
    const shown = matches.slice(0, query.limit).map(({ entry }) => entry);
    const terms = new Set(queryTerms(query.query));
    const toFound = (entry: LedgerEntry): FoundLine => {
      const excerpt = toExcerpt(ports.graphemes, entry.text, SEARCH_EXCERPT, terms);
      if (!entry.text.includes(excerpt)) throw new VerbatimError("EXCERPT_NOT_VERBATIM", { where: entry.entry_id });
      return {
        entry_id: entry.entry_id,
        bundle_id: entry.bundle_id,
        created_at_world: entry.created_at_world,
        visibility_scope: entry.visibility.scope,
        verbatim_excerpt: excerpt,
        author_id: entry.author.author_id,
        author_label: entry.channel === "PEOPLE" ? nameOf(world.cast, entry.author.author_id) : null,
        channel: entry.channel,
        cursor: makeCursor(ports.crypto, key, viewer, entry.entry_id),
        matches: findTermRanges(excerpt, terms),
      };
    };
    const end = shown.at(-1);
    const next =
      matches.length > query.limit && end !== undefined ? makeNext(ports.crypto, key, scope, end.entry_id) : null;
    return { results: shown.map(toFound), next };
  });
}

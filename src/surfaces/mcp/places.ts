import type { Output } from "../../app/operations.ts";

type Found = Output<"context.search">;
type Result = Found["results"][number];

/** A call that can be made as it stands. */
interface NextCall {
  readonly tool: "context_search" | "context_expand";
  readonly arguments: Readonly<Record<string, unknown>>;
}

// A section of so many lines is read whole; of a longer one the lines around the match.
const SHORT_SECTION = 60;
const READ_TOGETHER = 3;

/**
 * Results of a search as a model needs them: an address and a slice to pass on, which lines of the file that is, a preview,
 * and the call to make next. Ids, scores and paths that the address says already are left out: every byte is paid for.
 */
export function toPlaces({ total, ignored, closest, results }: Found) {
  return {
    total,
    ...(ignored.length === 0 ? {} : { ignored }),
    results: results.map((one) => ({
      ref: one.ref,
      slice: one.slice,
      lines: linesOf(one),
      ...(one.preview === null ? {} : { preview: one.preview.text }),
    })),
    next: nextCall(results, closest),
  };
}

/** The lines of the file that a result's slice means, counted as editors count. */
function linesOf({ line_start, slice }: Result): string {
  const [, from = "0", to = "0"] = /^lines\[(\d+):(\d+)\]$/.exec(slice) ?? [];
  return `${line_start + Number(from) + 1}-${line_start + Number(to)}`;
}

/** Reads the best places, or searches for what is left of a query that found nothing; null where nothing is. */
function nextCall(results: readonly Result[], closest: string | null): NextCall | null {
  if (results.length === 0) {
    return closest === null ? null : { tool: "context_search", arguments: { query: closest } };
  }
  return { tool: "context_expand", arguments: { refs: results.slice(0, READ_TOGETHER).map(toRef) } };
}

/** An id needs a slice, and so does a section too long to read whole. */
function toRef({ ref, slice, section_id, line_start, line_end }: Result): string {
  return ref === section_id || line_end - line_start > SHORT_SECTION ? `${ref} ${slice}` : ref;
}

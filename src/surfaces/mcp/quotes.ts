import type { Output } from "../../app/operations.ts";
import type { Blocks } from "./answer.ts";

type Expanded = Output<"context.expand">;

/**
 * What was read: a record of each text, and the texts in blocks of their own, exactly as they are and nowhere else. The
 * record names the place and the hash; the receipt in the ledger has the rest under the same hash.
 */
export function toQuotes({ run_id, expansions, budget }: Expanded): Blocks {
  const record = {
    run_id,
    expansions: expansions.map(({ expansion, section, bytes }) => ({
      ...(expansion.symbol_or_section_id.startsWith("@") ? { symbol: expansion.symbol_or_section_id } : {}),
      path: section.file_path,
      ...(section.heading_path.length === 0 ? {} : { heading: section.heading_path }),
      section_lines: section.line_end - section.line_start,
      first_line: section.line_start + firstLine(expansion.slice, section.line_end - section.line_start) + 1,
      slice: expansion.slice,
      bytes,
      content_hash: expansion.content_hash,
    })),
    bytes_left: budget.limits.max_bytes_expanded - budget.used.max_bytes_expanded,
  };
  return { record, texts: expansions.map(({ content }) => content) };
}

/** The line of its section at which a slice begins; a cut by characters is counted from the first line. */
function firstLine(slice: string, lines: number): number {
  const [, form, n = "0"] = /^(lines\[|tail\()(\d+)/.exec(slice) ?? [];
  return form === "lines[" ? Number(n) : form === "tail(" ? lines - Number(n) : 0;
}

import type { Output } from "../../app/operations.ts";
import type { Blocks } from "./answer.ts";

type Expanded = Output<"context.expand">;
type Section = Expanded["expansions"][number]["section"];

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
      first_line: section.line_start + readLines(expansion.slice, section.line_end - section.line_start)[0] + 1,
      slice: expansion.slice,
      bytes,
      content_hash: expansion.content_hash,
    })),
    bytes_left: budget.limits.max_bytes_expanded - budget.used.max_bytes_expanded,
    ...nextCall(expansions),
  };
  return { record, texts: expansions.map(({ content }) => content) };
}

// An excerpt is widened to about as much as a path gives by itself, and a longer piece is continued by as much again.
const AROUND = 36;
const PIECE = 80;
const EXCERPT = 40;
// A path that is an address as it stands.
const PLAIN_PATH = /^[\w./-]+\.\w+$/;

/** The call that shows more of what was read in part, if anything was. */
function nextCall(expansions: Expanded["expansions"]) {
  const refs = [...new Set(expansions.flatMap((one) => moreOf(one) ?? []))].slice(0, 3);
  return refs.length === 0 ? {} : { more: { tool: "context_expand", arguments: { refs } } };
}

function moreOf({ expansion, section }: Expanded["expansions"][number]): string | null {
  const lines = section.line_end - section.line_start;
  const [from, to] = readLines(expansion.slice, lines);
  if (from === 0 && to >= lines) return aroundOf(section);
  const isExcerpt = to - from < EXCERPT;
  const [first, last] = isExcerpt ? [Math.max(0, from - AROUND), to + AROUND] : [to, to + PIECE];
  // What ends with the section has nothing after it.
  if (first >= lines) return null;
  return `${addressOf(section)} lines[${first}:${Math.min(lines, last)}]`;
}

/** A section that was read whole stands in a file: what is before it, or the beginning of the file with it. */
function aroundOf({ file_path, heading_path, line_start, line_end }: Section): string | null {
  if (heading_path.length === 0 || !PLAIN_PATH.test(file_path)) return null;
  return line_end <= PIECE ? file_path : `${file_path} lines[${Math.max(0, line_start - EXCERPT)}:${line_end}]`;
}

/** The lines of a section that a slice means; a cut by characters has them all as far as lines can tell. */
function readLines(slice: string, lines: number): readonly [number, number] {
  const [, form = "", a = "0", b] = /^(\w+)[[(](\d+)(?::(\d+))?[\])]$/.exec(slice) ?? [];
  if (form === "lines") return [Number(a), Number(b)];
  if (form === "head") return [0, Number(a)];
  return form === "tail" ? [lines - Number(a), lines] : [0, lines];
}

/** A file by its path where that can be written as it is, everything else by its id. */
function addressOf({ file_path, heading_path, section_id }: Section): string {
  return heading_path.length === 0 && PLAIN_PATH.test(file_path) ? file_path : section_id;
}

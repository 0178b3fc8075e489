import { sortedByCodePoint } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { showPath } from "../../../core/paths/index.ts";
import type { IndexView } from "../index/index-view.ts";
import type { ContextReader } from "../ports.ts";

const MOST_CANDIDATES = 20;

/** Whether a text can be the beginning of a section id, as tables print it. */
export function isShortId(text: string): boolean {
  return /^[0-9a-f]{4,63}$/.test(text);
}

/** The full id that begins with these digits; SECTION_NOT_FOUND, or SECTION_AMBIGUOUS with the candidates. */
export async function completeId(context: ContextReader, view: IndexView, digits: string): Promise<string> {
  const found = await view.findBeginning(context, digits, MOST_CANDIDATES + 1);
  const [section] = found;
  if (section === undefined) {
    throw new VerbatimError("SECTION_NOT_FOUND", {
      message: `there is no section whose id starts with ${digits}`,
      where: digits,
      details: { section_id: digits },
    });
  }
  if (found.length === 1) return section.section_id;
  const shown = found.slice(0, MOST_CANDIDATES);
  const list = sortedByCodePoint(
    shown.map((one) => `${one.section_id} (${showPath(one.file_path)}, lines ${one.line_start}..${one.line_end})`),
  );
  const more = found.length > shown.length ? `, the first ${shown.length} of them` : "";
  throw new VerbatimError("SECTION_AMBIGUOUS", {
    message: `several section ids start with ${digits}${more}: ${list.join(", ")}`,
    where: digits,
    details: { section_id: digits, candidates: sortedByCodePoint(shown.map(({ section_id }) => section_id)) },
  });
}

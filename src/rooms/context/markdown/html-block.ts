import { GREATER_THAN, isAlphanumeric, isLetter, isSpace, QUESTION, SLASH } from "./characters.ts";
import { scanTag } from "./html-tag.ts";

/** The seven kinds of HTML blocks of CommonMark, by number; 0 is none. */
export type HtmlKind = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

const VERBATIM_NAMES: ReadonlySet<string> = new Set(["script", "pre", "textarea", "style"]);

const BLOCK_NAMES: ReadonlySet<string> = new Set(
  (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt " +
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li " +
    "link main menu menuitem nav noframes ol optgroup option p param section search summary table tbody td tfoot th " +
    "thead title tr track ul"
  ).split(" "),
);

const LONGEST_NAME = 10;
const VERBATIM_END = /<\/(?:script|pre|textarea|style)>/i;

/** The kind of HTML block that a line starts whose first `<` is at an offset. */
export function htmlBlockKind(text: string, at: number, end: number): HtmlKind {
  const code = at + 1 < end ? text.charCodeAt(at + 1) : -1;
  if (code === 33) return declarationKind(text, at + 2, end);
  if (code === QUESTION) return 3;
  const closing = code === SLASH;
  const start = closing ? at + 2 : at + 1;
  let i = start;
  while (i < end && i - start <= LONGEST_NAME && isAlphanumeric(text.charCodeAt(i))) i++;
  const name = text.slice(start, i).toLowerCase();
  const after = i < end ? text.charCodeAt(i) : -1;
  const ends = after === -1 || after === GREATER_THAN || isSpace(after);
  if (ends && !closing && VERBATIM_NAMES.has(name)) return 1;
  const closesItself = after === SLASH && i + 1 < end && text.charCodeAt(i + 1) === GREATER_THAN;
  if ((ends || closesItself) && BLOCK_NAMES.has(name)) return 6;
  return isLoneTag(text, at, end) ? 7 : 0;
}

function declarationKind(text: string, at: number, end: number): HtmlKind {
  if (at + 2 <= end && text.startsWith("--", at)) return 2;
  if (at < end && isLetter(text.charCodeAt(at))) return 4;
  return at + 7 <= end && text.startsWith("[CDATA[", at) ? 5 : 0;
}

function isLoneTag(text: string, at: number, end: number): boolean {
  let i = scanTag(text, at, end);
  if (i === -1) return false;
  while (i < end && isSpace(text.charCodeAt(i))) i++;
  return i === end;
}

/** Whether a block of kind 1 to 5 ends on the line `at..end`. Kinds 6 and 7 end before a blank line. */
export function endsHtmlBlock(kind: HtmlKind, text: string, at: number, end: number): boolean {
  const line = text.slice(at, end);
  switch (kind) {
    case 1:
      return VERBATIM_END.test(line);
    case 2:
      return line.includes("-->");
    case 3:
      return line.includes("?>");
    case 4:
      return line.includes(">");
    case 5:
      return line.includes("]]>");
    default:
      return false;
  }
}

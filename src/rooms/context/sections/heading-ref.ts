import { codePointLength, decodeUtf8, encodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";

/** A reference to a heading: a file and the texts of the whole heading path. */
export interface HeadingRef {
  readonly file_path: string;
  readonly parts: readonly string[];
  /** The one spelling that is stored and compared. */
  readonly canonical: string;
}

/** Characters of a `target_ref`. */
export const LONGEST_TARGET_REF = 4096;

const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const ESCAPED_IN_PATH = /[\x00-\x1f\x7f%#]/g;
const ESCAPED_IN_PART = /[\x00-\x1f\x7f%#/]/g;

/**
 * Parses `path#Part/Part/...`, or throws TARGET_SYNTAX.
 *
 * @example
 * parseHeadingRef("docs/tides.md#Tides/Low").parts; // => ["Tides", "Low"]
 */
export function parseHeadingRef(target_ref: string): HeadingRef {
  if (codePointLength(target_ref) > LONGEST_TARGET_REF) {
    throw targetSyntax(target_ref, `is longer than ${LONGEST_TARGET_REF} characters`);
  }
  const [left, right, ...more] = target_ref.split("#");
  if (right === undefined) throw targetSyntax(target_ref, "has no #");
  if (more.length > 0) throw targetSyntax(target_ref, "has more than one #; inside a part, write it as %23");
  if (left === "") throw targetSyntax(target_ref, "does not name a file before the #");
  const file_path = decodePercent(left!, target_ref);
  const parts = right.split("/").map((part) => decodePercent(part, target_ref));
  const canonical = formatHeadingRef(file_path, parts);
  // Escapes make a text longer; what is stored obeys the limit as well.
  if (codePointLength(canonical) > LONGEST_TARGET_REF) {
    throw targetSyntax(target_ref, `is longer than ${LONGEST_TARGET_REF} characters when it is written with escapes`);
  }
  return { file_path, parts, canonical };
}

/** The path of a file that an address without `#` names, with its escapes undone, or TARGET_SYNTAX. */
export function parseFileRef(ref: string): string {
  if (codePointLength(ref) > LONGEST_TARGET_REF) {
    throw targetSyntax(ref, `is longer than ${LONGEST_TARGET_REF} characters`);
  }
  return decodePercent(ref, ref);
}

/**
 * The canonical form: only what would be misread is escaped, with upper-case hex.
 *
 * @example
 * formatHeadingRef("docs/tides.md", ["High/Low"]); // => "docs/tides.md#High%2FLow"
 */
export function formatHeadingRef(file_path: string, parts: readonly string[]): string {
  const path = file_path.replace(ESCAPED_IN_PATH, escapeCharacter);
  return `${path}#${parts.map((part) => part.replace(ESCAPED_IN_PART, escapeCharacter)).join("/")}`;
}

/** TARGET_SYNTAX about a reference. */
export function targetSyntax(target_ref: string, problem: string): VerbatimError {
  const shown = target_ref.length > 120 ? `${target_ref.slice(0, 120)}…` : target_ref;
  return new VerbatimError("TARGET_SYNTAX", {
    message: `the target ${JSON.stringify(shown)} ${problem}`,
    where: "/target_ref",
  });
}

/** The text with every `%XX` replaced by its byte, read as UTF-8. */
function decodePercent(text: string, target_ref: string): string {
  if (!text.isWellFormed()) throw targetSyntax(target_ref, "is not valid Unicode");
  if (!text.includes("%")) return text;
  if (BAD_ESCAPE.test(text))
    throw targetSyntax(target_ref, "has a % that is not followed by two hex digits; write %25");
  const bytes = encodeUtf8(text);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const isEscape = bytes[i] === 0x25;
    bytes[length++] = isEscape ? Number.parseInt(String.fromCharCode(bytes[i + 1]!, bytes[i + 2]!), 16) : bytes[i]!;
    if (isEscape) i += 2;
  }
  const decoded = decodeUtf8(bytes.subarray(0, length));
  if (decoded === null) throw targetSyntax(target_ref, "has escapes that are not UTF-8");
  return decoded;
}

function escapeCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}

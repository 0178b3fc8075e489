import { decodeUtf8, encodeUtf8, findIllFormed, foldLineEnds } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { showPath } from "../../../core/paths/index.ts";
import type { SourceProblem } from "../ports.ts";

/** The content of a source file: its text with line ends folded to LF, and the UTF-8 bytes of that text. */
export interface SourceContent {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/**
 * Decodes a source file strictly and folds its line ends; a byte order mark stays. Ill-formed bytes are
 * SOURCE_NOT_UTF8. Without a carriage return the given bytes are the content's bytes, not copied.
 */
export function decodeSource(bytes: Uint8Array, file_path: string): SourceContent {
  const text = decodeUtf8(bytes);
  if (text === null) {
    const byte_offset = findIllFormed(bytes);
    throw new VerbatimError("SOURCE_NOT_UTF8", {
      message: `${showPath(file_path)} is not valid UTF-8 at byte ${byte_offset}`,
      where: `${file_path}@${byte_offset}`,
      details: { file_path, byte_offset },
    });
  }
  return text.includes("\r") ? toSourceContent(text) : { text, bytes };
}

/** The content that a text is, once its line ends are folded. */
export function toSourceContent(text: string): SourceContent {
  const folded = foldLineEnds(text);
  return { text: folded, bytes: encodeUtf8(folded) };
}

/** The error of a build that met files it cannot index: all of them, in path order. */
export function sourcesInvalid(problems: readonly SourceProblem[]): VerbatimError {
  const first = problems[0]!;
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : "";
  return new VerbatimError("INDEX_SOURCES_INVALID", {
    message: `${showPath(first.file_path)} cannot be indexed (${first.code})${more}; the previous index was kept`,
    where: first.byte_offset === undefined ? first.file_path : `${first.file_path}@${first.byte_offset}`,
    fix: `Fix each of the files listed, or add it to context.exclude${waysOn(problems)}.`,
    details: { problems },
  });
}

/** Ways on that only some problems have. */
function waysOn(problems: readonly SourceProblem[]): string {
  const has = (wanted: SourceProblem["code"]) => problems.some(({ code }) => code === wanted);
  const large = has("SOURCE_TOO_LARGE") ? "; for a large one, raise context.max_file_bytes" : "";
  const secret = has("SOURCE_SECRET") ? "; for one that is not a secret, name it in context.secrets.allow" : "";
  return large + secret;
}

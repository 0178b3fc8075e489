import { type ArtifactFinding, sortedByLine, toVerdict, type Verdict } from "./finding.ts";
import { Fences, isBlank, readLines } from "./text.ts";

export const REASONS_FILE = "artifacts/REASONS.md";

/** One reason: its first line and the ids it refers to. */
export interface Reason {
  readonly line: number;
  readonly refs: readonly string[];
}

const ITEM = /^ ?(?:[-*+]|[0-9]+[.)])(?:[ \t]|$)/;
const CONTINUATION = /^(?: {2}|\t)/;
const REF = /(?<![A-Za-z0-9_])[BR][0-9]{3}(?![A-Za-z0-9_])/g;

/** Every reason of REASONS.md, also of one that is not valid. */
export function readReasons(lines: readonly string[]): Reason[] {
  const reasons: { line: number; refs: Set<string> }[] = [];
  const fences = new Fences();
  let current: { refs: Set<string> } | null = null;
  for (const [i, text] of lines.entries()) {
    if (fences.covers(text)) continue;
    if (ITEM.test(text)) {
      const reason = { line: i + 1, refs: new Set<string>() };
      reasons.push(reason);
      current = reason;
    } else if (isBlank(text) || !CONTINUATION.test(text)) current = null;
    if (current !== null) for (const [ref] of text.matchAll(REF)) current.refs.add(ref);
  }
  return reasons.map(({ line, refs }) => ({ line, refs: [...refs] }));
}

/**
 * Judges REASONS.md (Artifact Contracts F.1): every reason refers to a behaviour or a result.
 *
 * @example
 * validateReasons("- because\n").errors[0]?.code; // => "REASON_NO_REF"
 */
export function validateReasons(bytes: Uint8Array | string, file = REASONS_FILE): Verdict<readonly Reason[]> {
  const { lines, error } = readLines(bytes, file);
  if (error !== null) return toVerdict<readonly Reason[]>([error], [], null);
  const reasons = readReasons(lines);
  const errors: ArtifactFinding[] = reasons
    .filter(({ refs }) => refs.length === 0)
    .map(({ line }) => ({
      code: "REASON_NO_REF",
      file,
      line,
      message: "the reason does not name a B### or R### id",
      fix: "Say which behaviour or result it is for.",
    }));
  if (reasons.length === 0) {
    errors.push({
      code: "REASONS_EMPTY",
      file,
      line: null,
      message: "there are no reasons",
      fix: 'Write list items like "- R001: why".',
    });
  }
  return toVerdict(sortedByLine(errors), [], reasons);
}

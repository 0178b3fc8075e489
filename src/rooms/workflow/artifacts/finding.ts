import { compareCodePoints } from "../../../core/canonical/index.ts";

/** One thing that is wrong with an artifact, at a line of its file (null: something is absent). */
export interface ArtifactFinding {
  readonly code: string;
  /** Run-relative path of the artifact. */
  readonly file: string;
  readonly line: number | null;
  /** The key, field or section the finding is about. */
  readonly key?: string;
  /** The item of a list, or the name of what is missing. */
  readonly item?: string;
  /** RFC 6901 pointer, JSON artifacts only. */
  readonly at?: string;
  readonly message: string;
  readonly fix: string;
}

/** What a validator answers. `value` is null unless the artifact is valid. */
export interface Verdict<T> {
  readonly ok: boolean;
  readonly errors: readonly ArtifactFinding[];
  readonly warnings: readonly ArtifactFinding[];
  readonly value: T | null;
}

/** Sorted by line (absent things last), then key in the artifact's own order, then code, then item. */
export function sortedByLine(findings: readonly ArtifactFinding[], keys: readonly string[] = []): ArtifactFinding[] {
  const rank = (key: string | undefined) => {
    const at = key === undefined ? -1 : keys.indexOf(key);
    return key !== undefined && at === -1 ? keys.length : at;
  };
  return [...findings].sort(
    (a, b) =>
      (a.line ?? Number.POSITIVE_INFINITY) - (b.line ?? Number.POSITIVE_INFINITY) ||
      rank(a.key) - rank(b.key) ||
      compareCodePoints(a.key ?? "", b.key ?? "") ||
      compareCodePoints(a.code, b.code) ||
      compareCodePoints(a.item ?? "", b.item ?? ""),
  );
}

/** Sorted by pointer, then code, then item. */
export function sortedByPointer(findings: readonly ArtifactFinding[]): ArtifactFinding[] {
  return [...findings].sort(
    (a, b) =>
      compareCodePoints(a.at ?? "", b.at ?? "") ||
      compareCodePoints(a.code, b.code) ||
      compareCodePoints(a.item ?? "", b.item ?? ""),
  );
}

/** The verdict of a validator; the value counts only without errors. */
export function toVerdict<T>(
  errors: readonly ArtifactFinding[],
  warnings: readonly ArtifactFinding[],
  value: T | null,
): Verdict<T> {
  const ok = errors.length === 0;
  return { ok, errors, warnings, value: ok ? value : null };
}

/** What a finding says, with the field it is about: `/budget/max_files is missing`. */
export function sayFinding({ at, message }: Pick<ArtifactFinding, "at" | "message">): string {
  return at === undefined || at === "" ? message : `${at} ${message}`;
}

/**
 * A finding as one line of text: `artifacts/PLAN.md:4: error PLAN_GATE_MISSING ...`.
 *
 * @example
 * const [finding] = validateGuardrails("").errors;
 * if (finding !== undefined) console.log(formatFinding(finding, "error"));
 */
export function formatFinding(finding: ArtifactFinding, level: "error" | "warning"): string {
  const place = finding.line === null ? finding.file : `${finding.file}:${finding.line}`;
  return `${place}: ${level} ${finding.code} ${sayFinding(finding)}`;
}

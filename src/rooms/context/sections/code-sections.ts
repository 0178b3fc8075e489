import { compareCodePoints } from "../../../core/canonical/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { Section } from "../contracts/index.ts";
import type { CodeDefinition } from "../ports.ts";
import type { SourceContent } from "../sources/source.ts";
import type { TakeSection } from "./section-rows.ts";
import { sectionId } from "./section-rows.ts";

/**
 * Hands over one section for each definition of a file of code, in index order. Definitions with the same lines and names
 * of the same number come in the order of their names, so no parser decides it. Cost: one pass over the bytes, and one hash
 * of each definition's.
 */
export function eachCodeSection(
  crypto: SyncCrypto,
  whole: Section,
  { bytes }: SourceContent,
  definitions: readonly CodeDefinition[],
  take: TakeSection,
): void {
  const { file_path, line_end: lines } = whole;
  const starts = lineStarts(bytes);
  const made: Section[] = [];
  for (const { line_start, line_end: end, path } of [...definitions].sort(compareDefinitions)) {
    const line_end = Math.min(end, lines);
    // What the parser adds to repair a text may lie behind its end.
    if (line_start >= line_end) continue;
    const from = starts[line_start]!;
    const to = starts[line_end] ?? bytes.length;
    const heading_path = [...path];
    const last = made.pop();
    if (last?.line_start === line_start && last.line_end === line_end) {
      take({ ...last, heading_path }, to - from);
      made.push(last);
      continue;
    }
    const isWhole = line_start === 0 && line_end === lines;
    const content_hash = isWhole ? whole.content_hash : crypto.sha256(bytes.subarray(from, to));
    const section_id = sectionId(crypto, file_path, line_start, line_end, content_hash);
    const section = { section_id, file_path, heading_path, line_start, line_end, content_hash };
    made.push(section);
    take(section, to - from);
  }
}

function compareDefinitions(a: CodeDefinition, b: CodeDefinition): number {
  const order = a.line_start - b.line_start || b.line_end - a.line_end || a.path.length - b.path.length;
  if (order !== 0) return order;
  for (let i = 0; i < a.path.length; i++) {
    const names = compareCodePoints(a.path[i]!, b.path[i]!);
    if (names !== 0) return names;
  }
  return 0;
}

/** Where each line begins; after a final line feed none does. */
function lineStarts(bytes: Uint8Array): number[] {
  const starts: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    starts.push(at);
    const lineFeed = bytes.indexOf(0x0a, at);
    at = lineFeed === -1 ? bytes.length : lineFeed + 1;
  }
  return starts;
}

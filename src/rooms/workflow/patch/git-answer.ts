import { decodeUtf8, sortedByCodePoint } from "../../../core/canonical/index.ts";
import type { PatchSection } from "./patch-section.ts";

const decoder = new TextDecoder();

/**
 * Compares what `git apply --check --numstat --summary -z` prints with what the gate read. Returns what differs, or
 * null. Names must be our new side (old side for deletions), counts and operations ours.
 */
export function findGitMismatch(output: Uint8Array, sections: readonly PatchSection[]): string | null {
  const { records, summary } = splitOutput(output, sections.length);
  if (records.length !== sections.length) return `git sees ${records.length} files, the gate sees ${sections.length}`;
  for (const [i, section] of sections.entries()) {
    const wanted = `${section.added}\t${section.deleted}\t${section.operation === "delete" ? section.old_path : section.new_path}`;
    if (records[i] !== wanted)
      return `git counts ${JSON.stringify(records[i])}, the gate counts ${JSON.stringify(wanted)}`;
  }
  const expected = sortedByCodePoint(sections.flatMap(toSummaryKinds));
  const actual = sortedByCodePoint(summary.filter((line) => !line.startsWith(" rewrite ")).map(toSummaryKind));
  if (expected.join("\n") !== actual.join("\n")) {
    return `git announces ${JSON.stringify(actual)}, the gate expects ${JSON.stringify(expected)}`;
  }
  return null;
}

/** With -z the counts are NUL-terminated records; the summary follows as lines. */
function splitOutput(output: Uint8Array, most: number): { readonly records: string[]; readonly summary: string[] } {
  const records: string[] = [];
  let at = 0;
  while (records.length <= most) {
    const end = output.indexOf(0, at);
    if (end === -1) break;
    records.push(decodeUtf8(output.subarray(at, end)) ?? "(not UTF-8)");
    at = end + 1;
  }
  const rest = decoder.decode(output.subarray(at));
  return { records, summary: rest.split("\n").filter((line) => line !== "") };
}

// A rewrite line only repeats the similarity. Names in the summary are quoted or shortened (`src/{a => b}`); the counts have already compared them exactly.
function toSummaryKind(line: string): string {
  const match =
    /^ (create mode [0-7]{6}|delete mode [0-7]{6}|rename|copy|mode change [0-7]{6} => [0-7]{6})(?: |$)/.exec(line);
  return match?.[1] ?? line;
}

function toSummaryKinds(section: PatchSection): string[] {
  const changed =
    section.old_mode !== null && section.new_mode !== null
      ? [`mode change ${section.old_mode} => ${section.new_mode}`]
      : [];
  switch (section.operation) {
    case "create":
      return [`create mode ${section.new_mode}`];
    case "delete":
      return [`delete mode ${section.old_mode}`];
    case "rename":
    case "copy":
      return [section.operation, ...changed];
    case "modify":
      return changed;
  }
}

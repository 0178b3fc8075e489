import { concatBytes, sortedUnique } from "../../../core/canonical/index.ts";
import { isUnder } from "../../../core/paths/index.ts";
import { PatchLines } from "./patch-lines.ts";
import { type HeaderNames, readHeaderOperands } from "./patch-section.ts";
import { PatchRefused } from "./rejection.ts";

const HEADER = "diff --git ";

/**
 * A patch without the sections that change nothing but left-out paths, binary ones included. No line of a hunk or of a
 * binary payload begins like a header, so the rest is byte for byte what it was. What cannot be read stays in: the gate
 * judges it.
 */
export function dropSections(
  patch: Uint8Array,
  leaveOut: readonly string[],
): { readonly patch: Uint8Array; readonly left_out: readonly string[] } {
  const entries = leaveOut.map((entry) => entry.replace(/\/+$/, ""));
  const isLeftOut = (path: string) => entries.some((entry) => isUnder(path, entry));
  const lines = new PatchLines(patch);
  const kept: Uint8Array[] = [];
  const dropped: string[] = [];
  let start = 0;
  let names = readNames(lines, 0);
  for (let at = 1; at <= lines.count; at++) {
    if (at < lines.count && !lines.startsWith(at, HEADER)) continue;
    if (names !== null && isLeftOut(names.old) && isLeftOut(names.new)) dropped.push(names.old, names.new);
    else kept.push(lines.slice(start, at));
    start = at;
    names = at < lines.count ? readNames(lines, at) : null;
  }
  return dropped.length === 0 ? { patch, left_out: [] } : { patch: concatBytes(kept), left_out: sortedUnique(dropped) };
}

/** The names of a section that is about one path; null for everything else. */
function readNames(lines: PatchLines, header: number): HeaderNames | null {
  if (!lines.startsWith(header, HEADER)) return null;
  try {
    return readHeaderOperands(lines.text(header).slice(HEADER.length), header + 1, null, false, "posix");
  } catch (thrown) {
    if (thrown instanceof PatchRefused) return null;
    throw thrown;
  }
}

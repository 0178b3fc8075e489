import { concatBytes, encodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { CandidateHunk } from "../contracts/candidate.ts";
import { PatchLines } from "../patch/patch-lines.ts";
import { parsePatch } from "../patch/patch-parser.ts";
import type { PatchSection } from "../patch/patch-section.ts";

/** Lines of the old text that others take the place of. Lines have their line feed, unless the file ends without one. */
export interface Edit {
  /** How many old lines stand before. */
  readonly at: number;
  readonly remove: readonly Uint8Array[];
  readonly insert: readonly Uint8Array[];
}

/** A hunk as it is recorded, and what it does. Part `n.k` is the k-th edit. */
export interface Hunk {
  readonly facts: CandidateHunk;
  /** Its lines as the patch has them, the header first. */
  readonly bytes: Uint8Array;
  readonly edits: readonly Edit[];
}

/** What a patch says about one file. */
export interface FileHunks {
  readonly section: PatchSection;
  readonly hunks: readonly Hunk[];
}

/**
 * The hunks of a text patch, by path and numbered from 1 in each. The patch is one that git made with three lines of
 * context; what the gate would refuse is refused here in the same way. Cost: linear in the patch.
 */
export function readHunks(patch: Uint8Array, crypto: SyncCrypto): ReadonlyMap<string, FileHunks> {
  const lines = new PatchLines(patch);
  const sections = parsePatch(patch);
  return new Map(
    sections.map((section, i) => {
      const end = sections[i + 1]?.line ?? lines.count + 1;
      return [section.new_path, { section, hunks: readSection(lines, section, end - 1, crypto) }];
    }),
  );
}

const HEADER = /^@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@/;

function readSection(lines: PatchLines, section: PatchSection, end: number, crypto: SyncCrypto): Hunk[] {
  const hunks: Hunk[] = [];
  // Before the first hunk no line of a section begins like its header; inside one it is counted out.
  let at = section.line;
  while (at < end && !lines.startsWith(at, "@@ ")) at++;
  while (at < end && lines.startsWith(at, "@@ ")) {
    const [, oldStart, oldLines = "1", newStart, newLines = "1"] = HEADER.exec(lines.text(at))!;
    const body = readBody(lines, at + 1, Number(oldLines), Number(newLines));
    const n = hunks.length + 1;
    const old_start = Number(oldStart);
    const new_start = Number(newStart);
    // Without old lines the header names the line before them, else the first of them.
    const before = { old: old_start - (oldLines === "0" ? 0 : 1), new: new_start - (newLines === "0" ? 0 : 1) };
    const { edits, parts } = toEdits(body.marked, before, n);
    const id = crypto.sha256(
      concatBytes([encodeUtf8(`${section.new_path}\0${old_start}\0`), lines.slice(at + 1, body.end)]),
    );
    hunks.push({
      facts: {
        n,
        id: `h_${id.slice(0, 12)}`,
        old_start,
        old_lines: Number(oldLines),
        new_start,
        new_lines: Number(newLines),
        added: sum(edits, ({ insert }) => insert.length),
        deleted: sum(edits, ({ remove }) => remove.length),
        ...(parts.length > 1 ? { parts } : {}),
      },
      edits,
      bytes: lines.slice(at, body.end),
    });
    at = body.end;
  }
  return hunks;
}

interface MarkedLine {
  readonly mark: " " | "-" | "+";
  readonly bytes: Uint8Array;
}

/** The lines of a hunk with their line feeds; the parser has counted them before. */
function readBody(lines: PatchLines, start: number, oldLines: number, newLines: number) {
  const marked: MarkedLine[] = [];
  let [at, old, next] = [start, oldLines, newLines];
  while (old > 0 || next > 0) {
    const first = lines.first(at);
    // git writes an empty line of context as a space; a bare line feed means the same.
    const mark = first === 0x2d ? "-" : first === 0x2b ? "+" : " ";
    const bytes = lines.slice(at, at + 1).subarray(first === -1 ? 0 : 1);
    at++;
    const isCut = lines.first(at) === 0x5c;
    marked.push({ mark, bytes: isCut ? bytes.subarray(0, -1) : bytes });
    if (isCut) at++;
    if (mark !== "+") old--;
    if (mark !== "-") next--;
  }
  return { marked, end: at };
}

type Parts = NonNullable<CandidateHunk["parts"]>;

/** Changes that unchanged lines keep apart, each at its line of the old text. */
function toEdits(marked: readonly MarkedLine[], before: { readonly old: number; readonly new: number }, n: number) {
  const edits: Edit[] = [];
  const parts: Parts = [];
  let { old, new: next } = before;
  for (let i = 0; i < marked.length; ) {
    if (marked[i]!.mark === " ") {
      old++;
      next++;
      i++;
      continue;
    }
    const remove: Uint8Array[] = [];
    const insert: Uint8Array[] = [];
    for (; i < marked.length && marked[i]!.mark !== " "; i++) {
      (marked[i]!.mark === "-" ? remove : insert).push(marked[i]!.bytes);
    }
    edits.push({ at: old, remove, insert });
    parts.push({
      n: `${n}.${edits.length}`,
      old_start: old + (remove.length === 0 ? 0 : 1),
      old_lines: remove.length,
      new_start: next + (insert.length === 0 ? 0 : 1),
      new_lines: insert.length,
      added: insert.length,
      deleted: remove.length,
    });
    old += remove.length;
    next += insert.length;
  }
  return { edits, parts };
}

/**
 * A text with some edits made at their exact lines, without looking for them elsewhere. What an edit removes must stand
 * there byte for byte. Cost: linear in text and edits.
 */
export function applyEdits(base: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const lines = splitLines(base);
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const edit of [...edits].sort((a, b) => a.at - b.at)) {
    const fits = edit.at >= at && edit.remove.every((line, i) => isSame(line, lines[edit.at + i]));
    if (!fits || edit.at > lines.length) {
      throw new VerbatimError("INTERNAL", { message: `the base does not have the lines of a hunk at ${edit.at + 1}` });
    }
    for (const line of lines.slice(at, edit.at)) parts.push(line);
    for (const line of edit.insert) parts.push(line);
    at = edit.at + edit.remove.length;
  }
  return concatBytes([...parts, ...lines.slice(at)]);
}

/** The lines of a text with their line feeds. */
function splitLines(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const feed = bytes.indexOf(0x0a, at);
    const end = feed === -1 ? bytes.length : feed + 1;
    lines.push(bytes.subarray(at, end));
    at = end;
  }
  return lines;
}

function isSame(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

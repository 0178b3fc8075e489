import type { Output } from "../../../api/client.ts";
import type { Comment, Place } from "../comments/place.ts";

export type DiffFile = Output<"agent.diff">["files"][number];
export type DiffHunk = DiffFile["hunks"][number];
export type DiffLine = DiffHunk["lines"][number];

/** A line with where it stands in both files; null on the side that does not have it. */
export interface PlacedLine {
  readonly kind: DiffLine["kind"];
  readonly text: string;
  readonly noEol: boolean;
  readonly old: number | null;
  readonly new: number | null;
  /** The part that differs from its partner, from and to; null: no partner, or the whole line differs. */
  readonly differs: readonly [number, number] | null;
  /** Its name for colours: hunk and position. */
  readonly at: string;
}

export type Row =
  | { readonly type: "file"; readonly file: DiffFile; readonly n: number }
  | { readonly type: "whole"; readonly file: DiffFile }
  | { readonly type: "large"; readonly file: DiffFile; readonly lines: number }
  | { readonly type: "finding"; readonly file: DiffFile; readonly says: string; readonly line: number | null }
  | {
      readonly type: "gap";
      readonly file: DiffFile;
      readonly from: number;
      readonly to: number;
      readonly shift: number;
    }
  | {
      readonly type: "hunk";
      readonly file: DiffFile;
      readonly hunk: DiffHunk;
      readonly n: number;
      readonly of: number;
      readonly onlySpace: boolean;
    }
  | { readonly type: "line"; readonly file: DiffFile; readonly line: PlacedLine }
  | { readonly type: "comment"; readonly file: DiffFile; readonly comment: Comment }
  | { readonly type: "composer"; readonly file: DiffFile; readonly place: Place }
  | {
      readonly type: "pair";
      readonly file: DiffFile;
      readonly left: PlacedLine | null;
      readonly right: PlacedLine | null;
    };

/** Lines that somebody unfolded between two hunks, by the first line of the old file. */
export type Unfolded = ReadonlyMap<string, ReadonlyMap<number, string>>;

export interface View {
  readonly split: boolean;
  /** Files that were viewed, and are folded. */
  readonly folded: ReadonlySet<string>;
  readonly unfolded: Unfolded;
  /** Whether hunks that change nothing but whitespace are folded. */
  readonly foldsSpace: boolean;
  /** Very long files that somebody asked for. */
  readonly opened: ReadonlySet<string>;
  /** What was said about the change as it is shown. */
  readonly comments?: readonly Comment[];
  /** Where somebody is writing. */
  readonly composing?: Place | null;
}

/** Longer changes of one file are drawn when somebody asks for them. */
const LARGE = 20_000;

/** Pages put together: a file that two pages share is one file, and so is a hunk. */
export function joinPages(pages: readonly Output<"agent.diff">[]): DiffFile[] {
  const files: DiffFile[] = [];
  for (const page of pages) {
    for (const file of page.files) {
      const last = files.at(-1);
      if (last === undefined || last.path !== file.path) files.push(file);
      else files[files.length - 1] = { ...last, hunks: joinHunks(last.hunks, file.hunks) };
    }
  }
  return files;
}

function joinHunks(first: readonly DiffHunk[], second: readonly DiffHunk[]): DiffHunk[] {
  const [next, ...rest] = second;
  const last = first.at(-1);
  if (next === undefined || last === undefined || last.id !== next.id) return [...first, ...second];
  return [...first.slice(0, -1), { ...last, lines: [...last.lines, ...next.lines] }, ...rest];
}

/** The whole change as rows, in the order in which it is read. Linear in its lines. */
export function toRows(files: readonly DiffFile[], view: View): Row[] {
  const all: Row[] = [];
  files.forEach((file, n) => {
    const rows: Row[] = [];
    addFile(rows, file, n, view);
    for (const row of addWhatWasSaid(rows, file, view)) all.push(row);
  });
  return all;
}

/** Comments and what is being written, below what they are about; below the name of the file where that is not on the screen. */
function addWhatWasSaid(rows: Row[], file: DiffFile, { comments = [], composing = null }: View): Row[] {
  const own = comments.filter(({ at }) => at.path === file.path);
  const isWriting = composing?.path === file.path;
  if (own.length === 0 && !isWriting) return rows;
  const said: { readonly place: Place; readonly row: Row }[] = own.map((comment) => ({
    place: comment.at,
    row: { type: "comment", file, comment },
  }));
  if (isWriting) said.push({ place: composing, row: { type: "composer", file, place: composing } });
  const after = new Map<number, Row[]>();
  for (const { place, row } of said) {
    const found = place.to === null ? -1 : rows.findLastIndex((one) => isLine(one, place.side, place.to!));
    const at = Math.max(found, 0);
    after.set(at, [...(after.get(at) ?? []), row]);
  }
  return rows.flatMap((row, at) => [row, ...(after.get(at) ?? [])]);
}

function isLine(row: Row, side: Place["side"], n: number): boolean {
  if (row.type === "line") return (side === "result" ? row.line.new : row.line.old) === n;
  if (row.type !== "pair") return false;
  return (side === "result" ? row.right?.new : row.left?.old) === n;
}

/** Names of rows that stay theirs when others come and go, so that a measured height stays with its row. */
export function keysOf(rows: readonly Row[]): string[] {
  let findings = 0;
  return rows.map((row) => {
    const path = row.file.path;
    switch (row.type) {
      case "hunk":
        return `hunk ${row.hunk.id} ${path}`;
      case "line":
        return `line ${row.line.at} ${path}`;
      case "pair":
        return `pair ${row.left?.at ?? ""} ${row.right?.at ?? ""} ${path}`;
      case "gap":
        return `gap ${row.from} ${path}`;
      case "comment":
        return `comment ${row.comment.id}`;
      case "finding":
        return `finding ${findings++}`;
      default:
        return `${row.type} ${path}`;
    }
  });
}

function addFile(rows: Row[], file: DiffFile, n: number, view: View): void {
  rows.push({ type: "file", file, n });
  if (view.folded.has(file.path)) return;
  for (const { says, line } of file.findings) rows.push({ type: "finding", file, says, line });
  if (file.kind !== "text") rows.push({ type: "whole", file });
  const lines = file.added + file.deleted;
  if (lines > LARGE && !view.opened.has(file.path)) {
    rows.push({ type: "large", file, lines });
    return;
  }
  addHunks(rows, file, view);
}

function addHunks(rows: Row[], file: DiffFile, view: View): void {
  const known = view.unfolded.get(file.path) ?? new Map<number, string>();
  let after = 1;
  file.hunks.forEach((hunk, at) => {
    const shift = hunk.new_start - hunk.old_start;
    if (file.operation === "modify")
      addGap(rows, file, { from: after, to: hunk.old_start - 1, shift }, known, view.split);
    const onlySpace = view.foldsSpace && changesOnlySpace(hunk);
    rows.push({ type: "hunk", file, hunk, n: at + 1, of: file.hunks.length, onlySpace });
    const lines = onlySpace ? [] : placeLines(hunk);
    if (view.split) addPairs(rows, file, lines);
    else for (const line of lines) rows.push({ type: "line", file, line });
    after = hunk.old_start + hunk.old_lines;
  });
}

/** Whether the removed and the added lines have the same letters in the same order. */
function changesOnlySpace({ lines }: DiffHunk): boolean {
  const lettersOf = (kind: DiffLine["kind"]) =>
    lines
      .filter((line) => line.kind === kind)
      .map(({ text }) => text.replace(/\s+/g, ""))
      .join("");
  return lettersOf("added") === lettersOf("deleted");
}

/** What lies between two hunks: the lines that were unfolded from below, and how many are still folded. */
function addGap(
  rows: Row[],
  file: DiffFile,
  { from, to, shift }: { readonly from: number; readonly to: number; readonly shift: number },
  known: ReadonlyMap<number, string>,
  split: boolean,
): void {
  let first = to + 1;
  while (first > from && known.has(first - 1)) first--;
  if (first > from) rows.push({ type: "gap", file, from, to: first - 1, shift });
  for (let old = first; old <= to; old++) {
    const line: PlacedLine = {
      kind: "context",
      text: known.get(old)!,
      noEol: false,
      old,
      new: old + shift,
      differs: null,
      at: `gap ${old}`,
    };
    rows.push(split ? { type: "pair", file, left: line, right: line } : { type: "line", file, line });
  }
}

/** Numbers every line, and finds for lines that replace each other what really differs. */
export function placeLines(hunk: DiffHunk): PlacedLine[] {
  let [old, now] = [hunk.old_start, hunk.new_start];
  const placed = hunk.lines.map((line, n): PlacedLine => {
    const base = { kind: line.kind, text: line.text, noEol: line.no_eol, differs: null, at: `${hunk.id} ${n}` };
    if (line.kind === "added") return { ...base, old: null, new: now++ };
    if (line.kind === "deleted") return { ...base, old: old++, new: null };
    return { ...base, old: old++, new: now++ };
  });
  for (let at = 0; at < placed.length; ) {
    const deleted = runLength(placed, at, "deleted");
    const added = runLength(placed, at + deleted, "added");
    for (let n = 0; n < Math.min(deleted, added); n++) markDifference(placed, at + n, at + deleted + n);
    at += Math.max(deleted + added, 1);
  }
  return placed;
}

function runLength(lines: readonly PlacedLine[], from: number, kind: PlacedLine["kind"]): number {
  let length = 0;
  while (lines[from + length]?.kind === kind) length++;
  return length;
}

const LONGEST_MARKED = 2000;

/** The words between the common beginning and the common end, unless hardly anything is common. */
function markDifference(lines: PlacedLine[], one: number, other: number): void {
  const [a, b] = [lines[one]!.text, lines[other]!.text];
  if (a.length > LONGEST_MARKED || b.length > LONGEST_MARKED) return;
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  while (start > 0 && isWord(a[start - 1]!) && (isWord(a[start] ?? "") || isWord(b[start] ?? ""))) start--;
  while (
    end > 0 &&
    isWord(a[a.length - end]!) &&
    (isWord(a[a.length - end - 1] ?? "") || isWord(b[b.length - end - 1] ?? ""))
  )
    end--;
  const common = a.slice(0, start).trim().length + a.slice(a.length - end).trim().length;
  if (common * 3 < Math.max(a.trim().length, b.trim().length)) return;
  lines[one] = { ...lines[one]!, differs: [start, a.length - end] };
  lines[other] = { ...lines[other]!, differs: [start, b.length - end] };
}

function isWord(letter: string): boolean {
  return /[\p{L}\p{N}_]/u.test(letter);
}

/** Removed lines on the left beside the added ones that follow them. */
function addPairs(rows: Row[], file: DiffFile, lines: readonly PlacedLine[]): void {
  for (let at = 0; at < lines.length; ) {
    const deleted = runLength(lines, at, "deleted");
    const added = runLength(lines, at + deleted, "added");
    for (let n = 0; n < Math.max(deleted, added); n++) {
      const left = n < deleted ? lines[at + n]! : null;
      rows.push({ type: "pair", file, left, right: n < added ? lines[at + deleted + n]! : null });
    }
    if (deleted + added === 0) rows.push({ type: "pair", file, left: lines[at]!, right: lines[at]! });
    at += Math.max(deleted + added, 1);
  }
}

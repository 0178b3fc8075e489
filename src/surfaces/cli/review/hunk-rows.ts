import type { Row, Style } from "../screen.ts";
import { boxHidden, expandTabs, wrapPieces } from "./line-pieces.ts";
import type { ReviewFile, ReviewHunk } from "./review-state.ts";
import { markWords, type Stretch } from "./word-marks.ts";

type Line = ReviewHunk["lines"][number];

const LOOKS = {
  context: { sign: " ", style: "plain", word: "plain" },
  added: { sign: "+", style: "added", word: "added word" },
  deleted: { sign: "-", style: "removed", word: "removed word" },
} as const satisfies Record<Line["kind"], { sign: string; style: Style; word: Style }>;

/** Narrower than this, line numbers take too much of it. */
const ROOM_FOR_NUMBERS = 60;

/** The lines of a hunk with numbers, word marks, and findings below the lines they speak of. */
export function hunkRows(file: ReviewFile, hunk: ReviewHunk, part: string | null, columns: number): Row[] {
  const { lines } = hunk;
  const marks = findMarks(lines);
  const inPart = part === null ? null : linesOfPart(lines, Number(part.split(".")[1]));
  const digits = columns < ROOM_FOR_NUMBERS ? 0 : Math.max(3, ...lines.map((one) => String(one.new ?? one.old).length));
  const number = (n: number | null) => (n === null ? "" : String(n)).padStart(digits);
  const rows: Row[] = [];
  for (const [i, line] of lines.entries()) {
    const { sign, style, word } = LOOKS[line.kind];
    const isOther = inPart !== null && line.kind !== "context" && !inPart.has(i);
    const gutter = digits === 0 ? "" : `${number(line.old)} ${number(line.new)} `;
    const stretches = marks.get(i) ?? [{ text: line.text, marked: false }];
    const pieces = stretches.flatMap(({ text, marked }) =>
      boxHidden(expandTabs(text), isOther ? "dim" : marked ? word : style),
    );
    const width = Math.max(8, columns - gutter.length - 2);
    for (const [at, row] of wrapPieces(pieces, width).entries()) {
      const lead = at === 0 ? `${sign} ` : "  ";
      rows.push([
        { text: at === 0 ? gutter : " ".repeat(gutter.length), style: "dim" },
        { text: lead, style: isOther ? "dim" : style },
        ...row,
      ]);
    }
    if (line.no_eol) rows.push([{ text: `${" ".repeat(gutter.length)}  no line feed at the end`, style: "dim" }]);
    if (line.new !== null && line.kind === "added") rows.push(...findingRows(file, line.new, gutter.length, columns));
  }
  return rows;
}

function findingRows({ findings }: ReviewFile, at: number, indent: number, columns: number): Row[] {
  return findings.filter(({ line }) => line === at).flatMap(({ says }) => noteRows(says, columns, indent + 2));
}

/** A sentence about what is shown, marked so that nobody takes it for a part of it. */
export function noteRows(says: string, columns: number, indent = 0): Row[] {
  const pad = " ".repeat(indent);
  return wrapPieces(boxHidden(says, "warn"), Math.max(8, columns - indent - 2)).map((row, i) => [
    { text: `${pad}${i === 0 ? "! " : "  "}`, style: "warn" },
    ...row,
  ]);
}

/** Lines in place of others, word by word: the first removed with the first added of a stretch, and so on. */
function findMarks(lines: readonly Line[]): ReadonlyMap<number, readonly Stretch[]> {
  const marks = new Map<number, readonly Stretch[]>();
  for (let i = 0; i < lines.length; ) {
    const removed = countKind(lines, i, "deleted");
    const added = countKind(lines, i + removed, "added");
    for (let k = 0; k < Math.min(removed, added); k++) {
      const found = markWords(lines[i + k]!.text, lines[i + removed + k]!.text);
      if (found === null) continue;
      marks.set(i + k, found[0]);
      marks.set(i + removed + k, found[1]);
    }
    i += Math.max(1, removed + added);
  }
  return marks;
}

function countKind(lines: readonly Line[], from: number, kind: Line["kind"]): number {
  let n = 0;
  while (lines[from + n]?.kind === kind) n++;
  return n;
}

/** Part k is the k-th stretch of changed lines. */
function linesOfPart(lines: readonly Line[], k: number): ReadonlySet<number> {
  const own = new Set<number>();
  let part = 0;
  for (const [i, { kind }] of lines.entries()) {
    if (kind === "context") continue;
    if (i === 0 || lines[i - 1]!.kind === "context") part++;
    if (part === k) own.add(i);
  }
  return own;
}

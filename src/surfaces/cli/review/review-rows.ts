import { describeBinary } from "../../../app/agent/report/explain.ts";
import { count } from "../../../app/agent/report/explain-words.ts";
import { displayWidth } from "../display-width.ts";
import type { Piece, Row } from "../screen.ts";
import { hunkRows, noteRows } from "./hunk-rows.ts";
import { boxHidden, wrapPieces } from "./line-pieces.ts";
import type { ReviewFile, ReviewState, Unit } from "./review-state.ts";

interface Size {
  readonly rows: number;
  readonly columns: number;
}

/** What is drawn besides the hunk. */
export interface Around {
  /** What was verified of the choice, in a few words. */
  readonly verdict: Piece;
  /** Said once, until the next key: an answer, a question, the help. */
  readonly message: readonly Row[];
  /** First line of the hunk on the screen. */
  readonly from: number;
}

const SIGNS = { create: "A", modify: "M", delete: "D" } as const;

/** The whole screen, and how many lines of the hunk there are and fit. */
export function reviewRows(
  state: ReviewState,
  size: Size,
  around: Around,
): { readonly rows: Row[]; readonly lines: number; readonly room: number } {
  const unit = state.current;
  const head = headRows(state, unit, size.columns);
  const foot = [
    [{ text: "─".repeat(size.columns), style: "dim" as const }],
    ...around.message,
    ...statusRows(state, around.verdict, size.columns),
    ...(around.message.length > 0 ? [] : keyRows(size)),
  ];
  const body = bodyRows(state, unit, size.columns);
  // On a small screen the change comes before everything around it.
  const top = head.slice(0, Math.max(2, size.rows - foot.length - 3));
  const bottom = foot.slice(0, Math.max(1, size.rows - top.length - 3));
  const room = Math.max(1, size.rows - top.length - bottom.length);
  const from = Math.min(around.from, Math.max(0, body.length - room));
  const shown = body.slice(from, from + room);
  const filler = Array.from({ length: room - shown.length }, (): Row => []);
  const isMore = from + room < body.length;
  if (isMore)
    shown[shown.length - 1] = [{ text: `  … ${body.length - from - room + 1} more lines: space`, style: "dim" }];
  return { rows: [...top, ...shown, ...filler, ...bottom], lines: body.length, room };
}

function headRows(state: ReviewState, unit: Unit, columns: number): Row[] {
  const file = state.file(unit);
  const { review } = state;
  const hunk = state.hunk(unit);
  const where = `hunk ${state.at + 1} of ${state.units.length}, file ${state.fileNumber(unit)} of ${state.files}`;
  const decision = state.decision(unit);
  const mark: Piece =
    decision === null
      ? { text: "not decided", style: "warn" }
      : decision === "take"
        ? { text: "taken", style: "good" }
        : { text: "left out", style: "bad" };
  const place = hunk === null ? "" : `  ${unit.name.includes(".") ? `part ${unit.name}` : `:${unit.name}`}`;
  return [
    [{ text: `${review.run_id.slice(-6)}  `, style: "dim" }, ...boxHidden(review.goal, "plain")],
    ...nameRows(file, { text: place, style: "dim" }, [{ text: where }, { text: "  " }, mark], columns),
    ...(hunk?.heading == null ? [] : [[{ text: "    " }, ...boxHidden(hunk.heading, "dim")]]),
    ...file.findings.filter(({ line }) => line === null).flatMap(({ says }) => noteRows(says, columns)),
    [{ text: "─".repeat(columns), style: "dim" }],
  ];
}

/** What file it is and where in the change; in two lines where one is too narrow for both. */
function nameRows(file: ReviewFile, place: Piece, right: readonly Piece[], columns: number): Row[] {
  const [sign, size] = describeFile(file);
  const width = (pieces: readonly Piece[]) => pieces.reduce((sum, { text }) => sum + displayWidth(text), 0);
  const name = boxHidden(file.path, "bold");
  const around = sign.length + 1 + width([place]) + 2 + size.length;
  const shown = width(name) <= columns - around ? name : shorten(file.path, Math.max(8, columns - around));
  const left: Row = [{ text: `${sign} `, style: "bold" }, ...shown, place, { text: `  ${size}` }];
  const gap = columns - width([...left, ...right]);
  return gap > 1 ? [[...left, { text: " ".repeat(gap) }, ...right]] : [left, right];
}

/** The end of a path tells more than its beginning. */
function shorten(path: string, room: number): Piece[] {
  let end = path;
  while (displayWidth(end) > room - 1) end = [...end].slice(1).join("");
  return [{ text: "…", style: "dim" }, ...boxHidden(end, "bold")];
}

function describeFile(file: ReviewFile): readonly [sign: string, size: string] {
  const { operation, kind, added, deleted, mode } = file;
  const sign = kind === "binary" ? "B" : kind === "link" ? "L" : kind === "mode" ? "x" : SIGNS[operation];
  if (kind === "text") return [sign, `+${added} -${deleted}`];
  if (kind === "binary") return [sign, describeBinary(file)];
  return [sign, operation === "delete" ? "deleted" : kind === "mode" ? `mode ${mode ?? ""}` : kind];
}

function bodyRows(state: ReviewState, unit: Unit, columns: number): Row[] {
  const file = state.file(unit);
  const hunk = state.hunk(unit);
  if (hunk !== null) return hunkRows(file, hunk, unit.name.includes(".") ? unit.name : null, columns);
  const { target, kind, operation } = file;
  const says =
    kind === "link" && operation !== "delete"
      ? `a link to ${target ?? ""}`
      : kind === "text"
        ? file.bytes === 0 && operation !== "modify"
          ? "an empty file"
          : "its lines cannot be shown: a name in this change cannot be part of a patch"
        : describeWhole(file);
  return [
    ...wrapPieces(boxHidden(says, "plain"), columns),
    [{ text: "taken or left whole", style: "dim" }],
    ...file.findings.filter(({ line }) => line !== null).flatMap(({ says: one }) => noteRows(one, columns)),
  ];
}

function describeWhole(file: ReviewFile): string {
  const { kind, operation, mode } = file;
  if (kind === "binary") return `binary, ${describeBinary(file)}`;
  if (operation === "delete") return `this ${kind === "link" ? "link" : "file"} is deleted`;
  return mode === "100755" ? "the file can be run from now on (mode 100755)" : `the file gets the mode ${mode ?? ""}`;
}

function statusRows(state: ReviewState, verdict: Piece, columns: number): Row[] {
  const { files, added, deleted } = state.size();
  const [taken, left, open] = [state.count("take"), state.count("leave"), state.count(null)];
  const status: Piece[] = [
    { text: `taken ${taken}`, style: taken > 0 ? "good" : "plain" },
    { text: taken === 0 ? "" : ` in ${count(files, "file")}, +${added} -${deleted}` },
    { text: `   left out ${left}   not decided ${open}   ` },
  ];
  return wrapPieces([...status, verdict], columns);
}

const KEYS = [
  ["y", "take"],
  ["n", "leave"],
  ["a", "rest of file"],
  ["d", "none of file"],
  ["s", "split"],
  ["j k", "move"],
  ["/", "search"],
  ["v", "verify"],
  ["w", "apply"],
  ["q", "later"],
  ["?", "help"],
] as const;

function keyRows({ rows, columns }: Size): Row[] {
  const all: Piece[][] = [[]];
  let width = 0;
  for (const [key, says] of KEYS) {
    const size = key.length + says.length + 3;
    if (width + size > columns && width > 0) {
      all.push([]);
      width = 0;
    }
    all.at(-1)!.push({ text: key, style: "key" }, { text: ` ${says}  ` });
    width += size;
  }
  return rows < ROWS_FOR_KEYS ? [[{ text: "?", style: "key" }, { text: " shows the keys" }]] : all;
}

/** On a smaller screen the lines of the change need the room. */
const ROWS_FOR_KEYS = 18;

/** Every key, for `?`. */
export function helpRows(): Row[] {
  const lines = [
    ["y n", "take this, leave this out"],
    ["a", "take this and the rest of the file"],
    ["d", "take nothing of the file"],
    ["s", "split at unchanged lines, or join again"],
    ["j k ← →", "next and previous, decided or not"],
    ["↑ ↓ space", "scroll, at the end go on"],
    ["/", "search in paths and lines"],
    ["v", "verify what is taken, nothing else"],
    ["w", "apply what is taken; asks first"],
    ["q", "leave it for later; your choice is kept"],
  ] as const;
  return [
    ...lines.map(([key, says]): Row => [{ text: key.padEnd(10), style: "key" }, { text: says }]),
    [{ text: "what is not decided is not taken", style: "dim" }],
  ];
}

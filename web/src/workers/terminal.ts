import "./window.ts";
import headless from "@xterm/headless";

/** Like a terminal of a person: programs that draw expect one of about this size. */
const [COLUMNS, ROWS] = [120, 40];
export const SCROLLBACK = 5000;

/** Letters of one look; the name is one of a closed set, whatever the bytes asked for. */
export interface Span {
  readonly text: string;
  readonly look: string;
}

export type TerminalRequest =
  | { readonly write: ArrayBuffer }
  | { readonly reset: true }
  | { readonly from: number | null; readonly rows: number };

/** What lies where somebody looks; `total` is how many rows there are. Sent when it is asked for, never by itself. */
export interface TerminalView {
  readonly first: number;
  readonly total: number;
  /** Rows that were printed and are no longer kept. */
  readonly gone: number;
  readonly rows: readonly (readonly Span[])[];
}

export type TerminalAnswer = { readonly written: number } | { readonly view: TerminalView };

const terminal = new headless.Terminal({
  cols: COLUMNS,
  rows: ROWS,
  scrollback: SCROLLBACK,
  convertEol: true,
  allowProposedApi: true,
});
let lines = 0;
terminal.onLineFeed(() => lines++);

type Cell = NonNullable<ReturnType<NonNullable<ReturnType<typeof terminal.buffer.active.getLine>>["getCell"]>>;

/** Colours are names of the page: sixteen of them, and those of larger palettes are left out. */
function lookOf(cell: Cell): string {
  const looks: string[] = [];
  if (cell.isFgPalette() && cell.getFgColor() < 16) looks.push(`c${cell.getFgColor() % 8}`);
  if (cell.isBold()) looks.push("bold");
  if (cell.isDim()) looks.push("dim");
  if (cell.isUnderline()) looks.push("line");
  if (cell.isInverse()) looks.push("turned");
  return looks.join(" ");
}

function readRow(at: number): Span[] {
  const line = terminal.buffer.active.getLine(at);
  if (line === undefined) return [];
  const spans: { text: string; look: string }[] = [];
  let end = line.translateToString(true).length;
  for (let column = 0; column < line.length && end > 0; column++) {
    const cell = line.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const text = cell.getChars() === "" ? " " : cell.getChars();
    end -= text.length;
    const look = lookOf(cell);
    const last = spans.at(-1);
    if (last?.look === look) last.text += text;
    else spans.push({ text, look });
  }
  return spans;
}

function view(from: number | null, rows: number): TerminalView {
  const buffer = terminal.buffer.active;
  const total = Math.min(buffer.length, buffer.baseY + lastUsed() + 1);
  const first = Math.max(0, Math.min(from ?? total - rows, total - rows));
  const shown = Array.from({ length: Math.min(rows, total - first) }, (_, n) => readRow(first + n));
  return { first, total, gone: Math.max(0, lines + 1 - total), rows: shown };
}

/** The last row of the screen that holds something, so that an empty rest is not drawn. */
function lastUsed(): number {
  const buffer = terminal.buffer.active;
  for (let row = ROWS - 1; row >= 0; row--) {
    const text = buffer.getLine(buffer.baseY + row)?.translateToString(true) ?? "";
    if (text !== "" || row === buffer.cursorY) return row;
  }
  return 0;
}

addEventListener("message", ({ data }: MessageEvent<TerminalRequest>) => {
  if ("write" in data) {
    const bytes = new Uint8Array(data.write);
    terminal.write(bytes, () => postMessage({ written: bytes.length } satisfies TerminalAnswer));
  } else if ("reset" in data) {
    terminal.reset();
    lines = 0;
  } else postMessage({ view: view(data.from, data.rows) } satisfies TerminalAnswer);
});

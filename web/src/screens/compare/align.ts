import type { Output } from "../../api/client.ts";

type DiffFile = Output<"agent.diff">["files"][number];

/** One line of one run beside the others. */
export interface Cell {
  readonly kind: "context" | "added" | "deleted";
  readonly text: string;
  /** Whether it is here only because another run has it in its change. */
  readonly isAround: boolean;
  /** The hunk that begins here; null: none does. */
  readonly hunk: string | null;
}

export type AlignedRow =
  | { readonly type: "line"; readonly base: number | null; readonly cells: readonly (Cell | null)[] }
  | { readonly type: "skip"; readonly lines: number };

interface Column {
  /** Lines of the base by number, as this run leaves them. */
  readonly lines: ReadonlyMap<number, Cell>;
  /** What it adds behind a line of the base; 0: before the first. */
  readonly added: ReadonlyMap<number, readonly Cell[]>;
}

/**
 * The changes of several runs to one file, side by side on the lines that all of them began with; null where they did not
 * begin with the same file. A run that leaves the file alone has a null.
 */
export function alignChanges(files: readonly (DiffFile | null)[]): AlignedRow[] | null {
  const columns = files.map((file) => (file === null ? null : toColumn(file)));
  const base = new Map<number, string>();
  for (const column of columns) {
    for (const [n, { text }] of column?.lines ?? []) {
      if ((base.get(n) ?? text) !== text) return null;
      base.set(n, text);
    }
  }
  const isNew = files.every((file) => file === null || file.operation === "create");
  const around = (n: number): Cell => ({ kind: "context", text: base.get(n) ?? "", isAround: true, hunk: null });
  const places = new Set(base.keys());
  for (const column of columns) for (const n of column?.added.keys() ?? []) places.add(n);
  const rows: AlignedRow[] = [];
  let last = 0;
  for (const n of [...places].sort((a, b) => a - b)) {
    if (n > last + 1) rows.push({ type: "skip", lines: n - last - 1 });
    if (base.has(n)) {
      const cells = columns.map((column) => column?.lines.get(n) ?? (isNew ? null : around(n)));
      rows.push({ type: "line", base: n, cells });
    }
    const most = Math.max(...columns.map((column) => column?.added.get(n)?.length ?? 0));
    for (let at = 0; at < most; at++) {
      rows.push({ type: "line", base: null, cells: columns.map((column) => column?.added.get(n)?.[at] ?? null) });
    }
    last = n;
  }
  return rows;
}

function toColumn(file: DiffFile): Column {
  const lines = new Map<number, Cell>();
  const added = new Map<number, Cell[]>();
  for (const { id, old_start, old_lines, lines: changed } of file.hunks) {
    // Where nothing of the base is in it, a hunk names the line behind which it goes.
    let next = old_lines === 0 ? old_start + 1 : old_start;
    let begins: string | null = id;
    for (const { kind, text } of changed) {
      const cell: Cell = { kind, text, isAround: false, hunk: begins };
      begins = null;
      if (kind === "added") added.set(next - 1, [...(added.get(next - 1) ?? []), cell]);
      else lines.set(next++, cell);
    }
  }
  return { lines, added };
}

import type { Output } from "../../../api/client.ts";
import type { Row } from "../diff/model.ts";

export type Comment = Output<"agent.show">["comments"][number];

/** Where somebody says something: some lines of one side of a file, or the file. */
export interface Place {
  readonly path: string;
  readonly side: "base" | "result";
  /** Null: the whole file. */
  readonly from: number | null;
  readonly to: number | null;
}

/** What a row stands for when somebody says something about it; null: nothing can be said there. */
export function placeOf(row: Row): Place | null {
  const { path } = row.file;
  if (row.type === "file" || row.type === "whole") return { path, side: "result", from: null, to: null };
  if (row.type === "hunk") {
    const { new_start, new_lines, old_start, old_lines } = row.hunk;
    return new_lines > 0
      ? { path, side: "result", from: new_start, to: new_start + new_lines - 1 }
      : { path, side: "base", from: old_start, to: old_start + old_lines - 1 };
  }
  const line = row.type === "line" ? row.line : row.type === "pair" ? (row.right ?? row.left) : null;
  if (line === null) return null;
  if (line.new !== null) return { path, side: "result", from: line.new, to: line.new };
  return { path, side: "base", from: line.old, to: line.old };
}

/** From one place to another of the same side of the same file; otherwise the second alone. */
export function spanOf(first: Place | null, last: Place): Place {
  const isSpan = first !== null && first.path === last.path && first.side === last.side;
  if (!isSpan || first.from === null || last.from === null) return last;
  const [from, to] = [Math.min(first.from, last.from), Math.max(first.to ?? first.from, last.to ?? last.from)];
  return { ...last, from, to };
}

/** Comments that stand and were not told to anybody yet. */
export function unsentOf(comments: readonly Comment[]): Comment[] {
  return comments.filter(({ withdrawn_at, sent }) => withdrawn_at === null && sent.length === 0);
}

const PREFIX = "verbatim-comment ";

export interface CommentDraft {
  readonly place: Place;
  readonly text: string;
}

/** What was being written outlives a reload and an ended session. */
export function readCommentDraft(run: string): CommentDraft | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PREFIX + run) ?? "null") as CommentDraft | null;
    return kept !== null && typeof kept.text === "string" && typeof kept.place?.path === "string" ? kept : null;
  } catch {
    return null;
  }
}

export function keepCommentDraft(run: string, draft: CommentDraft | null): void {
  if (draft === null) sessionStorage.removeItem(PREFIX + run);
  else sessionStorage.setItem(PREFIX + run, JSON.stringify(draft));
}

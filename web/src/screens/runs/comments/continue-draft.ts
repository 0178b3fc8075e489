import { useCallback, useSyncExternalStore } from "react";
import { words } from "../../../words/words.ts";

/** What somebody has chosen to tell the agent, until it is sent. */
export interface ContinueDraft {
  readonly note: string;
  /** Comments that stay here. */
  readonly without: readonly string[];
  readonly from: "candidate" | "base" | "tree";
  /** The name of a command; null: the one of the run. */
  readonly command: string | null;
}

const EMPTY: ContinueDraft = { note: "", without: [], from: "candidate", command: null };
const PREFIX = "verbatim-continue ";
const known = new Map<string, ContinueDraft>();
const listeners = new Set<() => void>();

function read(run: string): ContinueDraft {
  let draft = known.get(run);
  if (draft === undefined) {
    draft = { ...EMPTY, note: sessionStorage.getItem(PREFIX + run) ?? "" };
    known.set(run, draft);
  }
  return draft;
}

function keep(run: string, draft: ContinueDraft): void {
  known.set(run, draft);
  if (draft.note === "") sessionStorage.removeItem(PREFIX + run);
  else sessionStorage.setItem(PREFIX + run, draft.note);
  for (const listener of listeners) listener();
}

/** The text with which an agent is asked to bring its change onto the files of today. */
export function askToRebase(run: string): void {
  keep(run, { ...read(run), note: words.comments.rebaseNote, from: "tree" });
}

export function useContinueDraft(run: string) {
  const draft = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => read(run),
  );
  const change = useCallback((next: Partial<ContinueDraft>) => keep(run, { ...read(run), ...next }), [run]);
  const clear = useCallback(() => keep(run, EMPTY), [run]);
  return { draft, change, clear };
}

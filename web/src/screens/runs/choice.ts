import { useCallback, useSyncExternalStore } from "react";
import type { Output } from "../../api/client.ts";
import type { DiffFile } from "./diff/model.ts";

export type Selection = Output<"agent.select">;

/** What somebody has taken out of a change, and what became of the rest when it was verified. */
export interface Choice {
  /** Ids of hunks, and paths of files that are taken or left whole. */
  readonly dropped: ReadonlySet<string>;
  /** How many parts the change has; 0 until it was read. */
  readonly parts: number;
  /** The verdict on exactly what is chosen now; null: nobody asked since it changed. */
  readonly verified: Selection | null;
}

const PREFIX = "verbatim-choice ";
const NOTHING: Choice = { dropped: new Set(), parts: 0, verified: null };

const known = new Map<string, Choice>();
const listeners = new Set<() => void>();

function read(run: string): Choice {
  let choice = known.get(run);
  if (choice === undefined) {
    choice = { ...NOTHING, dropped: new Set(readKept(run)) };
    known.set(run, choice);
  }
  return choice;
}

/** A choice outlives a reload of the page; what came of it is asked for again. */
function readKept(run: string): string[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(PREFIX + run) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

function keep(run: string, choice: Choice): void {
  known.set(run, choice);
  sessionStorage.setItem(PREFIX + run, JSON.stringify([...choice.dropped]));
  for (const listener of listeners) listener();
}

/** The parts of a file that can be taken or left: its hunks, or the file where it travels whole. */
export function partsOf(file: DiffFile): string[] {
  return file.kind === "text" && file.hunks.length > 0 ? file.hunks.map(({ id }) => id) : [file.path];
}

/** How much of a file is taken. */
export function takenOf(file: DiffFile, dropped: ReadonlySet<string>): "all" | "some" | "none" {
  const parts = partsOf(file);
  const left = parts.filter((part) => dropped.has(part)).length;
  return left === 0 ? "all" : left === parts.length ? "none" : "some";
}

export function useChoice(run: string) {
  const choice = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => read(run),
  );
  /** Takes these parts when one of them was left, and leaves them otherwise. What was verified was another choice. */
  const toggle = useCallback(
    (parts: readonly string[]) => {
      const old = read(run);
      const dropped = new Set(old.dropped);
      const isTaken = parts.every((part) => !dropped.has(part));
      for (const part of parts) {
        if (isTaken) dropped.add(part);
        else dropped.delete(part);
      }
      keep(run, { ...old, dropped, verified: null });
    },
    [run],
  );
  const clear = useCallback(() => keep(run, { ...read(run), dropped: new Set(), verified: null }), [run]);
  /** What was read of the change; parts that it no longer has are forgotten. */
  const setParts = useCallback(
    (parts: readonly string[]) => {
      const old = read(run);
      const all = new Set(parts);
      const dropped = new Set([...old.dropped].filter((part) => all.has(part)));
      if (old.parts !== parts.length || dropped.size !== old.dropped.size)
        keep(run, { ...old, parts: parts.length, dropped });
    },
    [run],
  );
  /** Keeps the verdict, unless somebody chose otherwise meanwhile. */
  const setVerified = useCallback(
    (dropped: ReadonlySet<string>, verified: Selection) => {
      const old = read(run);
      if (old.dropped === dropped) keep(run, { ...old, verified });
    },
    [run],
  );
  return { ...choice, toggle, clear, setParts, setVerified };
}

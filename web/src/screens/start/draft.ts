import { useCallback, useSyncExternalStore } from "react";
import type { Input, Output } from "../../api/client.ts";

export type Known = Output<"agent.commands">;
export type Command = Known["commands"][number];

/** What somebody has filled in so far. It outlives a reload and a visit elsewhere, and ends when the agent has started. */
export interface Draft {
  readonly goal: string;
  /** The name of a command; null: one that is typed. */
  readonly command: string | null;
  /** One argument a line. */
  readonly typed: string;
  readonly verify: string;
  readonly without: boolean;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly files: readonly string[];
  readonly network: "" | "inherit" | "allow" | "none";
  readonly guard: string;
  /** Minutes, as they were typed. */
  readonly minutes: string;
  readonly count: number;
}

const EMPTY: Draft = {
  goal: "",
  command: null,
  typed: "",
  verify: "",
  without: false,
  allow: [],
  deny: [],
  files: [],
  network: "",
  guard: "",
  minutes: "",
  count: 1,
};

const KEY = "verbatim-start";
const listeners = new Set<() => void>();
let now: Draft | null = null;

export function readDraft(): Draft {
  now ??= readKept();
  return now;
}

/** Written by this page; what another version wrote is read as far as it fits. */
function readKept(): Draft {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as Partial<Record<keyof Draft, unknown>>;
    const fits = Object.entries(EMPTY).filter(([name, empty]) => {
      const value = kept[name as keyof Draft];
      return name === "command" ? value === null || typeof value === "string" : typeof value === typeof empty;
    });
    return { ...EMPTY, ...Object.fromEntries(fits.map(([name]) => [name, kept[name as keyof Draft]])) };
  } catch {
    return EMPTY;
  }
}

export function changeDraft(change: Partial<Draft>): void {
  now = { ...readDraft(), ...change };
  sessionStorage.setItem(KEY, JSON.stringify(now));
  for (const listener of listeners) listener();
}

export function clearDraft(): void {
  changeDraft(EMPTY);
}

export function useDraft(): readonly [Draft, (change: Partial<Draft>) => void] {
  const draft = useSyncExternalStore(
    useCallback((listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    }, []),
    readDraft,
  );
  return [draft, changeDraft];
}

const MOST_MINUTES = 1440;

/** Null: it is not a time. Undefined: nothing was typed. */
export function minutesOf(typed: string): number | null | undefined {
  const text = typed.trim();
  if (text === "") return undefined;
  const minutes = Number(text);
  return Number.isInteger(minutes) && minutes >= 1 && minutes <= MOST_MINUTES ? minutes : null;
}

export function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

/** The words that are started: an argument each, the goal where the command has its place. */
export function wordsOf(draft: Draft, command: Command | null): readonly string[] {
  if (draft.command === null) return linesOf(draft.typed);
  return (command?.argv ?? []).map((word) => word.replaceAll("{goal}", draft.goal));
}

/** What is asked of the server: nothing that was not said, so that everything else is as configured. */
export function toStart(draft: Draft): Input<"agent.start"> {
  const minutes = minutesOf(draft.minutes);
  const verify = linesOf(draft.verify).map((line) => line.trim());
  return {
    goal: draft.goal.trim(),
    ...(draft.command === null ? { argv: linesOf(draft.typed) } : { command: draft.command }),
    ...(draft.without ? { no_verify: true } : verify.length === 0 ? {} : { verify }),
    ...(draft.allow.length === 0 ? {} : { allow: [...draft.allow] }),
    ...(draft.deny.length === 0 ? {} : { deny: [...draft.deny] }),
    ...(draft.files.length === 0 ? {} : { files: [...draft.files] }),
    ...(draft.network === "" ? {} : { network: draft.network }),
    ...(draft.guard === "" ? {} : { guard: draft.guard as NonNullable<Input<"agent.start">["guard"]> }),
    ...(minutes === undefined || minutes === null ? {} : { timeout_s: minutes * 60 }),
    ...(draft.count === 1 ? {} : { count: draft.count }),
  };
}

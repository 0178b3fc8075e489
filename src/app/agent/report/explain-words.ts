/** How a sentence is meant: good and bad are judgements, a notice asks for a look, none says that nobody judged. */
export type Mark = "good" | "bad" | "notice" | "none" | null;

export interface ExplainLine {
  readonly mark: Mark;
  readonly says: string;
  /** What to type for it. */
  readonly command?: string;
}

/** One part of the report of a run: a sentence, and what belongs to it. */
export interface ExplainPart {
  readonly part:
    | "goal"
    | "agent"
    | "base"
    | "change"
    | "policy"
    | "verify"
    | "tree"
    | "network"
    | "shown"
    | "kept"
    | "hooks"
    | "end";
  readonly mark: Mark;
  readonly says: string;
  readonly lines: readonly ExplainLine[];
}

export function plain(part: ExplainPart["part"], says: string): ExplainPart {
  return { part, mark: null, says, lines: [] };
}

export function count(number: number, noun: string): string {
  return `${groupDigits(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** 27104 as 27,104, whatever the locale. */
export function groupDigits(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

export function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}

export function formatSize(bytes: number): string {
  if (bytes < 1000) return count(bytes, "byte");
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** `$0.41`; less than a cent is shown as that. */
export function formatUsd(usd: number): string {
  return usd > 0 && usd < 0.005 ? "less than $0.01" : `$${usd.toFixed(2)}`;
}

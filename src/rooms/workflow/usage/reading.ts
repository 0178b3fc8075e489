import { Float, isJsonObject, type JsonValue } from "../../../core/canonical/index.ts";

/** What of a session file is read; a longer one is read to there, and its reading says so. */
export const MOST_SESSION_BYTES = 64 * 1024 * 1024;

/** Tokens of one kind of work, each counted once: `input` is neither read from a cache nor written to one. */
export interface Tokens {
  readonly input: number;
  readonly cached_input: number;
  readonly cache_write: number;
  /** Thoughts included. */
  readonly output: number;
  /** The part of `output` that nobody was shown. */
  readonly reasoning: number;
}

/** One answer of a model, as a session file tells of it. */
export interface Call extends Tokens {
  /** The same answer has the same id in every file that tells of it. */
  readonly id: string;
  readonly model: string | null;
  /** What the agent itself says that it cost. */
  readonly usd: number | null;
}

/** One thing that was said or done in a session. */
export interface TranscriptEntry {
  readonly at: string | null;
  readonly from: "user" | "agent" | "tool" | "system";
  readonly kind: "text" | "reasoning" | "tool_call" | "tool_result";
  readonly model: string | null;
  readonly tool: string | null;
  readonly text: string;
}

/** What a session file says. Nothing in it is trusted: it was written by a program that may write what it likes. */
export interface SessionReading {
  readonly session: string | null;
  readonly calls: readonly Call[];
  readonly entries: readonly TranscriptEntry[];
  /** Lines that were not understood. */
  readonly unread: number;
  readonly truncated: boolean;
}

const LINE_FEED = 10;
const LONGEST_NAME = 200;
const MOST_TOKENS = 1_000_000_000_000;

/** The lines of a file, without their ends; empty ones are left out. */
export function* listLines(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; ) {
    const found = bytes.indexOf(LINE_FEED, from);
    const to = found === -1 ? bytes.length : found;
    const line = bytes.subarray(from, to);
    if (line.some((byte) => byte !== 32 && byte !== 13 && byte !== 9)) yield line;
    from = to + 1;
  }
}

export function member(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let at = value;
  for (const key of path) {
    if (!isJsonObject(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

export function items(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

/** A count of tokens; what is none is zero. */
export function toAmount(value: JsonValue | undefined): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? Math.min(value, MOST_TOKENS) : 0;
}

/** A price that an agent states. */
export function toUsd(value: JsonValue | undefined): number | null {
  const stated = value instanceof Float ? value.value : value;
  return typeof stated === "number" && stated >= 0 && stated < 1_000_000 ? stated : null;
}

/** A name for people: of bounded length, and without control characters. */
export function toName(value: JsonValue | undefined): string | null {
  if (typeof value !== "string") return null;
  const clean = [...value.slice(0, 2 * LONGEST_NAME)].filter((one) => one >= " " && one !== "\u007f").join("");
  return clean === "" ? null : clean.slice(0, LONGEST_NAME);
}

export function toText(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Whether there is anything to pay for. */
export function isWork({ input, cached_input, cache_write, output }: Tokens): boolean {
  return input + cached_input + cache_write + output > 0;
}

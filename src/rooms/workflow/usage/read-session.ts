import { assertNever } from "../../../core/errors/index.ts";
import { readClaude } from "./claude-jsonl.ts";
import { readCodex } from "./codex-jsonl.ts";
import { readGemini } from "./gemini-json.ts";
import { type Call, MOST_SESSION_BYTES, type SessionReading } from "./reading.ts";

/** Forms of session files that can be read. */
export const SESSION_FORMATS = ["claude-jsonl", "codex-jsonl", "gemini-json"] as const;
export type SessionFormat = (typeof SESSION_FORMATS)[number];

/** Reads a session file, at most its first 64 MiB. It never throws, whatever is in it. */
export function readSession(format: SessionFormat, bytes: Uint8Array): SessionReading {
  const truncated = bytes.length > MOST_SESSION_BYTES;
  return { ...readWhole(format, truncated ? bytes.subarray(0, MOST_SESSION_BYTES) : bytes), truncated };
}

function readWhole(format: SessionFormat, bytes: Uint8Array): Omit<SessionReading, "truncated"> {
  switch (format) {
    case "claude-jsonl":
      return readClaude(bytes);
    case "codex-jsonl":
      return readCodex(bytes);
    case "gemini-json":
      return readGemini(bytes);
    default:
      return assertNever(format);
  }
}

/** The calls of several files, without those that were there before. The same call in two files is one. */
export function mergeCalls(now: readonly Call[], before: readonly Call[] = []): Call[] {
  const known = new Set(before.map(({ id }) => id));
  const calls = new Map<string, Call>();
  for (const call of now) {
    const other = calls.get(call.id);
    if (!known.has(call.id) && (other === undefined || call.output > other.output)) calls.set(call.id, call);
  }
  return [...calls.values()];
}

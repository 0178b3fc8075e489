import type { View } from "../knowledge/gate.ts";
import type { CallRow, ChatMessage, WorldReader } from "../ports.ts";
import type { Purpose } from "../writer/beat-loop.ts";
import type { FramePart } from "../writer/frame.ts";

/** Model calls of a world that are kept. */
export const KEEP_CALLS = 500;

/** One model call as the inspector shows it. */
export interface CallRecord {
  readonly call_id: string;
  readonly request_id: string;
  readonly pass: string;
  /** DERIVED: a note that was asked for outside of beats. */
  readonly purpose: Purpose | "DERIVED";
  readonly actor: string;
  readonly view: View;
  readonly provider: string;
  readonly model: string | null;
  readonly rules_version: string;
  readonly messages: readonly ChatMessage[];
  readonly parts: readonly FramePart[];
  /** The answer as it came; null when there was none. */
  readonly raw: string | null;
  /** `ACCEPTED`, `REJECTED:CODE`, ... or why there was no answer. */
  readonly verdict: string;
  readonly verdict_where: string | null;
  readonly lint: readonly string[];
  readonly estimated_tokens: number;
  readonly reported_input_tokens: number | null;
  readonly reported_output_tokens: number | null;
  readonly duration_ms: number;
  /** Of calls of this version: what the answer was held to, and what the provider was not sent. */
  readonly held?: string | null;
  readonly not_sent?: readonly string[];
  /** Characters the model thought, which nobody keeps. */
  readonly thinking?: number;
  readonly excerpt?: string | null;
  readonly findings?: readonly string[];
}

/** Rows for calls made now, numbered after those that are there. */
export async function toCallRows(tables: WorldReader, world: number, calls: readonly CallRecord[]): Promise<CallRow[]> {
  if (calls.length === 0) return [];
  const first = (await tables.lastCall(world)) + 1;
  return calls.map((call, i) => ({
    number: first + i,
    call_id: call.call_id,
    request_id: call.request_id,
    body: JSON.stringify(call),
  }));
}

/** A kept call. */
export function parseCall(row: CallRow): CallRecord {
  return JSON.parse(row.body) as CallRecord;
}

import { isJsonObject, type JsonObject, type JsonValue, parseObject } from "../../../core/canonical/index.ts";
import {
  type Call,
  isWork,
  items,
  listLines,
  member,
  type SessionReading,
  type Tokens,
  type TranscriptEntry,
  toAmount,
  toName,
  toText,
} from "./reading.ts";

type Totals = Tokens;

/**
 * JSON Lines of `{timestamp, type, payload}`. Totals count on through a session, so a call is what one total has more than
 * the one before, and all of them together are the last total. A total that is less begins anew. Linear in the bytes.
 */
export function readCodex(bytes: Uint8Array): Omit<SessionReading, "truncated"> {
  const calls: Call[] = [];
  const entries: TranscriptEntry[] = [];
  let session: string | null = null;
  let model: string | null = null;
  let last: Totals | null = null;
  let unread = 0;
  for (const line of listLines(bytes)) {
    const value = parseObject(line);
    if (value === null) {
      unread++;
      continue;
    }
    const payload = value["payload"];
    const type = value["type"];
    if (type === "session_meta") session ??= toName(member(payload, "id"));
    if (type === "turn_context") model = toName(member(payload, "model")) ?? model;
    const totals = type === "event_msg" ? toTotals(payload) : null;
    if (totals !== null) {
      const more = last === null ? totals : subtract(totals, last);
      // Without an id of the session the same numbers of two files would be taken for one call.
      calls.push({ id: `${session ?? "?"}:${calls.length + 1}`, model, ...more, usd: null });
      last = totals;
    }
    if (type === "response_item") entries.push(...toEntries(payload, toName(value["timestamp"]), model));
  }
  return { session, calls: calls.filter(isWork), entries, unread };
}

function toTotals(payload: JsonValue | undefined): Totals | null {
  if (member(payload, "type") !== "token_count") return null;
  const total = member(payload, "info", "total_token_usage");
  if (!isJsonObject(total)) return null;
  const cached = toAmount(total["cached_input_tokens"]);
  return {
    input: Math.max(0, toAmount(total["input_tokens"]) - cached),
    cached_input: cached,
    cache_write: 0,
    output: toAmount(total["output_tokens"]),
    reasoning: toAmount(total["reasoning_output_tokens"]),
  };
}

function subtract(now: Totals, before: Totals): Totals {
  const keys = ["input", "cached_input", "cache_write", "output", "reasoning"] as const;
  if (keys.some((key) => now[key] < before[key])) return now;
  const [input, cached_input, cache_write, output, reasoning] = keys.map((key) => now[key] - before[key]);
  return {
    input: input!,
    cached_input: cached_input!,
    cache_write: cache_write!,
    output: output!,
    reasoning: reasoning!,
  };
}

function toEntries(payload: JsonValue | undefined, at: string | null, model: string | null): TranscriptEntry[] {
  if (!isJsonObject(payload)) return [];
  const agent = { at, from: "agent", model } as const;
  switch (payload["type"]) {
    case "message":
      return [{ at, from: toSpeaker(payload), kind: "text", model, tool: null, text: flatten(payload["content"]) }];
    case "reasoning":
      return [{ ...agent, kind: "reasoning", tool: null, text: flatten(payload["summary"]) }];
    case "function_call":
    case "custom_tool_call": {
      const text = toText(payload["arguments"] ?? payload["input"]);
      return [{ ...agent, kind: "tool_call", tool: toName(payload["name"]), text }];
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const output = payload["output"];
      const text = typeof output === "string" ? output : toText(member(output, "content"));
      return [{ at, from: "tool", kind: "tool_result", model, tool: null, text }];
    }
    default:
      return [];
  }
}

function toSpeaker({ role }: JsonObject): TranscriptEntry["from"] {
  if (role === "assistant") return "agent";
  return role === "user" ? "user" : "system";
}

function flatten(content: JsonValue | undefined): string {
  return items(content)
    .map((part) => toText(member(part, "text")))
    .join("");
}

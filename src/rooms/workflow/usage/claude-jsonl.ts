import {
  formatCanonical,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseObject,
} from "../../../core/canonical/index.ts";
import {
  type Call,
  isWork,
  items,
  listLines,
  member,
  type SessionReading,
  type TranscriptEntry,
  toAmount,
  toName,
  toText,
  toUsd,
} from "./reading.ts";

/**
 * JSON Lines with one entry a line. An answer is told of several times while it comes in, so those with one request id are
 * one call, and the entry with the most output is the whole of it. Linear in the bytes.
 */
export function readClaude(bytes: Uint8Array): Omit<SessionReading, "truncated"> {
  const calls = new Map<string, Call>();
  const entries: TranscriptEntry[] = [];
  let session: string | null = null;
  let unread = 0;
  for (const line of listLines(bytes)) {
    const value = parseObject(line);
    if (value === null) {
      unread++;
      continue;
    }
    session ??= toName(value["sessionId"]);
    const call = toCall(value);
    const before = call === null ? undefined : calls.get(call.id);
    if (call !== null && (before === undefined || call.output > before.output)) calls.set(call.id, call);
    entries.push(...toEntries(value));
  }
  return { session, calls: [...calls.values()].filter(isWork), entries, unread };
}

function toCall(value: JsonObject): Call | null {
  const usage = member(value, "message", "usage");
  const id = toName(value["requestId"]) ?? toName(member(value, "message", "id")) ?? toName(value["uuid"]);
  if (!isJsonObject(usage) || id === null) return null;
  return {
    id,
    model: toName(member(value, "message", "model")),
    input: toAmount(usage["input_tokens"]),
    cached_input: toAmount(usage["cache_read_input_tokens"]),
    cache_write: toAmount(usage["cache_creation_input_tokens"]),
    output: toAmount(usage["output_tokens"]),
    reasoning: 0,
    usd: toUsd(value["costUSD"]),
  };
}

function toEntries(value: JsonObject): TranscriptEntry[] {
  const type = value["type"];
  if (type !== "user" && type !== "assistant" && type !== "system") return [];
  const at = toName(value["timestamp"]);
  const model = toName(member(value, "message", "model"));
  const from = type === "assistant" ? "agent" : type;
  const said = member(value, "message", "content") ?? value["content"];
  if (typeof said === "string") return [{ at, from, kind: "text", model, tool: null, text: said }];
  return items(said).flatMap((part) => toEntry(part, { at, from, model }));
}

function toEntry(part: JsonValue, whose: Pick<TranscriptEntry, "at" | "from" | "model">): TranscriptEntry[] {
  const of = (key: string) => member(part, key);
  switch (of("type")) {
    case "text":
      return [{ ...whose, kind: "text", tool: null, text: toText(of("text")) }];
    case "thinking":
      return [{ ...whose, kind: "reasoning", tool: null, text: toText(of("thinking")) }];
    case "tool_use":
      return [{ ...whose, kind: "tool_call", tool: toName(of("name")), text: formatCanonical(of("input") ?? null) }];
    case "tool_result":
      return [{ ...whose, from: "tool", kind: "tool_result", tool: null, text: flatten(of("content")) }];
    default:
      return [];
  }
}

/** A result is a text, or parts of which some are texts. */
function flatten(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  return items(content)
    .map((part) => toText(member(part, "text")))
    .join("");
}

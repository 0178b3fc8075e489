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
} from "./reading.ts";

/**
 * One JSON object with `messages`, or JSON Lines; which of them it is shows where the first object ends. Of messages with
 * one id the latest is the whole of it. Linear in the bytes.
 */
export function readGemini(bytes: Uint8Array): Omit<SessionReading, "truncated"> {
  const whole = parseObject(bytes);
  const lines: JsonObject[] = [];
  let unread = 0;
  if (whole !== null) lines.push(whole);
  else {
    for (const line of listLines(bytes)) {
      const value = parseObject(line);
      if (value === null) unread++;
      else lines.push(value);
    }
  }
  const session = toName(lines.map((line) => line["sessionId"]).find((id) => id !== undefined));
  const messages = new Map<string, JsonObject>();
  for (const line of lines) {
    for (const message of [line, ...items(line["messages"])]) {
      const id = toName(member(message, "id"));
      if (id !== null && isJsonObject(message)) messages.set(id, message);
    }
  }
  const all = [...messages];
  return {
    session,
    calls: all.flatMap(([id, message]) => toCall(`${session ?? "?"}:${id}`, message)).filter(isWork),
    entries: all.flatMap(([, message]) => toEntries(message)),
    unread,
  };
}

/** What came from a cache is part of the input, and thoughts are paid for as output. */
function toCall(id: string, message: JsonObject): Call[] {
  const tokens = message["tokens"];
  if (!isJsonObject(tokens)) return [];
  const cached_input = toAmount(tokens["cached"]);
  const reasoning = toAmount(tokens["thoughts"]);
  return [
    {
      id,
      model: toName(message["model"]),
      input: Math.max(0, toAmount(tokens["input"]) - cached_input) + toAmount(tokens["tool"]),
      cached_input,
      cache_write: 0,
      output: toAmount(tokens["output"]) + reasoning,
      reasoning,
      usd: null,
    },
  ];
}

function toEntries(message: JsonObject): TranscriptEntry[] {
  const at = toName(message["timestamp"]);
  const model = toName(message["model"]);
  const type = message["type"];
  const from = type === "gemini" ? "agent" : type === "user" ? "user" : "system";
  const entries: TranscriptEntry[] = [];
  for (const thought of items(message["thoughts"])) {
    const text = [member(thought, "subject"), member(thought, "description")].map(toText).filter((one) => one !== "");
    entries.push({ at, from, kind: "reasoning", model, tool: null, text: text.join(": ") });
  }
  const text = flatten(message["content"]);
  if (text !== "") entries.push({ at, from, kind: "text", model, tool: null, text });
  for (const call of items(message["toolCalls"])) {
    const tool = toName(member(call, "name"));
    const given = formatCanonical(member(call, "args") ?? null);
    entries.push({ at, from: "agent", kind: "tool_call", model, tool, text: given });
    const result = member(call, "result");
    if (result === undefined) continue;
    const said = typeof result === "string" ? result : formatCanonical(result);
    entries.push({ at, from: "tool", kind: "tool_result", model, tool, text: said });
  }
  return entries;
}

function flatten(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  return items(content)
    .map((part) => toText(member(part, "text")))
    .join("");
}

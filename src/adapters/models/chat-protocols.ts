import { isJsonObject, type JsonValue, parseJson } from "../../core/canonical/index.ts";
import { readItems, readMember, readText } from "../../core/contracts/index.ts";
import { isVerbatimError, type VerbatimError } from "../../core/errors/index.ts";
import { failed, type HttpAnswer, type HttpCall } from "./http-call.ts";

export type ChatProtocol = "ollama" | "openai";

/** What a model said, and what it counted. */
export interface ModelAnswer {
  readonly text: string;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  /** Why it ended, in the provider's word. */
  readonly finish: string | null;
  /** The provider says that its model declined. */
  readonly refused: boolean;
  /** Characters of thinking, which is no part of the answer. */
  readonly thinking: number;
}

/** Reads the answer of a chat protocol, streamed or not. What is no answer is PROVIDER_FAILED. */
export function readAnswer(protocol: ChatProtocol, answer: HttpAnswer, call: HttpCall): ModelAnswer {
  if (protocol === "ollama") return readOllama(answer, call);
  return answer.type.startsWith("text/event-stream") ? readEvents(answer.text, call) : readOpenAi(answer.text, call);
}

/** An answer that says nothing the protocol knows. */
export function malformed(call: HttpCall, message: string): VerbatimError {
  return failed(call, message, { malformed: true });
}

/** One object, or, from servers that stream all the same, one object per line. */
function readOllama(answer: HttpAnswer, call: HttpCall): ModelAnswer {
  const lines = answer.text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) throw malformed(call, "the answer is empty");
  const streamed = lines.length > 1 && lines.every((line) => line.startsWith("{") && line.trimEnd().endsWith("}"));
  let text: string | null = null;
  let thinking = 0;
  let last: JsonValue = null;
  for (const line of streamed ? lines : [answer.text]) {
    last = parse(line, call);
    const error = readText(last, "error");
    if (error !== null) {
      throw failed(call, `the model says: ${error.slice(0, 300)}`, { model_error: true, excerpt: error.slice(0, 300) });
    }
    const message = readMember(last, "message");
    const content = readText(message, "content");
    if (content !== null) text = (text ?? "") + content;
    thinking += countThinking(message);
  }
  if (readMember(last, "done") === false) throw malformed(call, "the stream ended before the answer was done");
  if (text === null) throw malformed(call, "the answer has no message.content");
  const finish = readText(last, "done_reason");
  return { text, finish, refused: false, thinking, ...count(last, "prompt_eval_count", "eval_count") };
}

function readOpenAi(body: string, call: HttpCall): ModelAnswer {
  const value = parse(body, call);
  const choice = readItems(value, "choices")[0];
  const message = readMember(choice, "message");
  const finish = readText(choice, "finish_reason");
  const refused = finish === "content_filter" || (readText(message, "refusal") ?? "") !== "";
  const text = readContent(readMember(message, "content"), call) ?? (refused ? "" : null);
  if (text === null) throw malformed(call, "the answer has no choices[0].message.content");
  const counted = count(readMember(value, "usage"), "prompt_tokens", "completion_tokens");
  return { text, finish, refused, thinking: countThinking(message), ...counted };
}

/** A text, or the protocol's other spelling of one: parts of type `text`. Any other part is no answer. */
function readContent(content: JsonValue | undefined, call: HttpCall): string | null {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return null;
  const parts = (content as JsonValue[]).map((part) => {
    const text = readText(part, "type") === "text" ? readText(part, "text") : null;
    if (text === null) throw malformed(call, "the answer has parts that are not text");
    return text;
  });
  return parts.join("");
}

const THINKING = ["thinking", "reasoning_content", "reasoning"] as const;

function countThinking(message: JsonValue | undefined): number {
  return THINKING.reduce((sum, name) => sum + (readText(message, name) ?? "").length, 0);
}

/** Server-sent events, from servers that stream all the same. */
function readEvents(stream: string, call: HttpCall): ModelAnswer {
  let text = "";
  let done = false;
  let finish: string | null = null;
  let refused = false;
  let thinking = 0;
  let usage: JsonValue = null;
  for (const line of stream.split(/\r?\n/)) {
    if (!line.startsWith("data:")) continue;
    const data = line.slice(5).trim();
    if (data === "[DONE]") {
      done = true;
      continue;
    }
    const value = parse(data, call);
    const choice = readItems(value, "choices")[0];
    const delta = readMember(choice, "delta");
    text += readText(delta, "content") ?? "";
    finish = readText(choice, "finish_reason") ?? finish;
    thinking += countThinking(delta);
    refused ||= finish === "content_filter" || (readText(delta, "refusal") ?? "") !== "";
    usage = readMember(value, "usage") ?? usage;
  }
  if (!done) throw malformed(call, "the stream ended before [DONE]");
  return { text, finish, refused, thinking, ...count(usage, "prompt_tokens", "completion_tokens") };
}

function count(value: JsonValue | undefined, input: string, output: string) {
  return { input_tokens: toCount(readMember(value, input)), output_tokens: toCount(readMember(value, output)) };
}

function toCount(value: JsonValue | undefined): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function parse(text: string, call: HttpCall): JsonValue {
  try {
    const value = parseJson(text);
    if (isJsonObject(value)) return value;
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    throw malformed(call, `the answer is not JSON (${thrown.code})`);
  }
  throw malformed(call, "the answer is not a JSON object");
}

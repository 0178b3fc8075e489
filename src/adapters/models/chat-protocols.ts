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
  let last: JsonValue = null;
  for (const line of streamed ? lines : [answer.text]) {
    last = parse(line, call);
    const error = readText(last, "error");
    if (error !== null) throw failed(call, `the model says: ${error.slice(0, 300)}`, {});
    const content = readText(readMember(last, "message"), "content");
    if (content !== null) text = (text ?? "") + content;
  }
  if (readMember(last, "done") === false) throw malformed(call, "the stream ended before the answer was done");
  if (text === null) throw malformed(call, "the answer has no message.content");
  return { text, ...count(last, "prompt_eval_count", "eval_count") };
}

function readOpenAi(body: string, call: HttpCall): ModelAnswer {
  const value = parse(body, call);
  const text = readText(readMember(readItems(value, "choices")[0], "message"), "content");
  if (text === null) throw malformed(call, "the answer has no choices[0].message.content");
  return { text, ...count(readMember(value, "usage"), "prompt_tokens", "completion_tokens") };
}

/** Server-sent events, from servers that stream all the same. */
function readEvents(stream: string, call: HttpCall): ModelAnswer {
  let text = "";
  let done = false;
  let usage: JsonValue = null;
  for (const line of stream.split(/\r?\n/)) {
    if (!line.startsWith("data:")) continue;
    const data = line.slice(5).trim();
    if (data === "[DONE]") {
      done = true;
      continue;
    }
    const value = parse(data, call);
    text += readText(readMember(readItems(value, "choices")[0], "delta"), "content") ?? "";
    usage = readMember(value, "usage") ?? usage;
  }
  if (!done) throw malformed(call, "the stream ended before [DONE]");
  return { text, ...count(usage, "prompt_tokens", "completion_tokens") };
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

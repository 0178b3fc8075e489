import { isJsonObject, type JsonValue, parseJson } from "../../core/canonical/index.ts";
import { readItems, readMember, readText } from "../../core/contracts/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import type { ChatModel, ChatModels } from "../../core/models.ts";
import { failed, type HttpAnswer, type HttpCall, postJson } from "./http-call.ts";

/** Models behind HTTP: Ollama, and everything that speaks the OpenAI chat protocol. */
export const chatModels: ChatModels = { ollama: createOllama, openai: createOpenAi };

function createOllama({ base_url, model }: { readonly base_url: string; readonly model: string }): ChatModel {
  return {
    async complete(request) {
      const messages = [{ role: "user", content: request.content }];
      const body = { model, messages, stream: false, options: { temperature: 0, seed: 0 } };
      const call: HttpCall = { url: join(base_url, "/api/chat"), headers: {}, body, secret: null };
      const answer = await postJson(call, request);
      return { text: readOllama(answer, call) };
    },
  };
}

function createOpenAi({
  base_url,
  model,
  api_key,
}: {
  base_url: string;
  model: string;
  api_key: string | null;
}): ChatModel {
  return {
    async complete(request) {
      const messages = [{ role: "user", content: request.content }];
      const headers: Record<string, string> = api_key === null ? {} : { authorization: `Bearer ${api_key}` };
      const body = { model, messages, stream: false, temperature: 0 };
      const call: HttpCall = { url: join(base_url, "/chat/completions"), headers, body, secret: api_key };
      const answer = await postJson(call, request);
      return { text: readOpenAi(answer, call) };
    },
  };
}

function join(base: string, path: string): string {
  return base.replace(/\/+$/, "") + path;
}

/** One object, or, from servers that stream all the same, one object per line. */
function readOllama(answer: HttpAnswer, call: HttpCall): string {
  const lines = answer.text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) throw malformed(call, "the answer is empty");
  const objects =
    lines.length > 1 && lines.every((line) => line.startsWith("{") && line.trimEnd().endsWith("}"))
      ? lines
      : [answer.text];
  let text = "";
  let done = false;
  for (const line of objects) {
    const value = parse(line, call);
    const error = readText(value, "error");
    if (error !== null) throw failed(call, `the model says: ${error.slice(0, 300)}`, {});
    text += readText(readMember(value, "message"), "content") ?? "";
    done ||= readMember(value, "done") !== false;
  }
  if (!done) throw malformed(call, "the stream ended before the answer was done");
  if (text === "") throw malformed(call, "the answer has no message.content");
  return text;
}

function readOpenAi(answer: HttpAnswer, call: HttpCall): string {
  if (answer.type.startsWith("text/event-stream")) return readEvents(answer.text, call);
  const value = parse(answer.text, call);
  const content = readText(readMember(readItems(value, "choices")[0], "message"), "content");
  if (content === null || content === "") throw malformed(call, "the answer has no choices[0].message.content");
  return content;
}

/** Server-sent events, from servers that stream all the same. */
function readEvents(stream: string, call: HttpCall): string {
  let text = "";
  let done = false;
  for (const line of stream.split(/\r?\n/)) {
    if (!line.startsWith("data:")) continue;
    const data = line.slice(5).trim();
    if (data === "[DONE]") done = true;
    else text += readText(readMember(readItems(parse(data, call), "choices")[0], "delta"), "content") ?? "";
  }
  if (!done) throw malformed(call, "the stream ended before [DONE]");
  if (text === "") throw malformed(call, "the stream has no content");
  return text;
}

function parse(text: string, call: HttpCall): JsonValue {
  try {
    const value = parseJson(text);
    if (isJsonObject(value)) return value;
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    throw malformed(call, `the answer is not JSON (${thrown.code})`);
  }
  throw malformed(call, "the answer is not an object");
}

function malformed(call: HttpCall, message: string) {
  return failed(call, message, { malformed: true });
}

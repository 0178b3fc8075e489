import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  breaksOff,
  ModelServer,
  ollamaSays,
  ollamaStreams,
  openAiSays,
  openAiStreams,
  redirectsTo,
  refuses,
  says,
  staysSilent,
} from "../../../test/support/chat-server.ts";
import { chatModels } from "./chat.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await ModelServer.start();
});
afterAll(() => server.close());

const KEY = "sk-very-secret";
const request = (most_bytes = 1_000_000, timeout_ms = 5000) => ({
  content: "Write a plan.\n$(touch x)",
  timeout_ms,
  most_bytes,
  signal: new AbortController().signal,
});
const ollama = () => chatModels.ollama({ base_url: `${server.url}/`, model: "tiny" });
const openai = () => chatModels.openai({ base_url: `${server.url}/v1`, model: "large", api_key: KEY });

describe("Ollama", () => {
  it("is asked with temperature and seed zero, and answers with its message", async () => {
    server.next(ollamaSays("done\n"));
    expect(await ollama().complete(request())).toEqual({ text: "done\n" });
    expect(server.seen.at(-1)).toMatchObject({
      url: "/api/chat",
      body: {
        model: "tiny",
        stream: false,
        options: { temperature: 0, seed: 0 },
        messages: [{ role: "user", content: "Write a plan.\n$(touch x)" }],
      },
    });
  });

  it("is understood when it streams all the same, and refused when the stream ends early", async () => {
    server.next(ollamaStreams(["a", "b", "c"])).next(ollamaStreams(["a"], false));
    expect(await ollama().complete(request())).toEqual({ text: "abc" });
    await expect(ollama().complete(request())).rejects.toMatchObject({ code: "PROVIDER_FAILED" });
  });

  it.each([
    ["an error", says('{"error":"model not found"}')],
    ["no JSON", says("<html>")],
    ["no object", says("[1]")],
    ["no message", says('{"done":true}')],
    ["nothing", says("")],
    ["a server error", refuses(500, "boom")],
    ["a torn answer", breaksOff],
  ])("gives PROVIDER_FAILED for %s", async (_, answer) => {
    server.next(answer);
    await expect(ollama().complete(request())).rejects.toMatchObject({ code: "PROVIDER_FAILED" });
  });
});

describe("the OpenAI protocol", () => {
  it("sends the key as a bearer and reads the first choice", async () => {
    server.next(openAiSays("diff --git a/x b/x\n"));
    expect(await openai().complete(request())).toEqual({ text: "diff --git a/x b/x\n" });
    expect(server.seen.at(-1)).toMatchObject({ url: "/v1/chat/completions", authorization: `Bearer ${KEY}` });
  });

  it("reads server-sent events up to [DONE]", async () => {
    server.next(openAiStreams(["He", "llo"])).next(openAiStreams(["He"], false));
    expect(await openai().complete(request())).toEqual({ text: "Hello" });
    await expect(openai().complete(request())).rejects.toMatchObject({ code: "PROVIDER_FAILED" });
  });

  it("never lets the key into an error, not even when the server repeats it", async () => {
    server.next(refuses(401, `bad key ${KEY}`));
    const thrown = await openai()
      .complete(request())
      .catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: "PROVIDER_FAILED", details: { status: 401 } });
    expect(JSON.stringify(thrown, Object.getOwnPropertyNames(thrown))).not.toContain(KEY);
  });

  it("does not follow a redirect with the key", async () => {
    const other = await ModelServer.start();
    server.next(redirectsTo(`${other.url}/v1/chat/completions`));
    await expect(openai().complete(request())).rejects.toMatchObject({ code: "PROVIDER_FAILED" });
    expect(other.seen).toEqual([]);
    await other.close();
  });

  it("gives PROVIDER_TIMEOUT for silence and PROVIDER_FAILED for too much or for nobody there", async () => {
    server.next(staysSilent);
    await expect(openai().complete(request(1000, 100))).rejects.toMatchObject({ code: "PROVIDER_TIMEOUT" });
    server.next(openAiSays("x".repeat(5000)));
    await expect(openai().complete(request(1000))).rejects.toMatchObject({ code: "PROVIDER_FAILED" });
    const nobody = chatModels.openai({ base_url: "http://127.0.0.1:1", model: "m", api_key: KEY });
    await expect(nobody.complete(request())).rejects.toMatchObject({ code: "PROVIDER_FAILED" });
  });
});

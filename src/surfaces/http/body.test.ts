// Bodies as they arrive: of the type they say, no larger than they may be, whole JSON and nothing else.
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { readInput, readUpload } from "./body.ts";
import { toErrorBody } from "./failure.ts";

const hono = new Hono();
hono.onError((thrown, call) => call.json(toErrorBody(thrown).body, 400));
hono.post("/input", async (call) => call.json(await readInput(call, 20)));
hono.post("/upload", async (call) => call.json([...(await readUpload(call))]));

async function send(path: string, type: string | null, body: string | ReadableStream | null, more: object = {}) {
  const headers = { ...(type === null ? {} : { "content-type": type }), ...more };
  const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
  // A text would be given a type by the platform itself.
  const sent = typeof body === "string" ? { ...init, body: new TextEncoder().encode(body) } : init;
  const answer = (await (await hono.request(path, sent)).json()) as { readonly error?: { readonly code: string } };
  return answer.error?.code ?? answer;
}

const JSONS = "application/json";
const FILE = "application/octet-stream";

describe("an input", () => {
  it.each<[string, string | null, string | null, unknown]>([
    ["without a body is empty", null, null, {}],
    ["of JSON without a body is empty", JSONS, null, {}],
    ["of another type is refused also without a body", FILE, null, "BODY_TYPE_REFUSED"],
    ["of a form is refused also without a body", "text/plain", null, "BODY_TYPE_REFUSED"],
    [
      "of JSON is read, whatever the case and the parameters of its type",
      "Application/JSON; charset=x",
      '{"a":1}',
      { a: 1 },
    ],
    ["without a type is refused", null, '{"a":1}', "BODY_TYPE_REFUSED"],
    ["of another type is refused", FILE, '{"a":1}', "BODY_TYPE_REFUSED"],
    ["that only begins like JSON is refused", "application/jsonp", '{"a":1}', "BODY_TYPE_REFUSED"],
    ["of twenty bytes is read", JSONS, '{"a":"0123456789ab"}', { a: "0123456789ab" }],
    ["of twenty-one bytes is too large", JSONS, '{"a":"0123456789abc"}', "BODY_TOO_LARGE"],
    ["that is a list is refused", JSONS, "[1]", "INPUT_INVALID"],
  ])("%s", async (_, type, body, expected) => {
    expect(await send("/input", type, body)).toEqual(expected);
  });

  it("that says it is too large is refused before it is read, and one that says less than it has is not read on", async () => {
    let pulled = 0;
    const endless = () =>
      new ReadableStream(
        {
          pull(controller) {
            pulled++;
            controller.enqueue(new TextEncoder().encode(" ".repeat(8)));
          },
        },
        { highWaterMark: 0 },
      );
    expect(await send("/input", JSONS, endless(), { "content-length": "21" })).toBe("BODY_TOO_LARGE");
    expect(pulled).toBe(0);
    expect(await send("/input", JSONS, endless(), { "content-length": "2" })).toBe("BODY_TOO_LARGE");
    expect(pulled).toBe(3);
  });
});

describe("a file that is sent", () => {
  it.each<[string, string | null, string | null, unknown]>([
    ["has its own type", FILE, "ab", [97, 98]],
    ["is not JSON", JSONS, "{}", "BODY_TYPE_REFUSED"],
    ["is not JSON without a body either", JSONS, null, "BODY_TYPE_REFUSED"],
  ])("%s", async (_, type, body, expected) => {
    expect(await send("/upload", type, body)).toEqual(expected);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countUsage, sumUsage } from "./count-usage.ts";
import { readPrices } from "./prices.ts";
import { mergeCalls, readSession, SESSION_FORMATS } from "./read-session.ts";

const encode = (lines: readonly unknown[]) =>
  new TextEncoder().encode(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));

const answer = (requestId: string, output: number, more: object = {}) => ({
  type: "assistant",
  sessionId: "s-1",
  requestId,
  timestamp: "2026-11-01T10:00:00Z",
  message: {
    model: "claude-sonnet-5-20260701",
    content: [{ type: "tool_use", name: "Edit", input: { path: "tide.ts" } }],
    usage: {
      input_tokens: 100,
      cache_read_input_tokens: 2000,
      cache_creation_input_tokens: 400,
      output_tokens: output,
      ...more,
    },
  },
});

const total = (input: number, cached: number, output: number, reasoning: number) => ({
  timestamp: "2026-11-01T10:00:01Z",
  type: "event_msg",
  payload: {
    type: "token_count",
    info: {
      total_token_usage: {
        input_tokens: input,
        cached_input_tokens: cached,
        output_tokens: output,
        reasoning_output_tokens: reasoning,
      },
    },
  },
});

const ZERO = { input: 0, cached_input: 0, cache_write: 0, output: 0, reasoning: 0 };

describe("a session of Claude Code", () => {
  it("counts an answer once, however often it is told of, by its fullest telling", () => {
    const bytes = encode([answer("r-1", 8), answer("r-1", 90), answer("r-1", 90), answer("r-2", 5)]);
    const { session, calls } = readSession("claude-jsonl", bytes);
    expect(session).toBe("s-1");
    expect(calls.map(({ id, output }) => [id, output])).toEqual([
      ["r-1", 90],
      ["r-2", 5],
    ]);
    expect(calls[0]).toMatchObject({ input: 100, cached_input: 2000, cache_write: 400, reasoning: 0 });
  });

  it("tells what was said and done, in order", () => {
    const bytes = encode([
      { type: "user", message: { role: "user", content: "mend the tide table" } },
      answer("r-1", 8),
      { type: "user", message: { content: [{ type: "tool_result", content: [{ type: "text", text: "done" }] }] } },
      { type: "summary", summary: "Tides" },
    ]);
    const { entries } = readSession("claude-jsonl", bytes);
    expect(entries.map(({ from, kind, tool, text }) => [from, kind, tool, text])).toEqual([
      ["user", "text", null, "mend the tide table"],
      ["agent", "tool_call", "Edit", '{"path":"tide.ts"}'],
      ["tool", "tool_result", null, "done"],
    ]);
  });

  it("takes what an agent says of its own cost, and leaves answers without tokens out", () => {
    const stated = { ...answer("r-1", 10), costUSD: 0.25 };
    const empty = answer("r-2", 0, { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 });
    const { calls } = readSession("claude-jsonl", encode([stated, empty]));
    expect(calls.map(({ id, usd }) => [id, usd])).toEqual([["r-1", 0.25]]);
    expect(countUsage(calls, readPrices(null))).toMatchObject({
      usd: 0.25,
      models: [{ model: "claude-sonnet-5-20260701", usd_from: "agent" }],
    });
  });
});

describe("a session of Codex", () => {
  it("adds up to its last total, and gives each part to the model of its turn", () => {
    const bytes = encode([
      { type: "session_meta", payload: { id: "c-1" } },
      { type: "turn_context", payload: { model: "gpt-5" } },
      total(1000, 600, 50, 20),
      total(1000, 600, 50, 20),
      { type: "turn_context", payload: { model: "gpt-5-mini" } },
      total(1500, 700, 80, 30),
    ]);
    const { calls } = readSession("codex-jsonl", bytes);
    expect(countUsage(calls, readPrices(null))).toMatchObject({
      input: 800,
      cached_input: 700,
      output: 80,
      reasoning: 30,
      models: [
        { model: "gpt-5", input: 400, cached_input: 600, output: 50, reasoning: 20 },
        { model: "gpt-5-mini", input: 400, cached_input: 100, output: 30, reasoning: 10 },
      ],
    });
  });

  it("begins anew where a total is less than the one before", () => {
    const { calls } = readSession("codex-jsonl", encode([total(100, 0, 10, 0), total(40, 0, 4, 0)]));
    expect(calls.map(({ input, output }) => [input, output])).toEqual([
      [100, 10],
      [40, 4],
    ]);
  });

  it("tells what was said and done", () => {
    const item = (payload: object) => ({ timestamp: "2026-11-01T10:00:00Z", type: "response_item", payload });
    const { entries } = readSession(
      "codex-jsonl",
      encode([
        item({ type: "message", role: "user", content: [{ type: "input_text", text: "mend it" }] }),
        item({ type: "reasoning", summary: [{ type: "summary_text", text: "look first" }] }),
        item({ type: "function_call", name: "shell", arguments: '{"command":["ls"]}' }),
        item({ type: "function_call_output", output: "tide.ts" }),
        item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "mended" }] }),
      ]),
    );
    expect(entries.map(({ from, kind, text }) => [from, kind, text])).toEqual([
      ["user", "text", "mend it"],
      ["agent", "reasoning", "look first"],
      ["agent", "tool_call", '{"command":["ls"]}'],
      ["tool", "tool_result", "tide.ts"],
      ["agent", "text", "mended"],
    ]);
  });
});

describe("a session of Gemini CLI", () => {
  const message = (id: string, output: number) => ({
    id,
    type: "gemini",
    model: "gemini-2.5-pro",
    content: "mended",
    tokens: { input: 1000, cached: 300, output, thoughts: 40, tool: 5, total: 0 },
    toolCalls: [{ name: "edit", args: { path: "tide.ts" }, result: "done" }],
  });
  const usage = { input: 705, cached_input: 300, cache_write: 0, output: 60, reasoning: 40 };

  it("is read as one object", () => {
    const bytes = encode([
      { sessionId: "g-1", messages: [{ id: "m-0", type: "user", content: "mend it" }, message("m-1", 20)] },
    ]);
    const { session, calls, entries } = readSession("gemini-json", bytes);
    expect(session).toBe("g-1");
    expect(calls).toEqual([{ id: "g-1:m-1", model: "gemini-2.5-pro", ...usage, usd: null }]);
    expect(entries.map(({ from, kind }) => [from, kind])).toEqual([
      ["user", "text"],
      ["agent", "text"],
      ["agent", "tool_call"],
      ["tool", "tool_result"],
    ]);
  });

  it("is read as lines, of which the latest of each id counts", () => {
    const bytes = encode([{ sessionId: "g-1" }, message("m-1", 1), message("m-1", 20), { $set: { lastUpdated: "x" } }]);
    expect(readSession("gemini-json", bytes).calls).toEqual([
      { id: "g-1:m-1", model: "gemini-2.5-pro", ...usage, usd: null },
    ]);
  });
});

describe("whatever an agent wrote there", () => {
  it("reads what was written before a file was cut in the middle of a line", () => {
    const whole = encode([answer("r-1", 8), answer("r-2", 9)]);
    const cut = readSession("claude-jsonl", whole.subarray(0, whole.length - 20));
    expect(cut.calls.map(({ id }) => id)).toEqual(["r-1"]);
    expect(cut.unread).toBe(1);
  });

  it("takes no number, name or text from a line that is hostile", () => {
    const hostile = answer("r-1\u0000\u001b[2J", 3, {
      input_tokens: -5,
      cache_read_input_tokens: 1e300,
      cache_creation_input_tokens: "900",
    });
    const lines = ["[".repeat(100_000), '{"__proto__":{"usage":1}}', "null", '{"a":1,"a":2}', hostile];
    const { calls, unread } = readSession("claude-jsonl", encode(lines));
    expect(unread).toBe(3);
    expect(calls).toEqual([{ ...ZERO, id: "r-1[2J", model: "claude-sonnet-5-20260701", output: 3, usd: null }]);
    expect(({} as { usage?: number }).usage).toBeUndefined();
  });

  it("reads 64 MiB of a file that is larger, and says so", () => {
    const line = encode([answer("r-1", 8)]);
    const huge = new Uint8Array(64 * 1024 * 1024 + 1000).fill(10);
    huge.set(line, 0);
    huge.set(encode([answer("r-2", 8)]), 64 * 1024 * 1024);
    const { calls, truncated } = readSession("claude-jsonl", huge);
    expect(truncated).toBe(true);
    expect(calls.map(({ id }) => id)).toEqual(["r-1"]);
  });

  it.each(SESSION_FORMATS)("never throws and never counts less than nothing: %s", (format) => {
    const keys = ["type", "payload", "message", "usage", "info", "total_token_usage", "tokens", "messages", "id"];
    const numbers = ["input_tokens", "cached_input_tokens", "output_tokens", "input", "cached", "requestId", "model"];
    const line = fc.dictionary(fc.constantFrom(...keys, ...numbers), fc.jsonValue({ maxDepth: 4 }));
    const text = fc.oneof(
      line.map((value) => JSON.stringify(value)),
      fc.string(),
      fc.constant("\ud800"),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 20 }), fc.uint8Array({ maxLength: 40 }), (lines, tail) => {
        const bytes = new Uint8Array([...new TextEncoder().encode(lines.join("\n")), ...tail]);
        const { calls } = readSession(format, bytes);
        const usage = countUsage(calls, readPrices(null));
        const counts = [usage.input, usage.cached_input, usage.cache_write, usage.output, usage.reasoning];
        expect(counts.every((one) => Number.isSafeInteger(one) && one >= 0)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe("what an agent used", () => {
  const call = (id: string, model: string | null, output: number) => ({ ...ZERO, id, model, output, usd: null });

  it("is what is new in files that were there before, and counts a call of two files once", () => {
    const before = [call("a", "gpt-5", 1)];
    const now = [call("a", "gpt-5", 1), call("b", "gpt-5", 2), call("b", "gpt-5", 7)];
    expect(mergeCalls(now, before)).toEqual([call("b", "gpt-5", 7)]);
  });

  it("costs what the table says, by the name of the model without its date", () => {
    const calls = readSession("claude-jsonl", encode([answer("r-1", 1000)])).calls;
    // 100 x 2 + 2000 x 0.2 + 400 x 2.5 + 1000 x 10, in millionths of a dollar.
    expect(countUsage(calls, readPrices(null))).toMatchObject({ usd: 0.0116, prices: "2026-11-06" });
  });

  it("costs more where a request is long", () => {
    const long = { ...call("a", "gemini-2.5-pro", 1000), input: 200_001 };
    expect(countUsage([long], readPrices(null)).usd).toBe(0.515003);
    expect(countUsage([{ ...long, input: 200_000 }], readPrices(null)).usd).toBe(0.26);
  });

  it("has tokens and no price where the table does not know a model", () => {
    const usage = countUsage([call("a", "harbour-1", 10), call("b", "gpt-5", 10)], readPrices(null));
    expect(usage).toMatchObject({ output: 20, usd: null });
    expect(usage.models.map(({ model, usd, usd_from }) => [model, usd, usd_from])).toEqual([
      ["gpt-5", 0.0001, "table"],
      ["harbour-1", null, null],
    ]);
  });

  it("is priced by the user's own table, which names only what differs", () => {
    const value = {
      schema_version: "verbatim-agent-prices-v1",
      date: "2026-11-19",
      models: { "harbour-1": { input: 1, cached_input: 1, cache_write: 1, output: 4 } },
    };
    const prices = readPrices({ place: "prices.json", value });
    expect(countUsage([call("a", "harbour-1", 10), call("b", "gpt-5", 10)], prices)).toMatchObject({
      usd: 0.00014,
      prices: "2026-11-19",
    });
    expect(() => readPrices({ place: "prices.json", value: { ...value, date: "today" } })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", where: "prices.json /date" }),
    );
  });

  it("of all attempts is known only where that of each is", () => {
    const one = countUsage([call("a", "gpt-5", 10)], readPrices(null));
    expect(sumUsage([one, one])).toEqual({ ...ZERO, output: 20, usd: 0.0002 });
    expect(sumUsage([one, null])).toEqual({ ...ZERO, output: 10, usd: null });
    expect(sumUsage([null])).toBeNull();
  });
});

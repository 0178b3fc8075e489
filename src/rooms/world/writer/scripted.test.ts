import { describe, expect, it } from "vitest";
import { intlGraphemes } from "../../../adapters/intl/graphemes.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { Cast } from "../people/cast.ts";
import type { Evidence, ModelCall } from "./beat-loop.ts";
import { parseScript, ScriptedWriter } from "./scripted.ts";

const cast: Cast = {
  operator_id: "GEORGE",
  operator_name: "George",
  people: new Map([
    ["ANA", "Ana"],
    ["BEN", "Ben"],
  ]),
  present: ["ANA", "BEN", "GEORGE"],
  visibility_default: "presence",
  writer_lint: "report",
};

const call = (evidence: readonly Evidence[] = [], available = true): ModelCall => ({
  plan: { actor: "WORLD", pass: "ROOM" },
  purpose: "WRITER",
  evidence,
  tools: { available, calls_left: 4 },
});

const found = (excerpt: string): Evidence => ({ value: { results: [{ verbatim_excerpt: excerpt }] }, bytes: 1 });
const NO_WRITE = '{"no_write":{"reason":null}}';

function says(raw: string): string {
  const { entries } = (JSON.parse(raw) as { proposed_write_bundle: { entries: { text: string }[] } })
    .proposed_write_bundle;
  return entries.map(({ text }) => text).join("\n");
}

describe("without a script", () => {
  const answer = (operator_text: string, made: ModelCall = call(), here: Cast = cast) =>
    new ScriptedWriter(intlGraphemes, null, []).answer({ call: made, cast: here, beat_no: 1, operator_text });

  it("looks for the operator's words first, in five lines", () => {
    const tool = { name: "LEDGER_SEARCH", query_text: "Where is the key?", constraints: { limit: 5 } };
    expect(JSON.parse(answer("Where is the key?"))).toEqual({ tool_request: { tool } });
  });

  it("asks nothing when there is no word to look for, or no tool", () => {
    expect(says(answer("?!"))).toBe("I hear you.");
    expect(says(answer(""))).toBe("I hear you.");
    expect(says(answer("Where?", call([], false)))).toBe("I hear you.");
  });

  it("lets the first person present quote what was found, at most 200 bytes of it", () => {
    const raw = answer("key", call([found("The key is under the boat.")]));
    expect(says(raw)).toBe('"The key is under the boat." - I remember.');
    expect(raw).toContain('"author_id":"ANA"');
    expect(says(answer("key", call([found("é".repeat(300))])))).toBe(`"${"é".repeat(100)}" - I remember.`);
  });

  it("quotes the first line that is not one of its own, so that no quote nests", () => {
    const own = ["I hear you.", '"The key is under the boat." - I remember.', "The key is under the boat."];
    const evidence: Evidence = { value: { results: own.map((verbatim_excerpt) => ({ verbatim_excerpt })) }, bytes: 1 };
    expect(says(answer("key", call([evidence])))).toBe('"The key is under the boat." - I remember.');
    const none: Evidence = { value: { results: [{ verbatim_excerpt: own[0]! }] }, bytes: 1 };
    expect(says(answer("key", call([none])))).toBe("I hear you.");
  });

  it("is silent when nobody but the operator is there", () => {
    expect(answer("key", call([found("x")]), { ...cast, present: ["GEORGE"] })).toBe(NO_WRITE);
  });
});

describe("with a script", () => {
  const line = (when: object, reason: string) => JSON.stringify({ when, output: { no_write: { reason } } });
  const script = [line({ beat: 2 }, "two"), line({ input_contains: "key" }, "key"), line({ any: true }, "any")];
  const reason = (raw: string) => (JSON.parse(raw) as { no_write: { reason: string | null } }).no_write.reason;

  it("uses the first unused line whose condition holds, each once, and is silent after the last", () => {
    const writer = new ScriptedWriter(intlGraphemes, script, []);
    const say = (operator_text: string, beat_no: number) =>
      reason(writer.answer({ call: call(), cast, beat_no, operator_text }));
    expect([say("the key", 1), say("the key", 1), say("the key", 2), say("the key", 2)]).toEqual([
      "key",
      "any",
      "two",
      null,
    ]);
    expect(writer.used).toEqual([1, 2, 0]);
  });

  it("does not use again what an earlier beat used", () => {
    const writer = new ScriptedWriter(intlGraphemes, script, [1, 2]);
    expect(reason(writer.answer({ call: call(), cast, beat_no: 1, operator_text: "key" }))).toBeNull();
  });

  it("gives raw text as it is, and numbers as they were written", () => {
    const output = '{"tool_request":{"tool":{"constraints":{"limit":2.0}}}}';
    const lines = parseScript(['{"when":{"any":true},"raw":"no JSON"}', `{"when":{"beat":1},"output":${output}}`]);
    expect(lines.map(({ raw }) => raw)).toEqual(["no JSON", output]);
  });

  it.each([
    ["[]", "line 1 of the script is not a JSON object"],
    ['{"output":{}}', "needs when"],
    ['{"when":{},"output":{}}', "needs when"],
    ['{"when":{"beet":1},"output":{}}', "needs when"],
    ['{"when":{"beat":"1"},"output":{}}', "needs when"],
    ['{"when":{"any":false},"output":{}}', "needs when"],
    ['{"when":{"beat":1,"any":true},"output":{}}', "needs when"],
    ['{"when":{"any":true}}', "needs either output or raw"],
    ['{"when":{"any":true},"output":{},"raw":"x"}', "needs either output or raw"],
    ['{"when":{"any":true},"raw":5}', "not a text"],
    ['{"when":{"any":true},"raw":"x","then":1}', '"then"'],
  ])("refuses %s", (text, message) => {
    let thrown: unknown;
    try {
      parseScript([text]);
    } catch (caught) {
      thrown = caught;
    }
    expect(isVerbatimError(thrown) && thrown.code).toBe("INPUT_INVALID");
    expect((thrown as Error).message).toContain(message);
  });
});

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type JsonObject, type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { JOBS_AREAS } from "../conformance.ts";
import { checkMessage, parseMessage, toMessage } from "./message.ts";

interface Vector extends JsonObject {
  id: string;
  area: string;
  name: string;
  input: JsonObject;
  expected: JsonObject & { problems: string[][] };
}

const vectors = (
  parseJson(readFileSync(new URL("../../../../test/vectors/bundle.json", import.meta.url))) as Vector[]
).filter(({ area }) => area === "jobs.message");

const SECTION = "da9585c8eddf4698789202ec3752ae6295a0c45aaa29ee48366277aa9b0bb116";
const MESSAGE = {
  intent: "Read the harbour rules.",
  refs: ["@CANON/LIGHTS"],
  ops: [{ type: "READ", target: "@CANON/LIGHTS", params: {} }],
  budgets: { max_symbols: 1, max_sections: 1, max_bytes_expanded: 1000, max_expands_per_step: 1 },
  required_outputs: [],
};

const judge = (value: JsonValue) => checkMessage(value).map(({ code, pointer }) => `${code} ${pointer}`);

describe("the vectors of jobs.message", () => {
  it("are all there", () => {
    expect(vectors).toHaveLength(22);
  });

  it.each(vectors.map((vector) => [vector.id, vector.name, vector] as const))(
    "%s %s",
    (_id, _name, { input, expected }) => {
      const answer = JOBS_AREAS["jobs.message"](input) as { problems: string[][] };
      expect(answer.problems.map(String).sort()).toEqual(expected.problems.map(String).sort());
    },
  );
});

describe("a message", () => {
  it("without refs is not also accused of undeclared targets", () => {
    const { refs: _, ...rest } = MESSAGE;
    expect(judge(rest)).toEqual(["MESSAGE_FIELD_MISSING /refs"]);
    expect(judge({ ...MESSAGE, refs: "@CANON/LIGHTS" })).toEqual(["MESSAGE_FIELD_TYPE /refs"]);
  });

  it("without ops is not also accused of unprovided outputs", () => {
    const { ops: _, ...rest } = MESSAGE;
    expect(judge({ ...rest, required_outputs: ["lights"] })).toEqual(["MESSAGE_FIELD_MISSING /ops"]);
  });

  it("may name a section only where it reads", () => {
    const ops = [
      { type: "READ", target: SECTION, params: { slice: "head(1)" } },
      { type: "EXECUTE", target: SECTION, params: {} },
    ];
    expect(judge({ ...MESSAGE, ops })).toEqual(["MESSAGE_TARGET_SYNTAX /ops/1/target"]);
  });

  it.each(["READ", "WRITE", "EXECUTE"])("refuses parameters that %s objects would inherit", (type) => {
    const params = parseJson('{"patch":"diff","__proto__":{"slice":"ALL"},"constructor":1,"toString":2}') as JsonObject;
    if (type !== "WRITE") delete params["patch"];
    expect(judge({ ...MESSAGE, ops: [{ type, target: "@CANON/LIGHTS", params }] })).toEqual([
      "MESSAGE_PARAM_UNKNOWN /ops/0/params/__proto__",
      "MESSAGE_PARAM_UNKNOWN /ops/0/params/constructor",
      "MESSAGE_PARAM_UNKNOWN /ops/0/params/toString",
    ]);
  });

  it("is not fooled by an operation called like a member every object has", () => {
    const op = { type: "constructor", target: "@CANON/LIGHTS", params: {} };
    expect(judge({ ...MESSAGE, ops: [op] })).toEqual(["MESSAGE_OP_TYPE /ops/0/type"]);
  });

  it("may have exactly a thousand operations", () => {
    const ops = Array.from({ length: 1000 }, () => MESSAGE.ops[0]!);
    expect(judge({ ...MESSAGE, ops })).toEqual([]);
    expect(judge({ ...MESSAGE, ops: [...ops, MESSAGE.ops[0]!] })).toEqual(["MESSAGE_TOO_MANY_OPS /ops"]);
  });
});

describe("reading a message", () => {
  it("gives the message", () => {
    expect(parseMessage(JSON.stringify(MESSAGE)).ops[0]?.type).toBe("READ");
  });

  it("refuses an invalid one with every problem", () => {
    const problems = [
      expect.objectContaining({ code: "MESSAGE_INTENT_EMPTY", pointer: "/intent" }),
      expect.objectContaining({ code: "MESSAGE_NO_OPS", pointer: "/ops" }),
    ];
    expect(() => toMessage({ ...MESSAGE, intent: "", ops: [] })).toThrowError(
      expect.objectContaining({ code: "MESSAGE_INVALID", exit: 2, where: "/intent", details: { problems } }),
    );
  });

  it("keeps the codes of JSON for what is not JSON", () => {
    expect(() => parseMessage('{"intent":"a","intent":"b"}')).toThrowError(
      expect.objectContaining({ code: "JSON_DUPLICATE_KEY" }),
    );
  });

  it("refuses more than 16 MiB before parsing, counted in bytes", () => {
    const limit = 16 * 1024 * 1024;
    const tooLarge = expect.objectContaining({
      code: "MESSAGE_TOO_LARGE",
      exit: 2,
      details: { bytes: limit + 1, limit },
    });
    expect(() => parseMessage(new Uint8Array(limit + 1).fill(0x20))).toThrowError(tooLarge);
    expect(() => parseMessage(`${"é".repeat(limit / 2)} `)).toThrowError(tooLarge);
    expect(() => parseMessage(new Uint8Array(limit).fill(0x20))).toThrowError(
      expect.objectContaining({ code: "JSON_SYNTAX" }),
    );
  });
});

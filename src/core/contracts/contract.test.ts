import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Float, type JsonValue, parseJson } from "../canonical/index.ts";
import { defineContract, defineTextContract, type NamedCheck, parseContract } from "./contract.ts";
import { defineForm } from "./form.ts";

function contractOf<S extends z.ZodType>(schema: S, checks: readonly NamedCheck[] = []) {
  return defineContract({ room: "demo", name: "thing", title: "Thing", summary: "A thing.", schema, checks });
}

function judge(schema: z.ZodType, value: JsonValue): [string, string][] {
  return contractOf(schema)
    .check(value)
    .map(({ code, pointer }) => [code, pointer]);
}

const read = (text: string) => parseJson(text);

describe("a field", () => {
  it("that is absent is FIELD_MISSING, at its own pointer", () => {
    expect(judge(z.strictObject({ a: z.string(), b: z.string().optional() }), read("{}"))).toEqual([
      ["FIELD_MISSING", "/a"],
    ]);
  });

  it("that inherits a value from Object is still missing", () => {
    const shape = z.strictObject({ toString: z.string(), constructor: z.string() });
    const expected = [
      ["FIELD_MISSING", "/constructor"],
      ["FIELD_MISSING", "/toString"],
    ];
    expect(judge(shape, read("{}"))).toEqual(expected);
    expect(judge(shape, {})).toEqual(expected);
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"])(
    "called %s is unknown like any other and never skipped",
    (key) => {
      const value = read(`{"a":{"${key}":{"x":1}},"${key}":1}`);
      expect(judge(z.strictObject({ a: z.strictObject({}) }), value)).toEqual(
        expect.arrayContaining([
          ["FIELD_UNKNOWN", `/${key}`],
          ["FIELD_UNKNOWN", `/a/${key}`],
        ]),
      );
    },
  );

  it("of a map is judged whatever its key", () => {
    const map = z.record(z.string().regex(/^[a-z_]+$/), z.int());
    expect(judge(map, read('{"__proto__":"x","constructor":1.0,"Bad key":3}'))).toEqual([
      ["FIELD_PATTERN", "/Bad key"],
      ["FIELD_TYPE", "/__proto__"],
      ["FIELD_TYPE", "/constructor"],
    ]);
  });

  it("is named with RFC 6901 escapes", () => {
    expect(judge(z.strictObject({}), read('{"a/b":1,"m~n":2,"":3}'))).toEqual([
      ["FIELD_UNKNOWN", "/"],
      ["FIELD_UNKNOWN", "/a~1b"],
      ["FIELD_UNKNOWN", "/m~0n"],
    ]);
  });

  it("that is null is there, and has the wrong type", () => {
    expect(judge(z.strictObject({ a: z.string() }), read('{"a":null}'))).toEqual([["FIELD_TYPE", "/a"]]);
  });
});

describe("a number", () => {
  const count = z.strictObject({ n: z.int().min(0) });

  it.each(["10", "0", "9007199254740991"])("written %s is an integer", (lexeme) => {
    expect(judge(count, read(`{"n":${lexeme}}`))).toEqual([]);
  });

  it.each(["10.0", "1e2", "0.5", "true", '"10"', "null", "[]", "{}"])("written %s is no integer", (lexeme) => {
    expect(judge(count, read(`{"n":${lexeme}}`))).toEqual([["FIELD_TYPE", "/n"]]);
  });

  it.each(["-1", "9007199254740992", "-9007199254740993", "123456789012345678901234567890"])(
    "written %s is an integer out of range",
    (lexeme) => {
      expect(judge(count, read(`{"n":${lexeme}}`))).toEqual([["FIELD_VALUE", "/n"]]);
    },
  );

  it("may be a float where the schema says number, and its range holds for floats too", () => {
    const ratio = z.strictObject({ n: z.number().min(0).max(1) });
    expect(judge(ratio, read('{"n":1.0}'))).toEqual([]);
    expect(judge(ratio, read('{"n":1}'))).toEqual([]);
    expect(judge(ratio, { n: new Float(2) })).toEqual([["FIELD_VALUE", "/n"]]);
  });

  it("that is a Float is never taken for an object", () => {
    expect(judge(z.strictObject({ value: z.unknown() }), new Float(1))).toEqual([["FIELD_TYPE", ""]]);
    expect(judge(z.record(z.string(), z.unknown()), new Float(1))).toEqual([["FIELD_TYPE", ""]]);
  });
});

describe("a text", () => {
  const text = z.strictObject({
    t: z
      .string()
      .min(1)
      .max(3)
      .regex(/^[a-c]*$/u),
  });

  it.each([
    ["", "FIELD_EMPTY"],
    ["abcabc", "FIELD_TOO_LONG"],
    ["xyz", "FIELD_PATTERN"],
    ["xyzxyz", "FIELD_TOO_LONG"],
    ["ab\n", "FIELD_PATTERN"],
  ])("%j raises one code, that of the first rule it breaks: %s", (value, code) => {
    expect(judge(text, { t: value })).toEqual([[code, "/t"]]);
  });

  it("is measured in code points", () => {
    expect(judge(z.string().max(2), "🙂🙂")).toEqual([]);
    expect(judge(z.string().max(2), "🙂🙂🙂")).toEqual([["FIELD_TOO_LONG", ""]]);
  });

  it("outside its list is FIELD_VALUE", () => {
    expect(judge(z.enum(["on", "off"]), "ON")).toEqual([["FIELD_VALUE", ""]]);
    expect(judge(z.literal("1.0.0"), "1.0")).toEqual([["FIELD_VALUE", ""]]);
  });

  it("with a form raises the form's code in place of the general ones", () => {
    const even = defineForm(z.string().min(2), {
      name: "even",
      codes: { TEXT_ODD: "must have an even number of characters" },
      judge: (value) => (value.length % 2 === 0 ? null : "TEXT_ODD"),
    });
    const contract = contractOf(z.strictObject({ a: even, b: even.optional() }));
    expect(contract.check({ a: "x", b: "xyz" })).toEqual([
      { code: "TEXT_ODD", pointer: "/a", message: "must have an even number of characters" },
      { code: "TEXT_ODD", pointer: "/b", message: "must have an even number of characters" },
    ]);
    expect([...contract.codes.keys()]).not.toContain("FIELD_EMPTY");
  });
});

describe("a list", () => {
  it("is judged with all its items, at every depth", () => {
    const nested = z.strictObject({ rows: z.array(z.array(z.strictObject({ n: z.int() }))).min(1) });
    expect(judge(nested, read('{"rows":[]}'))).toEqual([["FIELD_EMPTY", "/rows"]]);
    expect(judge(nested, read('{"rows":[[{"n":1},{"n":"1"}],[7],{}]}'))).toEqual([
      ["FIELD_TYPE", "/rows/0/1/n"],
      ["FIELD_TYPE", "/rows/1/0"],
      ["FIELD_TYPE", "/rows/2"],
    ]);
  });

  it("that is too short without being empty is FIELD_VALUE", () => {
    expect(judge(z.array(z.int()).min(2), [1])).toEqual([["FIELD_VALUE", ""]]);
    expect(judge(z.array(z.int()).max(1), [1, 2])).toEqual([["FIELD_TOO_LONG", ""]]);
  });
});

describe("a union", () => {
  const shape = z.discriminatedUnion("op", [
    z.strictObject({ op: z.literal("READ"), slice: z.string() }),
    z.strictObject({ op: z.literal("WRITE"), patch: z.string(), note: z.string() }),
  ]);

  it("tells the problems of the branch that was meant", () => {
    expect(judge(shape, { op: "WRITE", patch: 1 })).toEqual([
      ["FIELD_MISSING", "/note"],
      ["FIELD_TYPE", "/patch"],
    ]);
  });

  it("tells what all branches agree on when none was meant", () => {
    expect(judge(shape, { op: "DELETE", slice: "x" })).toEqual([["FIELD_VALUE", "/op"]]);
    expect(judge(shape, { slice: "x" })).toEqual([["FIELD_MISSING", "/op"]]);
    expect(judge(shape, 7)).toEqual([["FIELD_TYPE", ""]]);
  });

  it("with null judges the value by its other branch", () => {
    const folder = z.string().regex(/^\//).nullable();
    expect(judge(folder, null)).toEqual([]);
    expect(judge(folder, "x")).toEqual([["FIELD_PATTERN", ""]]);
    expect(judge(folder, 1)).toEqual([["FIELD_TYPE", ""]]);
  });
});

describe("a contract", () => {
  const ordered: NamedCheck = {
    code: "FROM_AFTER_TO",
    summary: "ends before it starts",
    run: () => ["/b", "/a/10", "/a/9"],
  };

  it("collects every problem of schema and named checks, by pointer and then by code", () => {
    const contract = contractOf(z.strictObject({ a: z.array(z.int()), b: z.string() }), [ordered]);
    expect(
      contract.check({ a: ["x"], b: 1, "\u{1f600}": 1, "\uff5e": 1 }).map(({ code, pointer }) => [code, pointer]),
    ).toEqual([
      ["FIELD_TYPE", "/a/0"],
      ["FROM_AFTER_TO", "/a/10"],
      ["FROM_AFTER_TO", "/a/9"],
      ["FIELD_TYPE", "/b"],
      ["FROM_AFTER_TO", "/b"],
      ["FIELD_UNKNOWN", "/\uff5e"],
      ["FIELD_UNKNOWN", "/\u{1f600}"],
    ]);
    expect([...contract.codes]).toContainEqual(["FROM_AFTER_TO", "ends before it starts"]);
  });

  it("refuses a schema that is not strict, or that no check understands", () => {
    expect(() => judge(z.object({ a: z.string() }), {})).toThrowError(expect.objectContaining({ code: "INTERNAL" }));
    expect(() => judge(z.tuple([z.string()]), [])).toThrowError(expect.objectContaining({ code: "INTERNAL" }));
    expect(() => judge(z.email(), "x")).toThrowError(expect.objectContaining({ code: "INTERNAL" }));
  });

  it("reads a value as its type or names every problem", () => {
    const contract = contractOf(z.strictObject({ n: z.int() }));
    expect(parseContract(contract, read('{"n":3}')).n).toBe(3);
    expect(() => parseContract(contract, read('{"n":3.0,"m":1}'))).toThrowError(
      expect.objectContaining({
        code: "CONTRACT_VIOLATED",
        where: "/m",
        details: { contract: "demo/thing", problems: [expect.anything(), expect.anything()] },
      }),
    );
  });

  it("of a text artifact gives lines in place of pointers", () => {
    const contract = defineTextContract({
      room: "demo",
      name: "note",
      title: "Note",
      summary: "A note.",
      codes: { LINE_BLANK: "a line is blank" },
      check: (text) =>
        text.split("\n").flatMap((one, i) => (one ? [] : [{ code: "LINE_BLANK", line: i + 1, message: "" }])),
    });
    expect(contract.media).toBe("text");
    expect(contract.check("a\n\nb").map(({ line }) => line)).toEqual([2]);
    expect([...contract.codes.keys()]).toEqual(["LINE_BLANK"]);
  });
});

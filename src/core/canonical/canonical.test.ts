import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isVerbatimError } from "../errors/index.ts";
import {
  compareCodePoints,
  concatBytes,
  Float,
  findIllFormed,
  formatCanonical,
  formatFloat,
  isJsonObject,
  type JsonValue,
  locatePointers,
  parseJson,
  parseObject,
  toCanonicalFile,
  utf8Length,
} from "./index.ts";

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (thrown) {
    if (isVerbatimError(thrown)) return thrown.code;
    throw thrown;
  }
  return "no error";
}

describe("reading", () => {
  it("keeps the lexical kind of every number", () => {
    expect(parseJson("[1,1.0,1e2,-0,-0.0,9007199254740993,2.5]")).toEqual([
      1,
      new Float(1),
      new Float(100),
      0,
      new Float(-0),
      9007199254740993n,
      2.5,
    ]);
  });

  it("knows objects from lists, floats and everything else", () => {
    const kinds = parseJson('[{},[],1.0,"a",null,true,1]') as JsonValue[];
    expect(kinds.map(isJsonObject)).toEqual([true, false, false, false, false, false, false]);
  });

  it("keeps __proto__ and constructor as ordinary keys", () => {
    const value = parseJson('{"__proto__":{"polluted":1},"constructor":2,"10":3,"9":4}');
    expect(formatCanonical(value)).toBe('{"10":3,"9":4,"__proto__":{"polluted":1},"constructor":2}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it.each([
    ["JSON_SYNTAX", "-"],
    ["JSON_SYNTAX", "1."],
    ["JSON_SYNTAX", ".5"],
    ["JSON_SYNTAX", "1e"],
    ["JSON_SYNTAX", "1e+"],
    ["JSON_SYNTAX", "-01"],
    ["JSON_SYNTAX", "0x10"],
    ["JSON_SYNTAX", "tru"],
    ["JSON_SYNTAX", "nulll"],
    ["JSON_SYNTAX", "[1 2]"],
    ["JSON_SYNTAX", '{"a":1,}'],
    ["JSON_SYNTAX", '{xa":1}'],
    ["JSON_SYNTAX", "\u00a0[]"],
    ["JSON_SYNTAX", '"\\u12g4"'],
    ["JSON_SYNTAX", '"\\u 123"'],
    ["JSON_SYNTAX", '"tab\there"'],
    ["JSON_SYNTAX", "\f1"],
    ["JSON_NUMBER_RANGE", "-Infinity"],
    ["JSON_NUMBER_RANGE", "[Infinity]"],
    ["JSON_NUMBER_RANGE", "-1e999"],
    ["JSON_NUMBER_RANGE", "9".repeat(4301)],
    ["JSON_LONE_SURROGATE", '"\\udc00"'],
    ["JSON_LONE_SURROGATE", '"\\udfff"'],
    ["JSON_LONE_SURROGATE", '"\\udbff"'],
    ["JSON_LONE_SURROGATE", '{"\\ud800":1}'],
    ["JSON_LONE_SURROGATE", '"\\ud800\\ud800"'],
    ["JSON_LONE_SURROGATE", '"\\ud800\\u12"'],
    ["JSON_LONE_SURROGATE", '"\\ud800'],
    ["JSON_DUPLICATE_KEY", '{"a":1,"\\u0061":2}'],
    ["JSON_TOO_DEEP", "[".repeat(513)],
    ["JSON_BOM", "\ufeff1"],
  ])("refuses with %s: %j", (code, text) => {
    expect(codeOf(() => parseJson(text))).toBe(code);
  });

  it("says where bytes begin with a byte order mark", () => {
    expect(() => parseJson(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31))).toThrow(
      expect.objectContaining({ code: "JSON_BOM", where: "JSON byte 0", details: { byte_offset: 0 } }),
    );
  });

  it.each(["01", "-00", "1.", "1.5.5", "1e", "1E"])("says that %s is not how JSON writes a number", (text) => {
    expect(() => parseJson(text)).toThrow("this is not how JSON writes a number");
  });

  it("accepts exactly 512 open containers and 4,300 digits", () => {
    expect(formatCanonical(parseJson("[".repeat(512) + "]".repeat(512)))).toHaveLength(1024);
    const objects = `${'{"a":'.repeat(511)}{}${"}".repeat(511)}`;
    expect(formatCanonical(parseJson(objects))).toBe(objects);
    expect(formatCanonical(parseJson(`-${"9".repeat(4300)}`))).toBe(`-${"9".repeat(4300)}`);
  });

  it("says whether no value starts here or the text ends", () => {
    expect(() => parseJson("[?]")).toThrow("no JSON value starts here");
    expect(() => parseJson("[")).toThrow("the text ends early");
  });

  it("refuses surrogates encoded as UTF-8 with the byte offset", () => {
    const bytes = Uint8Array.of(0x22, 0x61, 0xed, 0xa0, 0x80, 0x22);
    expect(() => parseJson(bytes)).toThrowError(
      expect.objectContaining({ code: "JSON_NOT_UTF8", details: { byte_offset: 2 } }),
    );
  });

  it("names file, line and column of a problem, counted in characters", () => {
    expect(() => parseJson('{\n "😀": x}', { file: "a.json" })).toThrowError(
      expect.objectContaining({ where: "a.json:2:7", details: { offset: 8, line: 2, column: 7 } }),
    );
  });

  it("refuses more bytes than allowed", () => {
    expect(codeOf(() => parseJson("[1,2,3]", { maxBytes: 6 }))).toBe("JSON_TOO_LARGE");
    expect(parseJson("[1,2,3]", { maxBytes: 7 })).toEqual([1, 2, 3]);
  });

  it("never throws anything but a coded error, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 60 }), fc.string({ unit: "binary", maxLength: 60 })), (input) => {
        const code = codeOf(() => parseJson(input));
        expect(code === "no error" || code.startsWith("JSON_")).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("writing", () => {
  it.each<[number, string]>([
    [0.1, "0.1"],
    [0, "0.0"],
    [-0, "-0.0"],
    [1e16, "1e+16"],
    [1e15, "1000000000000000.0"],
    [123456789012345680, "1.2345678901234568e+17"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [1.5e-7, "1.5e-07"],
    [-2.5, "-2.5"],
    [5e-324, "5e-324"],
    [1.7976931348623157e308, "1.7976931348623157e+308"],
    [100, "100.0"],
    [12.5, "12.5"],
  ])("prints the float %d as Python does: %s", (value, text) => {
    expect(formatFloat(value)).toBe(text);
  });

  it.each([
    ["undefined", { a: undefined }],
    ["a function", () => 1],
    ["a symbol", Symbol("x")],
    ["a class instance", new Map()],
    ["a hole", new Array(2)],
    ["NaN", Number.NaN],
    ["an infinity", Number.POSITIVE_INFINITY],
    ["minus zero", -0],
    ["an unsafe integer", 2 ** 53],
    ["half of a surrogate pair", "\ud800"],
    ["half of a pair in a key", { "\udc00": 1 }],
    ["a symbol key", { [Symbol("x")]: 1 }],
    ["a value that is too deep", JSON.parse("[".repeat(513) + "]".repeat(513))],
  ])("refuses %s instead of dropping or coercing it", (_, value) => {
    expect(codeOf(() => formatCanonical(value))).toBe("JSON_UNSUPPORTED_VALUE");
  });

  it("refuses a cycle", () => {
    const ring: unknown[] = [];
    ring.push(ring);
    expect(codeOf(() => formatCanonical(ring))).toBe("JSON_UNSUPPORTED_VALUE");
  });

  it("ends a file with exactly one line feed", () => {
    expect(new TextDecoder().decode(toCanonicalFile({ b: 1, a: "ü" }))).toBe('{"a":"\\u00fc","b":1}\n');
  });

  it("sorts keys by code point where UTF-16 order differs", () => {
    expect(formatCanonical({ "😀": 1, "\uffff": 2, "\ue000": 3 })).toBe('{"\\ue000":3,"\\uffff":2,"\\ud83d\\ude00":1}');
  });

  it("writes long values whole, whatever their texts are cut into on the way", () => {
    for (const length of [1, 4094, 4095, 4096, 4097, 20_000]) {
      const long = "x".repeat(length);
      // Plain ASCII with keys in order: here JSON.stringify writes the canonical form.
      const value = { a: [long, [], {}, [[long]], { b: long }], c: {}, d: long, e: { f: [1, long], g: long } };
      expect(formatCanonical(value)).toBe(JSON.stringify(value));
      expect(formatCanonical(long)).toBe(JSON.stringify(long));
    }
    const many = Array.from({ length: 3_000 }, (_, i) => ({ id: i, tags: ["a", "b"], text: `line ${i}` }));
    expect(formatCanonical(many)).toBe(JSON.stringify(many));
  });
});

describe("properties", () => {
  const json = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constant(null),
      fc.boolean(),
      fc.maxSafeInteger(),
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 90n }),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Number.isInteger(n) ? new Float(n) : n)),
      fc.string({ unit: "grapheme" }),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(fc.string({ unit: "grapheme", maxLength: 4 }), tie("value"), {
        maxKeys: 4,
        noNullPrototype: false,
      }),
    ) as fc.Arbitrary<JsonValue>,
  })).value;

  it("reading what was written gives the same text again", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = formatCanonical(value);
        expect(formatCanonical(parseJson(text))).toBe(text);
        expect(text).toMatch(/^[\x20-\x7e]*$/);
      }),
      { numRuns: 1000 },
    );
  });

  it("agrees with JSON.parse on the meaning of plain JSON", () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (text) => {
        expect(JSON.parse(formatCanonical(parseJson(text)))).toEqual(JSON.parse(text.replaceAll(/-0(?![.\d])/g, "0")));
      }),
    );
  });

  it("holds at every border of the surrogates, whichever side is asked first", () => {
    const borders = ["", "\u0000", "a", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{103ff}", "\u{10ffff}"];
    for (const [i, a] of borders.entries()) {
      for (const [j, b] of borders.entries()) {
        expect([a, b, Math.sign(compareCodePoints(`x${a}`, `x${b}`))]).toEqual([a, b, Math.sign(i - j)]);
      }
    }
  });

  it("orders strings like their UTF-8 bytes and measures them", () => {
    const text = fc.string({ unit: "binary", maxLength: 6 }).filter((s) => s.isWellFormed());
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(utf8Length(a)).toBe(Buffer.byteLength(a));
      }),
      { numRuns: 3000 },
    );
  });

  it("finds the first ill-formed byte exactly where the platform's decoder would stop", () => {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const isGood = (bytes: Uint8Array): boolean => {
      try {
        decoder.decode(bytes);
        return true;
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(TypeError);
        return false;
      }
    };
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 2 }).map((s) => [...Buffer.from(s)]),
      fc.constantFrom([0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0xff], [0x80]),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
        const bytes = Uint8Array.from(pieces.flat());
        const at = findIllFormed(bytes);
        expect(at === -1).toBe(isGood(bytes));
        if (at !== -1) expect(isGood(bytes.subarray(0, at))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("locating a pointer", () => {
  const text = '{\n  "a": [1, {"b/c": "x\\"]"}],\n  "d": 2\n}';

  it.each([
    ["", 1, 1],
    ["/a", 2, 3],
    ["/a/0", 2, 9],
    ["/a/1/b~1c", 2, 13],
    ["/d", 3, 3],
    ["/missing", 1, 1],
    ["/a/9", 2, 3],
  ])("%j stands at line %d, column %d", (pointer, line, column) => {
    expect(locatePointers(text, [pointer])).toEqual([{ line, column }]);
  });
});

it("only the three bytes of a byte order mark are one", () => {
  expect(parseJson(new TextEncoder().encode('"ÿ"'))).toBe("ÿ");
  expect(() => parseJson(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31))).toThrow(expect.objectContaining({ code: "JSON_BOM" }));
  for (const bytes of [
    [0xef, 0xbc, 0xbf],
    [0xef, 0xbb, 0xbc],
    [0xee, 0xbb, 0xbf],
  ]) {
    expect(() => parseJson(Uint8Array.from(bytes))).toThrow(expect.objectContaining({ code: "JSON_SYNTAX" }));
  }
});

it("floats have at least one digit behind the point, and no zero too many", () => {
  const shown = [1, 10, 12, 1.5, 12.5, 123_456, 1e15, 0.5].map((value) => formatCanonical(new Float(value)));
  expect(shown).toEqual(["1.0", "10.0", "12.0", "1.5", "12.5", "123456.0", "1000000000000000.0", "0.5"]);
});

it("an escape right behind the surrogates is a character", () => {
  expect(parseJson('"\\ue000\\ud7ff"')).toBe("\ue000\ud7ff");
});

it("space may stand around everything and nowhere else", () => {
  expect(parseJson('\t{ "a" : [ 1 , 2 ] , "b" : { } , "c" : [ ] }\r\n ')).toEqual({ a: [1, 2], b: {}, c: [] });
  for (const text of ["1\u00a0", "\u20281", "tr ue", "1 2"]) {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: "JSON_SYNTAX" }));
  }
});

it("a text with half a pair in it is refused, and says where", () => {
  expect(() => parseJson('["é\ud800"]')).toThrow(
    expect.objectContaining({ code: "JSON_NOT_UTF8", details: { byte_offset: 4 } }),
  );
});

it("parts of bytes are joined to exactly their sum", () => {
  expect(concatBytes([Uint8Array.of(1, 2), new Uint8Array(), Uint8Array.of(3)])).toEqual(Uint8Array.of(1, 2, 3));
  expect(concatBytes([])).toEqual(new Uint8Array());
});

describe("an object that another program may have written", () => {
  it.each([
    ["nothing", null],
    ["no JSON", "{"],
    ["half a character", Uint8Array.of(0x7b, 0xff, 0x7d)],
    ["a list", "[1]"],
    ["null", "null"],
    ["a text", '"a"'],
  ])("is null for %s", (_, given) => {
    expect(parseObject(typeof given === "string" ? new TextEncoder().encode(given) : given)).toBeNull();
  });

  it("is read as strictly as any other", () => {
    expect(parseObject(new TextEncoder().encode('{"a":[1]}'))).toEqual({ a: [1] });
    expect(parseObject(new TextEncoder().encode('{"a":1,"a":2}'))).toBeNull();
  });
});

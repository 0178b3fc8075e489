import { type Code, isVerbatimError, VerbatimError } from "../errors/index.ts";
import { codePointLength, decodeUtf8, encodeUtf8, findIllFormed } from "./utf8.ts";
import { emptyObject, Float, isJsonObject, type JsonObject, type JsonValue } from "./value.ts";
import { MAX_DEPTH } from "./write.ts";

export interface ParseOptions {
  /** Named in errors. */
  readonly file?: string;
  /** Refuse more bytes than this with JSON_TOO_LARGE. */
  readonly maxBytes?: number;
  /** Containers that may be open at once, when that is fewer than `MAX_DEPTH`. */
  readonly maxDepth?: number;
}

const MAX_INTEGER_DIGITS = 4300;

/**
 * Parses JSON strictly and without loss. Cost: one pass over the text.
 * The first problem in reading order is thrown with its offset and line.
 *
 * @example
 * parseJson("[9007199254740993]"); // => [9007199254740993n]
 * parseJson('{"a":1,"a":2}'); // throws JSON_DUPLICATE_KEY
 */
export function parseJson(input: Uint8Array | string, options: ParseOptions = {}): JsonValue {
  return new Parser(toText(input, options), options).parseDocument();
}

/** The JSON object in a file that another program may have written; null where it is missing, not JSON, or another value. */
export function parseObject(bytes: Uint8Array | null): JsonObject | null {
  if (bytes === null) return null;
  try {
    const value = parseJson(bytes);
    return isJsonObject(value) ? value : null;
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}

function toText(input: Uint8Array | string, options: ParseOptions): string {
  const size = typeof input === "string" ? input.length : input.byteLength;
  if (options.maxBytes !== undefined && size > options.maxBytes) {
    throw new VerbatimError("JSON_TOO_LARGE", {
      message: `the JSON text has ${size} bytes; the limit is ${options.maxBytes}`,
      ...(options.file === undefined ? {} : { where: options.file }),
      details: { bytes: size, limit: options.maxBytes },
    });
  }
  if (typeof input === "string") {
    if (input.charCodeAt(0) === 0xfeff) failBytes("JSON_BOM", 0, options);
    if (!input.isWellFormed()) failBytes("JSON_NOT_UTF8", encodeUtf8(wellFormedPrefix(input)).length, options);
    return input;
  }
  if (input[0] === 0xef && input[1] === 0xbb && input[2] === 0xbf) failBytes("JSON_BOM", 0, options);
  const text = decodeUtf8(input);
  if (text === null) failBytes("JSON_NOT_UTF8", findIllFormed(input), options);
  return text;
}

function wellFormedPrefix(text: string): string {
  let end = 0;
  for (const character of text) {
    if (!character.isWellFormed()) break;
    end += character.length;
  }
  return text.slice(0, end);
}

function failBytes(code: Code, offset: number, options: ParseOptions): never {
  throw new VerbatimError(code, {
    where: `${options.file ?? "JSON"} byte ${offset}`,
    details: { byte_offset: offset },
  });
}

class Parser {
  readonly #text: string;
  readonly #options: ParseOptions;
  #at = 0;

  constructor(text: string, options: ParseOptions) {
    this.#text = text;
    this.#options = options;
  }

  parseDocument(): JsonValue {
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) this.#fail("JSON_SYNTAX", "there is text after the value");
    return value;
  }

  #value(depth: number): JsonValue {
    this.#space();
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x22:
        return this.#string();
      case 0x7b:
        return this.#object(depth);
      case 0x5b:
        return this.#array(depth);
      case 0x74:
        return this.#literal("true", true);
      case 0x66:
        return this.#literal("false", false);
      case 0x6e:
        return this.#literal("null", null);
      default:
        return this.#number();
    }
  }

  #object(depth: number): JsonObject {
    this.#open(depth);
    const object = emptyObject();
    this.#space();
    if (this.#take(0x7d)) return object;
    for (;;) {
      this.#space();
      const start = this.#at;
      if (this.#text.charCodeAt(start) !== 0x22) this.#fail("JSON_SYNTAX", "a key in double quotes is expected");
      const key = this.#string();
      if (key in object) this.#fail("JSON_DUPLICATE_KEY", `the key ${JSON.stringify(key)} appears twice`, start);
      this.#space();
      if (!this.#take(0x3a)) this.#fail("JSON_SYNTAX", "a colon is expected");
      object[key] = this.#value(depth + 1);
      this.#space();
      if (this.#take(0x2c)) continue;
      if (this.#take(0x7d)) return object;
      this.#fail("JSON_SYNTAX", "a comma or } is expected");
    }
  }

  #array(depth: number): JsonValue[] {
    this.#open(depth);
    const array: JsonValue[] = [];
    this.#space();
    if (this.#take(0x5d)) return array;
    for (;;) {
      array.push(this.#value(depth + 1));
      this.#space();
      if (this.#take(0x2c)) continue;
      if (this.#take(0x5d)) return array;
      this.#fail("JSON_SYNTAX", "a comma or ] is expected");
    }
  }

  #open(depth: number): void {
    const most = this.#options.maxDepth ?? MAX_DEPTH;
    if (depth === most) this.#fail("JSON_TOO_DEEP", `nested more than ${most} levels deep`);
    this.#at++;
  }

  #string(): string {
    const text = this.#text;
    let start = ++this.#at;
    let result = "";
    for (;;) {
      const unit = text.charCodeAt(this.#at);
      if (unit === 0x22) return result + text.slice(start, this.#at++);
      if (unit === 0x5c) {
        result += text.slice(start, this.#at) + this.#escape();
        start = this.#at;
      } else if (unit < 0x20 || Number.isNaN(unit)) {
        const what = Number.isNaN(unit) ? "the string is not closed" : "a control character must be escaped";
        this.#fail("JSON_SYNTAX", what);
      } else this.#at++;
    }
  }

  #escape(): string {
    const start = this.#at;
    const letter = this.#text[start + 1];
    const simple = letter === undefined ? undefined : SIMPLE_ESCAPES.get(letter);
    if (simple !== undefined) {
      this.#at += 2;
      return simple;
    }
    if (letter !== "u") this.#fail("JSON_SYNTAX", "this is not a JSON escape sequence");
    const unit = this.#unit(start);
    this.#at += 6;
    if (unit < 0xd800 || unit > 0xdfff) return String.fromCharCode(unit);
    // Whatever follows, be it a broken escape, the first half is what is met first.
    LOW_HALF.lastIndex = this.#at;
    if (unit >= 0xdc00 || !LOW_HALF.test(this.#text)) {
      this.#fail("JSON_LONE_SURROGATE", "half of a surrogate pair", start);
    }
    const low = this.#unit(this.#at);
    this.#at += 6;
    return String.fromCharCode(unit, low);
  }

  #unit(start: number): number {
    const digits = this.#text.slice(start + 2, start + 6);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.#fail("JSON_SYNTAX", "\\u needs four hex digits", start);
    return Number.parseInt(digits, 16);
  }

  #number(): number | bigint | Float {
    const start = this.#at;
    NUMBER.lastIndex = start;
    const match = NUMBER.exec(this.#text);
    if (match === null) return this.#notANumber();
    const lexeme = match[0];
    this.#at += lexeme.length;
    const isFloat = match[1] !== undefined || match[2] !== undefined;
    const value = isFloat ? Number(lexeme) : this.#integer(lexeme, start);
    if (value === Infinity || value === -Infinity) {
      this.#fail("JSON_NUMBER_RANGE", "the number is too large for a double", start);
    }
    const next = this.#text.charCodeAt(this.#at);
    // The grammar is greedy, so a digit, point or exponent left over means a leading zero or a bare point.
    if ((next >= 0x30 && next <= 0x39) || next === 0x2e || next === 0x65 || next === 0x45) {
      this.#fail("JSON_SYNTAX", "this is not how JSON writes a number");
    }
    return isFloat && Number.isInteger(value) ? new Float(value as number) : value;
  }

  #integer(lexeme: string, start: number): number | bigint {
    if (lexeme.length < 16) return Number(lexeme) + 0;
    const digits = lexeme.startsWith("-") ? lexeme.length - 1 : lexeme.length;
    if (digits > MAX_INTEGER_DIGITS) {
      this.#fail("JSON_NUMBER_RANGE", `an integer with more than ${MAX_INTEGER_DIGITS} digits`, start);
    }
    const value = BigInt(lexeme);
    return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
  }

  #notANumber(): never {
    for (const word of ["NaN", "Infinity", "-Infinity"]) {
      if (this.#text.startsWith(word, this.#at)) this.#fail("JSON_NUMBER_RANGE", `${word} is not JSON`);
    }
    return this.#fail(
      "JSON_SYNTAX",
      this.#at < this.#text.length ? "no JSON value starts here" : "the text ends early",
    );
  }

  #literal<T extends boolean | null>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#fail("JSON_SYNTAX", "no JSON value starts here");
    this.#at += word.length;
    return value;
  }

  #space(): void {
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.#at++;
    }
  }

  #take(unit: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== unit) return false;
    this.#at++;
    return true;
  }

  #fail(code: Code, message: string, at = this.#at): never {
    const before = this.#text.slice(0, at);
    const line = before.split("\n").length;
    const column = codePointLength(before.slice(before.lastIndexOf("\n") + 1)) + 1;
    throw new VerbatimError(code, {
      message,
      where: `${this.#options.file ?? "JSON"}:${line}:${column}`,
      details: { offset: codePointLength(before), line, column },
    });
  }
}

const SIMPLE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

const LOW_HALF = /\\u[dD][c-fC-F][0-9a-fA-F]{2}/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;

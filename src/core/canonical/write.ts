import { VerbatimError } from "../errors/index.ts";
import { formatFloat } from "./float.ts";
import { compareCodePoints } from "./order.ts";
import { encodeUtf8 } from "./utf8.ts";
import { Float, NOTHING } from "./value.ts";

/** Containers that may be open at once, in what is read and in what is written. */
export const MAX_DEPTH = 512;

const FEW_KEYS = 16;
const SURROGATES = 0xd800;
const MAX_KEY_TEXTS = 4096;
const MAX_KEY_LENGTH = 64;
const keyTexts = new Map<string, KeyText>();
const CHUNK = 4096;

const NEEDS_ESCAPE = /[^\x20\x21\x23-\x5b\x5d-\x7e]/;
const NOT_PRINTABLE_ASCII = /[\x7f-\uffff]/g;

/**
 * The canonical JSON text of a value. Refuses what has no JSON form instead of dropping or coercing it.
 *
 * @example
 * formatCanonical({ b: [1, 2], a: "x" }); // => '{"a":"x","b":[1,2]}'
 */
export function formatCanonical(value: unknown): string {
  const out = new Output();
  write(out, value, 0);
  return out.toString();
}

/** The bytes of a canonical JSON file: the canonical text and one line feed. */
export function toCanonicalFile(value: unknown): Uint8Array {
  return encodeUtf8(`${formatCanonical(value)}\n`);
}

/** A string literal of canonical JSON. */
export function formatString(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) refuse("a string with half of a surrogate pair");
  return JSON.stringify(text).replace(NOT_PRINTABLE_ASCII, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * Text that is added to piece by piece. An engine keeps such a text as a tree of its pieces until it is read; of a long
 * one that tree would outlive many collections, so it is made flat every few kilobytes.
 */
class Output {
  text = "";
  #chunks: string[] | null = null;

  /** Adds what comes between two values. */
  add(piece: string): void {
    if (this.text.length < CHUNK) {
      this.text += piece;
      return;
    }
    this.#chunks ??= [];
    this.#chunks.push([this.text, piece].join(""));
    this.text = "";
  }

  toString(): string {
    return this.#chunks === null ? this.text : [...this.#chunks, this.text].join("");
  }
}

function write(out: Output, value: unknown, depth: number): void {
  switch (typeof value) {
    case "string":
      out.text += formatString(value);
      return;
    case "number":
      out.text += writeNumber(value);
      return;
    case "boolean":
      out.text += value ? "true" : "false";
      return;
    case "bigint":
      out.text += value.toString();
      return;
    case "object":
      if (value === null) out.text += "null";
      else if (value instanceof Float) out.text += writeFloat(value.value);
      else {
        if (depth === MAX_DEPTH) refuse(`a value nested more than ${MAX_DEPTH} levels deep, or a cycle`);
        if (Array.isArray(value)) writeArray(out, value, depth);
        else writeObject(out, value, depth);
      }
      return;
    default:
      refuse(`a value of type ${typeof value}`);
  }
}

function writeNumber(value: number): string {
  if (Number.isSafeInteger(value)) {
    if (Object.is(value, -0)) refuse("the number -0 (use Float)");
    return String(value);
  }
  if (Number.isInteger(value)) refuse("an integer outside the safe range (use BigInt or Float)");
  return writeFloat(value);
}

function writeFloat(value: number): string {
  if (!Number.isFinite(value)) refuse("NaN or an infinity");
  return formatFloat(value);
}

function writeArray(out: Output, values: readonly unknown[], depth: number): void {
  out.text += "[";
  for (let i = 0; i < values.length; i++) {
    if (!(i in values)) refuse(`a hole in an array, at /${i}`);
    if (i > 0) out.add(",");
    write(out, values[i], depth + 1);
  }
  out.text += "]";
}

function writeObject(out: Output, value: object, depth: number): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== NOTHING && prototype !== null && prototype !== Object.prototype) refuse("an instance of a class");
  const keys = Object.keys(value);
  if (Object.getOwnPropertySymbols(value).length > 0) refuse("a symbol as a key");
  sortKeys(keys);
  const record = value as Record<string, unknown>;
  if (keys.length === 0) out.text += "{";
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const text = formatKey(key);
    out.add(i === 0 ? text.first : text.next);
    write(out, record[key], depth + 1);
  }
  out.text += "}";
}

/** Insertion sort: objects have few keys, often in order already. Many keys go to the general sort. */
function sortKeys(keys: string[]): void {
  if (keys.length > FEW_KEYS) {
    keys.sort(compareCodePoints);
    return;
  }
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!;
    let j = i - 1;
    while (j >= 0 && isAfter(keys[j]!, key)) {
      keys[j + 1] = keys[j]!;
      j--;
    }
    keys[j + 1] = key;
  }
}

/** First letters decide most pairs of keys; below the surrogates units are in code point order. */
function isAfter(a: string, b: string): boolean {
  const x = a.charCodeAt(0);
  const y = b.charCodeAt(0);
  if (x !== y && x < SURROGATES && y < SURROGATES) return x > y;
  return compareCodePoints(a, b) > 0;
}

/** A key with what comes before it in an object: `{"key":` or `,"key":`. */
interface KeyText {
  readonly first: string;
  readonly next: string;
}

/** Keys repeat from record to record: their texts are remembered for the first few thousand of them. */
function formatKey(key: string): KeyText {
  const known = keyTexts.get(key);
  if (known !== undefined) return known;
  const text = `${formatString(key)}:`;
  const made = { first: `{${text}`, next: `,${text}` };
  if (keyTexts.size < MAX_KEY_TEXTS && key.length <= MAX_KEY_LENGTH) keyTexts.set(key, made);
  return made;
}

function refuse(what: string): never {
  throw new VerbatimError("JSON_UNSUPPORTED_VALUE", { message: `${what} has no canonical JSON form` });
}

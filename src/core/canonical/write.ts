import { VerbatimError } from "../errors/index.ts";
import { formatFloat } from "./float.ts";
import { compareCodePoints } from "./order.ts";
import { encodeUtf8 } from "./utf8.ts";
import { Float } from "./value.ts";

/** Containers that may be open at once, in what is read and in what is written. */
export const MAX_DEPTH = 512;

const NEEDS_ESCAPE = /[^\x20\x21\x23-\x5b\x5d-\x7e]/;
const NOT_PRINTABLE_ASCII = /[\x7f-\uffff]/g;

/** The canonical JSON text of a value. Refuses what has no JSON form instead of dropping or coercing it. */
export function formatCanonical(value: unknown): string {
  return write(value, 0, "");
}

/** The bytes of a canonical JSON file: the canonical text and one line feed. */
export function toCanonicalFile(value: unknown): Uint8Array {
  return encodeUtf8(`${formatCanonical(value)}\n`);
}

/** A string literal of canonical JSON. */
export function formatString(text: string, pointer = ""): string {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) refuse(pointer, "a string with half of a surrogate pair");
  return JSON.stringify(text).replace(NOT_PRINTABLE_ASCII, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function write(value: unknown, depth: number, pointer: string): string {
  switch (typeof value) {
    case "string":
      return formatString(value, pointer);
    case "number":
      return writeNumber(value, pointer);
    case "boolean":
      return value ? "true" : "false";
    case "bigint":
      return value.toString();
    case "object":
      if (value === null) return "null";
      if (value instanceof Float) return writeFloat(value.value, pointer);
      if (depth === MAX_DEPTH) refuse(pointer, `a value deeper than ${MAX_DEPTH} containers, or a cycle`);
      return Array.isArray(value) ? writeArray(value, depth, pointer) : writeObject(value, depth, pointer);
    default:
      return refuse(pointer, `a value of type ${typeof value}`);
  }
}

function writeNumber(value: number, pointer: string): string {
  if (Number.isSafeInteger(value)) {
    if (Object.is(value, -0)) refuse(pointer, "the number -0 (use Float)");
    return String(value);
  }
  if (Number.isInteger(value)) refuse(pointer, "an integer beyond the safe range (use BigInt or Float)");
  return writeFloat(value, pointer);
}

function writeFloat(value: number, pointer: string): string {
  if (!Number.isFinite(value)) refuse(pointer, "NaN or an infinity");
  return formatFloat(value);
}

function writeArray(values: readonly unknown[], depth: number, pointer: string): string {
  let text = "[";
  for (let i = 0; i < values.length; i++) {
    if (!(i in values)) refuse(`${pointer}/${i}`, "a hole in an array");
    text += i === 0 ? "" : ",";
    text += write(values[i], depth + 1, `${pointer}/${i}`);
  }
  return `${text}]`;
}

function writeObject(value: object, depth: number, pointer: string): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) refuse(pointer, "an instance of a class");
  const keys = Object.keys(value);
  if (Object.getOwnPropertySymbols(value).length > 0) refuse(pointer, "a symbol as a key");
  keys.sort(compareCodePoints);
  const record = value as Record<string, unknown>;
  let text = "{";
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const at = `${pointer}/${key}`;
    text += i === 0 ? "" : ",";
    text += `${formatString(key, at)}:${write(record[key], depth + 1, at)}`;
  }
  return `${text}}`;
}

function refuse(pointer: string, what: string): never {
  throw new VerbatimError("JSON_UNSUPPORTED_VALUE", {
    message: `${what} has no canonical JSON form`,
    where: pointer === "" ? "(the value itself)" : pointer,
  });
}

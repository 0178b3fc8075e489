import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";

/** One test vector: what goes in, what must come out, and why. */
export interface Vector {
  readonly id: string;
  readonly area: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly expected: JsonValue;
}

/** Reads a vector file with the lossless parser and unfolds strings that JSON cannot carry. */
export function parseVectors(bytes: Uint8Array, file: string): Vector[] {
  const value = parseJson(bytes, { file });
  if (!Array.isArray(value)) throw invalid(file, "", "the file is not an array");
  return value.map((item: JsonValue, i) => {
    if (!isJsonObject(item)) throw invalid(file, `/${i}`, "a vector is not an object");
    for (const key of ["id", "area", "name"]) {
      if (typeof item[key] !== "string") throw invalid(file, `/${i}/${key}`, "a text is missing");
    }
    if (item["expected"] === undefined) throw invalid(file, `/${i}/expected`, "the expectation is missing");
    const input = unfold(item["input"] ?? null);
    if (!isJsonObject(input)) throw invalid(file, `/${i}/input`, "the input is not an object");
    return {
      id: item["id"],
      area: item["area"],
      name: item["name"],
      input,
      expected: unfold(item["expected"]),
    } as Vector;
  });
}

function invalid(file: string, pointer: string, message: string): VerbatimError {
  return new VerbatimError("VECTOR_FILE_INVALID", { message, where: `${file}#${pointer}` });
}

const LONGEST_TEXT = 64 * 1024 * 1024;
const UNITS_AT_ONCE = 8192;

/** `{"$units":[...]}` is a string of UTF-16 code units, `{"$repeat":{"text","times"}}` a long one. */
function unfold(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(unfold);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value);
  const units = value["$units"];
  if (keys.length === 1 && Array.isArray(units)) return joinUnits(units);
  const repeat = value["$repeat"];
  if (keys.length === 1 && isJsonObject(repeat)) return repeatText(unfold(repeat["text"] ?? null), repeat["times"]);
  const copy = Object.create(null) as JsonObject;
  for (const key of keys) copy[key] = unfold(value[key]!);
  return copy;
}

function joinUnits(units: readonly unknown[]): string {
  const isUnit = (unit: unknown) => Number.isInteger(unit) && (unit as number) >= 0 && (unit as number) <= 0xffff;
  if (!units.every(isUnit)) throw refuse("$units must be integers from 0 to 65535");
  let text = "";
  for (let at = 0; at < units.length; at += UNITS_AT_ONCE) {
    text += String.fromCharCode(...(units.slice(at, at + UNITS_AT_ONCE) as number[]));
  }
  return text;
}

function repeatText(text: JsonValue, times: unknown): string {
  const isCount = typeof times === "number" && Number.isInteger(times) && times >= 0;
  if (typeof text !== "string" || !isCount || text.length * times > LONGEST_TEXT) {
    throw refuse(`$repeat must have a text and a number of times that make at most ${LONGEST_TEXT} characters`);
  }
  return text.repeat(times);
}

function refuse(message: string): VerbatimError {
  return new VerbatimError("VECTOR_FILE_INVALID", { message });
}

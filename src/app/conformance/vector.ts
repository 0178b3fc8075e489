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

const LONGEST_REPEAT = 64 * 1024 * 1024;

/** `{"$units":[...]}` is a string of UTF-16 code units, `{"$repeat":{"text","times"}}` a long one. */
function unfold(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(unfold);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value);
  const units = value["$units"];
  if (keys.length === 1 && Array.isArray(units)) return String.fromCharCode(...(units as number[]));
  const repeat = value["$repeat"];
  if (keys.length === 1 && isJsonObject(repeat)) {
    const text = unfold(repeat["text"] ?? "");
    const times = repeat["times"];
    if (typeof text === "string" && typeof times === "number" && text.length * times <= LONGEST_REPEAT) {
      return text.repeat(times);
    }
    throw new VerbatimError("VECTOR_FILE_INVALID", {
      message: "a $repeat needs text and a reasonable number of times",
    });
  }
  const copy = Object.create(null) as JsonObject;
  for (const key of keys) copy[key] = unfold(value[key]!);
  return copy;
}

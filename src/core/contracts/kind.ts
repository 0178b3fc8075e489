import { Float, type JsonValue } from "../canonical/index.ts";

/** What a JSON value is, as its text had it: `1` is an integer of any size, `1.0` and `0.5` are floats. */
export type Kind = "null" | "boolean" | "string" | "integer" | "float" | "array" | "object";

const WORDS: Readonly<Record<Kind, string>> = {
  null: "null",
  boolean: "a boolean",
  string: "a string",
  integer: "an integer",
  float: "a float",
  array: "an array",
  object: "an object",
};

/** The kind of a value of the lossless parser; null for what is not a JSON value at all. */
export function kindOf(value: JsonValue): Kind | null {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (value instanceof Float) return "float";
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "boolean";
    case "object":
      return "object";
    case "bigint":
      return "integer";
    case "number":
      return Number.isInteger(value) ? "integer" : "float";
    default:
      return null;
  }
}

/** Whether a value is an integer by its text, of any size. */
export function isInteger(value: unknown): value is number | bigint {
  return typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));
}

/** Kinds in words: `an integer or null`. */
export function describeKinds(kinds: readonly Kind[]): string {
  return kinds.map((kind) => WORDS[kind]).join(" or ");
}

/** The kind of a value in words. */
export function describeKind(value: JsonValue): string {
  const kind = kindOf(value);
  return kind === null ? `a value of type ${typeof value}` : WORDS[kind];
}

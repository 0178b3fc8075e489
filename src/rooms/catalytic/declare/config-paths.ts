import type { JsonValue } from "../../../core/canonical/index.ts";
import { findLexicalCode } from "./path-rules.ts";

/** Notes a problem at a JSON pointer below `/catalytic`. */
export type Fail = (code: string, pointer: string) => void;

/** A list of paths of the configuration; null when it is not given. */
export function readPaths(value: JsonValue | undefined, pointer: string, fail: Fail): string[] | null {
  if (value === undefined) return null;
  if (!Array.isArray(value)) {
    fail("CONFIG_INVALID", pointer);
    return [];
  }
  return value.map((item: JsonValue, i) => readOne(item, `${pointer}/${i}`, fail));
}

/** One path; what breaks a lexical rule becomes a NUL, which no later rule looks at. */
export function readOne(value: JsonValue, pointer: string, fail: Fail): string {
  const code = typeof value === "string" ? findLexicalCode(value) : "CONFIG_INVALID";
  if (code === null) return value as string;
  fail(code, pointer);
  return "\0";
}

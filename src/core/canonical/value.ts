/** A float whose lexical kind matters: an integral one (`1.0`) or minus zero. Other floats are plain numbers. */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** An object as the parser makes it: no prototype, so `__proto__` is an ordinary key. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/**
 * A JSON value that keeps what its text said: safe integers are numbers, larger ones BigInt,
 * floats are non-integral numbers or `Float`.
 */
export type JsonValue = null | boolean | number | bigint | Float | string | readonly JsonValue[] | JsonObject;

/** Whether a value is a JSON object (not an array, not a `Float`). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Float);
}

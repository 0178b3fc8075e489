/**
 * A float whose lexical kind matters: an integral one (`1.0`) or minus zero. Other floats are plain numbers.
 *
 * @example
 * formatCanonical({ share: new Float(1) }); // => '{"share":1.0}'
 * formatCanonical({ share: 1 }); // => '{"share":1}'
 */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** An object as the parser makes it: it inherits nothing, so `__proto__` is an ordinary key. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/**
 * A JSON value that keeps what its text said: safe integers are numbers, larger ones BigInt,
 * floats are non-integral numbers or `Float`.
 */
export type JsonValue = null | boolean | number | bigint | Float | string | readonly JsonValue[] | JsonObject;

/**
 * A type all of whose values are JSON: interfaces too, which TypeScript never takes for a `JsonObject`. A part that is
 * `unknown` is one that a schema left open, and a member may be undefined, which is not written; a function makes it `never`.
 */
export type JsonShape<T> = T extends JsonValue
  ? T
  : unknown extends T
    ? T
    : T extends (...args: never[]) => unknown
      ? never
      : T extends object
        ? { readonly [K in keyof T]: JsonShape<Exclude<T[K], undefined>> | Extract<T[K], undefined> }
        : never;

/** A value of ours as JSON. Nothing is copied: the compiler has checked that all of it is. */
export function toJson<T>(
  value: T & JsonShape<T>,
): T extends readonly unknown[] ? JsonValue : T extends object ? JsonObject : JsonValue;
export function toJson(value: unknown): JsonValue {
  return value as JsonValue;
}

/** The prototype of what `emptyObject` makes: it has no members and no prototype of its own. */
export const NOTHING: object = Object.freeze(Object.create(null) as object);

function Members() {}
Members.prototype = NOTHING;

/**
 * An object that inherits nothing. `Object.create(null)` would do, but engines keep a hash table for each of those,
 * which takes three times the memory; these share the layout of objects with the same keys.
 */
export function emptyObject(): JsonObject {
  // A function with a prototype is a constructor, which TypeScript only knows of classes.
  return new (Members as unknown as new () => JsonObject)();
}

/** Whether a value is a JSON object (not an array, not a `Float`). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Float);
}

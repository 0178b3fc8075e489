import { isJsonObject, type JsonValue } from "../canonical/index.ts";
import { isInteger } from "./kind.ts";

/** A member of a value that may not be an object, or undefined. */
export function readMember(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The items of a member that may not be an array; none when it is not. */
export function readItems(value: JsonValue | undefined, key: string): readonly JsonValue[] {
  const items = readMember(value, key);
  return Array.isArray(items) ? (items as readonly JsonValue[]) : [];
}

/** A member that is an integer, or null. */
export function readInteger(value: JsonValue | undefined, key: string): number | bigint | null {
  const member = readMember(value, key);
  return isInteger(member) ? member : null;
}

/** A member that is a string, or null. */
export function readText(value: JsonValue | undefined, key: string): string | null {
  const member = readMember(value, key);
  return typeof member === "string" ? member : null;
}

/** Indexes of the items that an earlier item equals; items without a key are left alone. */
export function findRepeated<T>(items: readonly T[], keyOf: (item: T) => string | null): number[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const key = keyOf(item);
    if (key === null) return [];
    if (seen.has(key)) return [index];
    seen.add(key);
    return [];
  });
}

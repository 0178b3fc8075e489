import { compareCodePoints, Float, isJsonObject, type JsonValue } from "../../core/canonical/index.ts";

/** Whether two values are equal as JSON with number kinds: `1` is not `1.0`, the order of members does not count. */
export function isSame(a: JsonValue, b: JsonValue): boolean {
  if (a instanceof Float || b instanceof Float) {
    return a instanceof Float && b instanceof Float && Object.is(a.value, b.value);
  }
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  }
  if (isJsonObject(a) && isJsonObject(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key]!, b[key]!))
    );
  }
  return a === b;
}

/** Whether every member of `expected` is in `actual` with an equal value, recursively; lists have equal length and order. */
export function isCovered(expected: JsonValue, actual: JsonValue): boolean {
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      expected.length === actual.length &&
      expected.every((item: JsonValue, i) => isCovered(item, actual[i] as JsonValue))
    );
  }
  if (!isJsonObject(expected)) return isSame(expected, actual);
  return (
    isJsonObject(actual) &&
    Object.keys(expected).every((key) => Object.hasOwn(actual, key) && isCovered(expected[key]!, actual[key]!))
  );
}

/** Sorts the lists that a room document compares as sets, wherever they stand. */
export function sortLists(value: JsonValue, names: ReadonlySet<string>, name = ""): JsonValue {
  if (Array.isArray(value)) {
    const items = value.map((item: JsonValue) => sortLists(item, names));
    return names.has(name) ? items.sort((a, b) => compareCodePoints(showValue(a), showValue(b))) : items;
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, sortLists(member, names, key)]));
}

/** A value as one line for people; unlike canonical JSON it shows anything. */
export function showValue(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === "bigint") return member.toString();
    if (member instanceof Float) return `${member.value} (float)`;
    if (isJsonObject(member)) {
      const keys = Object.keys(member).sort(compareCodePoints);
      return Object.fromEntries(keys.map((key) => [key, member[key]]));
    }
    return member;
  });
}

import { compareCodePoints, Float, isJsonObject, type JsonObject, type JsonValue } from "../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import type { AreaFunction, AreaPorts } from "./ports.ts";
import type { Vector } from "./vector.ts";

/** Thrown by an area that cannot run on this machine. */
export class VectorSkipped extends Error {
  override readonly name = "VectorSkipped";
}

interface Mismatch {
  readonly id: string;
  readonly area: string;
  readonly name: string;
  readonly expected: string;
  readonly actual: string;
}

interface ConformanceReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly mismatches: Mismatch[];
  readonly skips: { readonly id: string; readonly reason: string }[];
}

// Problem lists are compared as sets (the order of problems is not part of the contracts).
const SETS: ReadonlySet<string> = new Set(["problems", "refused"]);

// The catalytic document compares these as sets too.
const CATALYTIC_SETS: ReadonlySet<string> = new Set([...SETS, "errors", "violations", "warnings"]);

// The workflow document leaves what an expectation does not name free.
const SUBSET_AREAS = "workflow.";

/** Runs vectors one after the other. An area nobody runs is refused before the first one. */
export async function runVectors(
  vectors: readonly Vector[],
  areas: ReadonlyMap<string, AreaFunction>,
  ports: AreaPorts,
): Promise<ConformanceReport> {
  const unknown = [...new Set(vectors.map(({ area }) => area))].filter((area) => !areas.has(area));
  if (unknown.length > 0) {
    throw new VerbatimError("VECTOR_AREA_UNKNOWN", {
      message: `there is no area ${unknown.join(", ")}`,
      details: { areas: unknown },
    });
  }
  const report = {
    passed: 0,
    failed: 0,
    skipped: 0,
    mismatches: [] as Mismatch[],
    skips: [] as { id: string; reason: string }[],
  };
  for (const vector of vectors) {
    try {
      const actual = await answer(areas.get(vector.area)!, vector, { vectors, ...ports });
      if (fits(actual, vector)) report.passed++;
      else {
        report.failed++;
        const { id, area, name } = vector;
        report.mismatches.push({ id, area, name, expected: showValue(vector.expected), actual: showValue(actual) });
      }
    } catch (thrown) {
      if (!(thrown instanceof VectorSkipped)) throw thrown;
      report.skipped++;
      report.skips.push({ id: vector.id, reason: thrown.message });
    }
  }
  return report;
}

async function answer(area: AreaFunction, vector: Vector, ports: AreaPorts): Promise<JsonValue> {
  try {
    return await area(vector.input, ports);
  } catch (thrown) {
    if (thrown instanceof VectorSkipped) throw thrown;
    // A crash is a wrong answer to this vector; it must not hide the verdicts of the others.
    if (!isVerbatimError(thrown))
      return { crash: thrown instanceof Error ? thrown.message.toWellFormed() : String(thrown) };
    return { error: { ...(thrown.details as JsonObject | undefined), code: thrown.code } };
  }
}

/** An expected error names its code and whatever details it wants equal; anything else must be equal whole. */
function fits(actual: JsonValue, { area, expected }: Vector): boolean {
  if (area.startsWith(SUBSET_AREAS)) return isCovered(expected, actual);
  const error = isJsonObject(expected) && isJsonObject(expected["error"]) ? expected["error"] : null;
  if (error !== null && isJsonObject(actual) && isJsonObject(actual["error"])) {
    const got = sortLists(actual["error"], SETS) as JsonObject;
    const want = sortLists(error, SETS) as JsonObject;
    return Object.keys(want).every((key) => Object.hasOwn(got, key) && isSame(got[key]!, want[key]!));
  }
  const sets = area.startsWith("catalytic.") ? CATALYTIC_SETS : SETS;
  return isSame(sortLists(actual, sets), sortLists(expected, sets));
}

/** Whether two values are equal as JSON with number kinds: `1` is not `1.0`, the order of members does not count. */
function isSame(a: JsonValue, b: JsonValue): boolean {
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
function isCovered(expected: JsonValue, actual: JsonValue): boolean {
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
function sortLists(value: JsonValue, names: ReadonlySet<string>, name = ""): JsonValue {
  if (Array.isArray(value)) {
    const items = value.map((item: JsonValue) => sortLists(item, names));
    return names.has(name) ? items.sort((a, b) => compareCodePoints(showValue(a), showValue(b))) : items;
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, sortLists(member, names, key)]));
}

/** A value as one line for people; unlike canonical JSON it shows anything. */
function showValue(value: JsonValue | undefined): string {
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

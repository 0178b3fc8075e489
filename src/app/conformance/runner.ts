import { isJsonObject, type JsonObject, type JsonValue } from "../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { isCovered, isSame, showValue, sortLists } from "./compare.ts";
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
      message: `nobody runs the area ${unknown.join(", ")}`,
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

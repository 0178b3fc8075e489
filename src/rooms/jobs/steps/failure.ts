import { Float, isJsonObject, type JsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { isTime } from "../../../core/time.ts";
import type { StepFailure } from "../ports.ts";

// Words for people differ between versions and languages; what is kept must not.
const PROSE: ReadonlySet<string> = new Set(["message", "fix", "where", "why", "cause", "stack"]);
const ABSOLUTE = /^(?:\/|~|[A-Za-z]:[\\/]|\\\\)/;

/** What went wrong, as a receipt keeps it: the code and the values; no prose, absolute paths or times. */
export function toFailure(error: {
  readonly code: string;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}): StepFailure {
  return { code: error.code, details: toValues(error.details) };
}

/** The same for details alone. */
export function toValues(details: Readonly<Record<string, unknown>> | undefined): JsonObject {
  return (toValue({ ...details }) ?? {}) as JsonObject;
}

function toValue(value: unknown): JsonValue | undefined {
  switch (typeof value) {
    case "string":
      return ABSOLUTE.test(value) || isTime(value) ? undefined : value.toWellFormed();
    case "number":
      return toNumber(value);
    case "boolean":
    case "bigint":
      return value;
    default:
      return value === null ? null : toComposite(value);
  }
}

function toNumber(value: number): JsonValue | undefined {
  if (!Number.isFinite(value)) return undefined;
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? value : new Float(value);
}

function toComposite(value: unknown): JsonValue | undefined {
  if (value instanceof Float) return value;
  if (Array.isArray(value)) return value.map(toValue).filter((item) => item !== undefined);
  if (!isJsonObject(value)) return undefined;
  const members = Object.entries(value).flatMap(([key, member]) => {
    const kept = PROSE.has(key) ? undefined : toValue(member);
    return kept === undefined ? [] : [[key.toWellFormed(), kept] as const];
  });
  return Object.fromEntries(members);
}

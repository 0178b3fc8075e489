import { compareCodePoints, type JsonObject } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toValues } from "../steps/failure.ts";

/** Something a message names that does not exist or does not fit, at its place in the message. */
export interface PlanProblem {
  readonly code: string;
  readonly pointer: string;
  readonly message: string;
  /** Real sizes, suggestions, nearest ids. */
  readonly details?: JsonObject;
}

/** An error of the resolution as a problem of the message. */
export function toPlanProblem(error: VerbatimError, pointer: string): PlanProblem {
  const details = toValues(error.details);
  const { code, message } = error;
  return { code, pointer, message, ...(Object.keys(details).length === 0 ? {} : { details }) };
}

/** MESSAGE_UNRESOLVED with every problem, by pointer and code. */
export function unresolved(problems: readonly PlanProblem[]): VerbatimError {
  const sorted = [...problems].sort(
    (a, b) => compareCodePoints(a.pointer, b.pointer) || compareCodePoints(a.code, b.code),
  );
  const first = sorted[0]!;
  const more = sorted.length > 1 ? ` (and ${sorted.length - 1} more)` : "";
  return new VerbatimError("MESSAGE_UNRESOLVED", {
    message: `${first.pointer}: ${first.message}${more}`,
    where: first.pointer,
    details: { problems: sorted },
  });
}

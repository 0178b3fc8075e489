import { conditionOf, type MismatchType, type RestorationCondition } from "../tree/diff.ts";

/** How the command ended. */
export interface CommandResult {
  readonly executed: boolean;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly timed_out: boolean;
  readonly interrupted: boolean;
  readonly orphans_killed: number;
}

/** Something a run did that it may not do. */
export interface Violation {
  readonly code: string;
  readonly path: string;
  readonly fields?: readonly string[];
}

export type Condition =
  | RestorationCondition
  | "GUARD_VIOLATION"
  | "RECOVERED_AFTER_CRASH"
  | "INTERRUPTED"
  | "COMMAND_TIMED_OUT"
  | "COMMAND_FAILED"
  | "OUTPUT_VIOLATION"
  | "RESTORED_IDENTICAL";

export interface VerdictFacts {
  readonly mismatches: readonly { readonly type: MismatchType }[];
  readonly unreachable: boolean;
  readonly violations: readonly Violation[];
  readonly command_result: CommandResult;
  readonly expected_exit_codes: readonly number[];
  readonly recovered: boolean;
}

export interface Verdict {
  /** The run may be accepted: CMP-01, Proof-Gated Acceptance. */
  readonly verified: boolean;
  /** The bare fact of restoration. */
  readonly domains_identical: boolean;
  readonly condition: Condition;
}

const GUARD_CODES = ["OUTSIDE_ADDED", "OUTSIDE_REMOVED", "OUTSIDE_CHANGED", "FORBIDDEN_CHANGED", "RUN_DIR_TOUCHED"];

/** Whether a violation means that the command reached outside its domains. */
export function isGuardViolation({ code }: Violation): boolean {
  return GUARD_CODES.includes(code);
}

/**
 * Judges a run: the first thing that went wrong, in order of gravity, is its condition.
 *
 * @example
 * const ended = { executed: true, exit_code: 1, signal: null, timed_out: false, interrupted: false, orphans_killed: 0 };
 * const facts = { mismatches: [], unreachable: false, violations: [], expected_exit_codes: [0], recovered: false };
 * decideVerdict({ ...facts, command_result: ended }).condition; // => "COMMAND_FAILED"
 */
export function decideVerdict(facts: VerdictFacts): Verdict {
  const { mismatches, unreachable } = facts;
  const condition = firstCondition(facts) ?? "RESTORED_IDENTICAL";
  return {
    verified: condition === "RESTORED_IDENTICAL",
    domains_identical: mismatches.length === 0 && !unreachable,
    condition,
  };
}

function firstCondition(facts: VerdictFacts): Condition | null {
  const { violations, command_result: command, expected_exit_codes: expected } = facts;
  const restoration = conditionOf(facts.mismatches, facts.unreachable);
  if (restoration !== null) return restoration;
  if (violations.some(isGuardViolation)) return "GUARD_VIOLATION";
  if (facts.recovered) return "RECOVERED_AFTER_CRASH";
  if (command.interrupted) return "INTERRUPTED";
  if (command.timed_out) return "COMMAND_TIMED_OUT";
  if (command.exit_code === null || !expected.includes(command.exit_code)) return "COMMAND_FAILED";
  return violations.length > 0 ? "OUTPUT_VIOLATION" : null;
}

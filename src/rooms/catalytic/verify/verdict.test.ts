import { describe, expect, it } from "vitest";
import { type CommandResult, decideVerdict, isGuardViolation, type VerdictFacts } from "./verdict.ts";

const ended: CommandResult = {
  executed: true,
  exit_code: 0,
  signal: null,
  timed_out: false,
  interrupted: false,
  orphans_killed: 0,
};
const facts: VerdictFacts = {
  mismatches: [],
  unreachable: false,
  violations: [],
  command_result: ended,
  expected_exit_codes: [0],
  recovered: false,
};
const guard = { code: "OUTSIDE_CHANGED", path: "a" };
const output = { code: "OUTPUT_MISSING", path: "b" };

describe("the verdict", () => {
  it("accepts a run in which nothing went wrong", () => {
    expect(decideVerdict(facts)).toEqual({ verified: true, domains_identical: true, condition: "RESTORED_IDENTICAL" });
    const other = { ...facts, command_result: { ...ended, exit_code: 3 }, expected_exit_codes: [1, 3] };
    expect(decideVerdict(other)).toMatchObject({ verified: true });
  });

  it.each<[string, Partial<VerdictFacts>]>([
    ["RESTORATION_FAILED_DOMAIN_UNREACHABLE", { unreachable: true }],
    ["RESTORATION_FAILED_HASH_MISMATCH", { mismatches: [{ type: "metadata_mismatch" }, { type: "hash_mismatch" }] }],
    ["RESTORATION_FAILED_MISSING_FILES", { mismatches: [{ type: "extra" }, { type: "missing" }] }],
    ["RESTORATION_FAILED_EXTRA_FILES", { mismatches: [{ type: "extra" }] }],
    ["RESTORATION_FAILED_METADATA_MISMATCH", { mismatches: [{ type: "metadata_mismatch" }] }],
    ["GUARD_VIOLATION", { violations: [output, guard] }],
    ["RECOVERED_AFTER_CRASH", { recovered: true }],
    ["INTERRUPTED", { command_result: { ...ended, interrupted: true } }],
    ["COMMAND_TIMED_OUT", { command_result: { ...ended, timed_out: true } }],
    ["COMMAND_FAILED", { command_result: { ...ended, exit_code: 1 } }],
    ["COMMAND_FAILED", { command_result: { ...ended, exit_code: null, signal: "SIGKILL" } }],
    ["OUTPUT_VIOLATION", { violations: [output] }],
  ])("refuses: %s", (condition, more) => {
    const identical = more.mismatches === undefined && more.unreachable === undefined;
    expect(decideVerdict({ ...facts, ...more })).toEqual({ verified: false, domains_identical: identical, condition });
  });

  it("names the gravest of all that went wrong", () => {
    const all: VerdictFacts = {
      mismatches: [{ type: "extra" }],
      unreachable: true,
      violations: [output, guard],
      command_result: { ...ended, exit_code: 1, timed_out: true, interrupted: true },
      expected_exit_codes: [0],
      recovered: true,
    };
    const without: Partial<VerdictFacts>[] = [
      {},
      { unreachable: false },
      { mismatches: [] },
      { violations: [output] },
      { recovered: false },
      { command_result: { ...ended, exit_code: 1, timed_out: true } },
      { command_result: { ...ended, exit_code: 1 } },
      { command_result: ended },
    ];
    let now = all;
    const told = without.map((more) => {
      now = { ...now, ...more };
      return decideVerdict(now).condition;
    });
    expect(told).toEqual([
      "RESTORATION_FAILED_DOMAIN_UNREACHABLE",
      "RESTORATION_FAILED_EXTRA_FILES",
      "GUARD_VIOLATION",
      "RECOVERED_AFTER_CRASH",
      "INTERRUPTED",
      "COMMAND_TIMED_OUT",
      "COMMAND_FAILED",
      "OUTPUT_VIOLATION",
    ]);
  });

  it("knows which violations mean that the command got out", () => {
    const codes = ["OUTSIDE_ADDED", "OUTSIDE_REMOVED", "OUTSIDE_CHANGED", "FORBIDDEN_CHANGED", "RUN_DIR_TOUCHED"];
    expect(codes.map((code) => isGuardViolation({ code, path: "" }))).toEqual([true, true, true, true, true]);
    expect(isGuardViolation(output)).toBe(false);
  });
});

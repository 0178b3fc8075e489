import { describe, expect, it } from "vitest";
import { findFailureStop, findRejectionStop, toFailureSignature } from "./stop-rules.ts";

const plan = (stop: Record<string, string>) => ({ stop }) as never;
const rejection = (rule: string, ...more: string[]) =>
  ({ verdict: "reject", rule, findings: more.map((one) => ({ code: "C", rule: one })) }) as never;
const reason = (found: { readonly reason: string; readonly event: string } | null) =>
  found === null ? null : `${found.event} ${found.reason}`;

describe("a rejected patch", () => {
  it.each<[string, number, Record<string, string>, never, string | null]>([
    ["is one of few", 4, {}, rejection("mode"), null],
    ["is the last that may be", 5, {}, rejection("mode"), "STOP_MAX_PATCH_REJECTIONS max_patch_rejections"],
    [
      "leaves the scope, which is the end",
      1,
      { scope_violation: "true" },
      rejection("scope_allow"),
      "STOP_CONDITION stop_condition:scope_violation",
    ],
    [
      "leaves the scope among other things",
      1,
      { scope_violation: "true" },
      rejection("max_files", "max_files", "deny_prefixes"),
      "STOP_CONDITION stop_condition:scope_violation",
    ],
    ["leaves the scope, which is not the end", 1, { scope_violation: "false" }, rejection("scope_deny"), null],
    ["breaks another rule", 1, { scope_violation: "true" }, rejection("max_files", "mode"), null],
    [
      "is one too many for the plan",
      2,
      { patch_rejected: "2" },
      rejection("mode"),
      "STOP_CONDITION stop_condition:patch_rejected",
    ],
    ["is not yet too many for the plan", 1, { patch_rejected: "2" }, rejection("mode"), null],
  ])("%s", (_, patch_rejections, stop, rejected, expected) => {
    expect(reason(findRejectionStop({ patch_rejections }, plan(stop), 5, rejected))).toBe(expected);
  });
});

describe("a verification that fails", () => {
  it.each<[string, number, string[], Record<string, string>, string | null]>([
    ["once", 1, ["a"], {}, null],
    ["as often as may be", 3, ["a"], {}, "STOP_MAX_ITERATIONS max_iterations"],
    [
      "twice in the same way",
      2,
      ["a", "a"],
      { repeated_failure: "2" },
      "STOP_CONDITION stop_condition:repeated_failure",
    ],
    ["twice in two ways", 2, ["a", "b"], { repeated_failure: "2" }, null],
    ["in the same way, but not often enough", 1, ["a"], { repeated_failure: "2" }, null],
    [
      "in the same way lately",
      2,
      ["b", "a", "a"],
      { repeated_failure: "2" },
      "STOP_CONDITION stop_condition:repeated_failure",
    ],
    ["in the same way, which does not matter", 2, ["a", "a"], {}, null],
  ])("%s", (_, iterations, failures, stop, expected) => {
    expect(reason(findFailureStop({ iterations, failures }, plan(stop), 3))).toBe(expected);
  });

  it("for the first time has no others to be compared with", () => {
    expect(findFailureStop({ iterations: 1 } as never, plan({ repeated_failure: "1" }), 3)).toBeNull();
  });

  it("is known by what failed, not by what was said", () => {
    const report = {
      commands: [
        { gate: "lite", exit_code: 0 },
        { gate: "full", exit_code: 2 },
        { gate: "lite", exit_code: 1 },
      ],
      failures: [
        { kind: "gate", id: "z" },
        { kind: "gate", id: "lite" },
        { kind: "gate", id: "lite" },
      ],
    };
    expect(toFailureSignature(report)).toEqual({
      commands: ["full[0]=2", "lite[1]=1"],
      failures: ["gate lite", "gate z"],
    });
  });
});

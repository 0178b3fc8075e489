// What a verification runs, without running anything.
import { describe, expect, it } from "vitest";
import { encodeUtf8 } from "../../../../core/canonical/index.ts";
import { findCommands, isBuiltInGate, writeScript } from "./verify-script.ts";

interface Parts {
  readonly setup?: readonly object[];
  readonly gates?: Readonly<Record<string, readonly object[]>>;
  /** EXPECTED_RESULTS.md. */
  readonly results?: string | null;
  readonly verify?: readonly (readonly string[])[] | null;
}

function run({ setup = [], gates = {}, verify, results = null }: Parts = {}) {
  return {
    state: { direct: verify === undefined ? null : { verify } },
    ports: { config: { verify: { setup, gates: new Map(Object.entries(gates)) } } },
    read: () => (results === null ? null : encodeUtf8(results)),
  } as never;
}

describe("the commands of a gate", () => {
  it("are those of the configuration, and a gate that nobody configured has none, not even no commands", () => {
    const lint = [{ argv: ["lint"] }];
    const one = run({ gates: { lint, empty: [] } });
    expect([findCommands(one, "lint"), findCommands(one, "empty"), findCommands(one, "missing")]).toEqual([
      lint,
      [],
      null,
    ]);
  });

  it("are those a direct run was given, for the gate that is meant by them", () => {
    const gates = { lite: [{ argv: ["configured"] }], full: [{ argv: ["full"] }] };
    const one = run({ gates, verify: [["test", "-x"]] });
    expect(findCommands(one, "lite")).toEqual([{ argv: ["test", "-x"], timeout_s: 1800, cwd: "." }]);
    expect(findCommands(one, "full")).toEqual(gates.full);
    expect(findCommands(run({ gates, verify: null }), "lite")).toEqual(gates.lite);
  });
});

describe("a verification", () => {
  it("runs the set-up, then every gate of the plan once, the product's own without commands", () => {
    const setup = [{ argv: ["install"] }];
    const lint = [{ argv: ["lint"] }];
    const gates = ["lint", "plan_check", "lint", "missing"];
    expect(writeScript(run({ setup, gates: { lint, plan_check: lint } }), { gates } as never)).toEqual([
      { gate: "setup", commands: setup, looks: [] },
      { gate: "lint", commands: lint, looks: [] },
      { gate: "plan_check", commands: [], looks: [] },
      { gate: "missing", commands: [], looks: [] },
    ]);
    expect(writeScript(run(), { gates: [] } as never)).toEqual([]);
    const results = "R001: x\nAcceptance: y\nEvidence: src/a, TRACE.md\nRelated-Gates: lite\n";
    const looks = writeScript(run({ results }), { gates: ["plan_check", "patch_check"] } as never);
    expect(looks.map((work) => work.looks)).toEqual([["src/a"], []]);
    expect([isBuiltInGate("plan_check"), isBuiltInGate("lint")]).toEqual([true, false]);
  });
});

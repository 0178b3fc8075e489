import { describe, expect, it } from "vitest";
import { parseJobSpec } from "./jobspec.ts";
import { effectivePolicy } from "./policy.ts";
import { checkPaths } from "./preflight.ts";
import { explainFields, explainPaths } from "./preflight-advice.ts";

const policy = effectivePolicy({ forbidden_roots: ["docs/law"], durable_roots: ["dist", ".verbatim/out"] }).policy!;

function messages(more: { domains?: string[]; roots?: string[]; outs?: string[] }): string[] {
  const declared = {
    run_id: "run-1",
    command: ["true"],
    catalytic_domains: more.domains ?? [".verbatim/scratch/d"],
    durable_output_roots: more.roots ?? [],
    outputs: { durable_paths: more.outs ?? [] },
    inputs: [],
    cwd: ".",
  };
  return explainPaths(checkPaths(policy, declared, null).errors, declared, policy).map(({ message }) => message);
}

describe("a refused path", () => {
  it("is named with the root it collides with and where that comes from", () => {
    expect(messages({ domains: [".git/hooks", "docs/law/x", ".verbatim/state", "."] })).toEqual([
      '".git/hooks" overlaps a git folder (always forbidden); choose another path',
      '"docs/law/x" overlaps docs/law (forbidden by the configuration); choose another path',
      '".verbatim/state" overlaps .verbatim (always forbidden); choose another path',
      '"." overlaps the repository root itself; choose another path',
    ]);
  });

  it("is shown as it would be written, where that is clear", () => {
    expect(messages({ domains: [".verbatim\\scratch\\d", "../x"] })).toEqual([
      '".verbatim\\\\scratch\\\\d": write paths relative to the repository root, with / and without ..; write .verbatim/scratch/d',
      '"../x": write paths relative to the repository root, with / and without ..',
    ]);
  });

  it("comes with the roots that would be right", () => {
    expect(messages({ domains: ["src"], roots: ["dist/a"], outs: ["dist/b", "lib/c"] })).toEqual([
      '"src" is not in a catalytic root (.verbatim/scratch); use one, or add a root to verbatim.config.json',
      '"dist/b" is not in a declared output root (dist/a); add --out-root',
      '"lib/c" is not in a durable root (.verbatim/out, dist); use one, or add a root to verbatim.config.json',
    ]);
  });
});

describe("a refused field", () => {
  it("comes with its rule, and an unknown one is said to be unknown", () => {
    const { errors } = parseJobSpec({ run_id: "NO", colour: "red" });
    const found = Object.fromEntries(explainFields(errors).map(({ pointer, message }) => [pointer, message]));
    expect(found["/run_id"]).toMatch(/^must be 1 to 64 characters from a-z/);
    expect(found["/colour"]).toBe("there is no such field");
    expect(found["/command"]).toMatch(/^must be a list of 1 to 4096 words/);
  });
});

describe("a configuration", () => {
  it("with null where a value belongs is refused, not read as the default", () => {
    for (const config of [
      { profile: null },
      { memo: null },
      { tripwire: { on_hit: null } },
      { signing: { key_file: null } },
    ])
      expect(effectivePolicy(config).errors).toMatchObject([{ code: "CONFIG_INVALID" }]);
  });
});

import { describe, expect, it } from "vitest";
import { effectivePolicy } from "./policy.ts";
import { checkPaths } from "./preflight.ts";

const judge = (config: { readonly forbidden_roots?: string[] }, domain: string) => {
  const { policy } = effectivePolicy({ ...config, catalytic_roots: ["work"], durable_roots: ["out"] });
  const declared = { catalytic_domains: [domain], durable_output_roots: ["out"], outputs: { durable_paths: [] } };
  return checkPaths(policy!, { run_id: "run-1", ...declared }, null).errors.map(({ code }) => code);
};

describe("a name that folds to nothing", () => {
  it.each(["...", " ", "./ ./", ". ."])("is a name like others and not the repository: %j", (domain) => {
    expect(judge({}, domain)).toEqual(["CATALYTIC_OUTSIDE_ROOT"]);
    expect(judge({}, `work/${domain}`)).toEqual([]);
  });

  it("forbids itself and its twins, and nothing else", () => {
    expect(judge({ forbidden_roots: ["..."] }, "work/x")).toEqual([]);
    expect(judge({ forbidden_roots: ["..."] }, " /x")).toEqual(["FORBIDDEN_PATH_OVERLAP"]);
  });
});

import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../core/canonical/index.ts";
import { effectivePolicy } from "./policy.ts";

const problems = (config: JsonValue) => effectivePolicy(config).errors.map(({ code, pointer }) => `${code} ${pointer}`);

describe("the configuration of catalytic runs", () => {
  it("names a root that is refused once, and not the default roots it would collide with", () => {
    expect(problems({ catalytic_roots: ["."] })).toEqual(["CONFIG_ROOT_FORBIDDEN /catalytic/catalytic_roots/0"]);
    expect(problems({ catalytic_roots: [".verbatim"] })).toEqual([
      "CONFIG_ROOT_FORBIDDEN /catalytic/catalytic_roots/0",
    ]);
  });

  it("names every root that would be restored together with what it must keep", () => {
    expect(problems({ catalytic_roots: ["dist"], durable_roots: ["dist/a", "out"], runs_root: "dist" })).toEqual([
      "CONFIG_ROOT_CONFLICT /catalytic/durable_roots/0",
      "CONFIG_ROOT_CONFLICT /catalytic/runs_root",
    ]);
  });

  it("is an object, and cannot forbid the whole repository", () => {
    expect(problems(null)).toEqual(["CONFIG_INVALID /catalytic"]);
    expect(problems({ forbidden_roots: ["src", "./"] })).toEqual(["CONFIG_INVALID /catalytic/forbidden_roots/1"]);
  });
});

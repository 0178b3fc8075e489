import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../core/canonical/index.ts";
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

  it("of the fixed profile has the roots of the contract and no others", () => {
    expect(problems({ profile: "cmp-01", runs_root: "r", durable_roots: [], catalytic_roots: ["c"] })).toEqual([
      "CONFIG_PROFILE_FIXED /catalytic/runs_root",
      "CONFIG_PROFILE_FIXED /catalytic/durable_roots",
      "CONFIG_PROFILE_FIXED /catalytic/catalytic_roots",
    ]);
    expect(effectivePolicy({ profile: "cmp-01", forbidden_roots: ["own"] }).policy).toMatchObject({
      profile: "cmp-01",
      runs_root: "LAW/CONTRACTS/_runs",
      forbidden_roots: [".git", ".verbatim", "AGENTS.md", "BUILD", "LAW/CANON", "own", "verbatim.config.json"],
    });
  });

  it("of the standard profile has its own places, which may be named below our folder", () => {
    expect(effectivePolicy({}).policy).toEqual({
      schema_version: "cmp01-policy-1",
      profile: "standard",
      runs_root: ".verbatim/runs",
      durable_roots: [".verbatim/out"],
      catalytic_roots: [".verbatim/scratch"],
      forbidden_roots: [".git", ".verbatim", "verbatim.config.json"],
    });
    expect(problems({ catalytic_roots: [".verbatim/scratch/x"] })).toEqual([]);
    expect(problems({ catalytic_roots: [".verbatim/state"] })).toEqual([
      "CONFIG_ROOT_FORBIDDEN /catalytic/catalytic_roots/0",
    ]);
  });

  it("names roots that no configuration can open, and fields that are unknown", () => {
    expect(problems({ profile: "own" })).toEqual(["CONFIG_INVALID /catalytic/profile"]);
    expect(problems({ "a/b": 1 })).toEqual(["CONFIG_INVALID /catalytic/a~1b"]);
    expect(
      problems({ durable_roots: ["a/.git/b", "Verbatim.Config.JSON", "law/x"], forbidden_roots: ["law"] }),
    ).toEqual([
      "CONFIG_ROOT_FORBIDDEN /catalytic/durable_roots/0",
      "CONFIG_ROOT_FORBIDDEN /catalytic/durable_roots/1",
      "CONFIG_ROOT_FORBIDDEN /catalytic/durable_roots/2",
    ]);
    expect(problems({ runs_root: ".git/runs" })).toEqual(["CONFIG_ROOT_FORBIDDEN /catalytic/runs_root"]);
    expect(problems({ runs_root: 1 })).toEqual(["CONFIG_INVALID /catalytic/runs_root"]);
  });
});

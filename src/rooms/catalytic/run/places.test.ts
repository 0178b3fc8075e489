import { describe, expect, it } from "vitest";
import { effectivePolicy } from "../declare/policy.ts";
import { anchorOf, anchorsOf, claimedPaths, isOwnState, parentOf, placeOf, showPlace } from "./places.ts";

describe("places", () => {
  it("of repository paths", () => {
    expect([".", "", "a/b"].map((path) => placeOf("/r", path))).toEqual(["/r", "/r", "/r/a/b"]);
    expect(["/r/a/b", "/r", "/rx/a"].map((place) => showPlace({ root: "/r" }, place))).toEqual(["a/b", "/r", "/rx/a"]);
    expect(["a/b/c", "a", "/a"].map(parentOf)).toEqual(["a/b", "", ""]);
  });

  it("that must be writable for outputs, none inside another", () => {
    expect(["out/a", "out/d/", "a"].map(anchorOf)).toEqual(["out", "out/d", ""]);
    expect(anchorsOf(["out/d/x", "out/a", "lib/b", "out/b", "outer/c"])).toEqual(["lib", "out", "outer"]);
    const jobspec = { catalytic_domains: ["work"], outputs: { durable_paths: ["out/a", "work/x"] } };
    expect(claimedPaths(jobspec as never)).toEqual(["out", "work"]);
  });

  it("of the tool's own state, which no configured root is", () => {
    const policy = effectivePolicy({ catalytic_roots: ["tmp"] }).policy!;
    const own = [
      ".verbatim/state",
      ".verbatim/state/x",
      ".verbatim/runs/r",
      ".verbatim",
      ".verbatim/out",
      "src",
      "tmp",
    ];
    expect(own.map((path) => isOwnState(path, policy))).toEqual([true, true, false, false, false, false, false]);
  });
});

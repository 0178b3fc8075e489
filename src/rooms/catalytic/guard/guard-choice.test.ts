import { describe, expect, it } from "vitest";
import { chooseGuard, describeGuard, gapsOf, guardOrder, limitsOf } from "./guard-choice.ts";

it.each([
  [null, true],
  [0, true],
  [2, true],
  [3, false],
  [7, false],
])("with landlock of version %s, that it cannot deny truncate is %s", (abi, expected) => {
  expect(gapsOf("landlock", abi).includes("truncate")).toBe(expected);
  expect(gapsOf("landlock", abi)).toEqual(expect.arrayContaining(["chmod", "chown", "times", "xattr"]));
});

it("leaves the other guards alone whatever landlock can do", () => {
  expect([gapsOf("ns-overlay", 1), gapsOf("ns-bind", 1), gapsOf("seatbelt", null)]).toEqual([[], [], ["process"]]);
});

describe("the guard of a run", () => {
  const all = { "ns-overlay": "ok", "ns-bind": "ok", landlock: "ok", seatbelt: "ok" } as const;
  type Arguments = Parameters<typeof chooseGuard>;
  const choose = (...args: Arguments) => {
    const choice = chooseGuard(...args);
    return choice.guard ?? choice.error;
  };

  it.each<[string, Arguments, string]>([
    ["is the strongest that works", ["linux", "auto", all], "ns-overlay"],
    ["is the next where one does not work", ["linux", "auto", { landlock: "ok" }], "landlock"],
    ["only watches where nothing works", ["linux", "auto", {}], "audit"],
    ["is not replaced when one is required", ["linux", "require", {}], "GUARD_UNAVAILABLE"],
    ["is one that keeps the command when one is required", ["linux", "require", { landlock: "ok" }], "landlock"],
    ["is the one that was named", ["linux", "ns-bind", all], "ns-bind"],
    ["is not replaced when it was named", ["linux", "ns-bind", { "ns-overlay": "ok" }], "GUARD_UNAVAILABLE"],
    ["is one of this platform", ["linux", "seatbelt", all], "GUARD_UNAVAILABLE"],
    ["may be named to only watch", ["linux", "audit", {}], "audit"],
    ["is another on another platform", ["darwin", "auto", all], "seatbelt"],
    ["only watches on an unknown platform", ["other", "auto", all], "audit"],
    ["cuts the network off where one can", ["linux", "auto", all, "none"], "ns-overlay"],
    ["is refused where none can", ["linux", "auto", {}, "none"], "NETWORK_NOT_ENFORCEABLE"],
    ["is refused where the named one cannot", ["linux", "audit", all, "none"], "NETWORK_NOT_ENFORCEABLE"],
    ["is refused where the named one is not there at all", ["linux", "ns-bind", {}, "none"], "GUARD_UNAVAILABLE"],
  ])("%s", (_, args, expected) => {
    expect(choose(...args)).toBe(expected);
  });

  it("warns when it only watches, and is a refusal with an exit code where there is none", () => {
    expect(chooseGuard("linux", "auto", {})).toMatchObject({
      class: "audit",
      warn: "AUDIT_ONLY",
      error: null,
      exit: null,
    });
    expect(chooseGuard("linux", "auto", all)).toMatchObject({ class: "namespace", warn: null });
    expect(chooseGuard("linux", "require", {})).toEqual({ guard: null, error: "GUARD_UNAVAILABLE", exit: 1 });
  });

  it("is told in words, with what it cannot do", () => {
    expect(guardOrder("linux")).toEqual(["ns-overlay", "ns-bind", "landlock", "audit"]);
    expect(describeGuard("audit", "inherit")).toContain("BLOCKS NOTHING");
    expect(describeGuard("ns-overlay", "none")).toMatch(
      /^guard ns-overlay: blocks .* outside the domains; network none$/,
    );
    expect(describeGuard("landlock", "inherit")).toContain(", cannot block ");
    expect(["ns-bind", "landlock", "seatbelt", "audit"].map((name) => limitsOf(name as "audit").length)).toEqual([
      0, 2, 2, 2,
    ]);
  });
});

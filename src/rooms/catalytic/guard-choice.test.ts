import { expect, it } from "vitest";
import { gapsOf } from "./guard-choice.ts";

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

import { describe, expect, it } from "vitest";
import { type Gated, gate, isAllowed, type View, viewKey } from "./gate.ts";

const people = {
  operator_id: "op",
  people: new Map([
    ["anna", "Anna"],
    ["berta", "Berta"],
  ]),
};
const PUBLIC: Gated = { visibility: { scope: "PUBLIC", visible_to: [] } };
const to = (...ids: readonly string[]): Gated => ({ visibility: { scope: "PRIVATE", visible_to: ids } });
const viewer = (id: string): View => ({ kind: "viewer", id });
const room = (...present: readonly string[]): View => ({ kind: "room", present });
const ask = (view: View, entry: Gated) => {
  const { verdict, reason } = gate(people, view, entry);
  expect(isAllowed(people, view, entry)).toBe(verdict === "ALLOW");
  return `${verdict} ${reason}`;
};

describe("one viewer", () => {
  it.each<[string, Gated, string]>([
    ["op", PUBLIC, "ALLOW PUBLIC"],
    ["anna", PUBLIC, "ALLOW PUBLIC"],
    ["WORLD", PUBLIC, "ALLOW PUBLIC"],
    ["anna", to("anna"), "ALLOW LISTED"],
    ["op", to("anna", "op"), "ALLOW LISTED"],
    ["WORLD", to("WORLD"), "ALLOW LISTED"],
    ["berta", to("anna"), "DENY NOT_LISTED"],
    ["WORLD", to("anna"), "DENY NOT_LISTED"],
    ["op", to("anna"), "DENY NOT_LISTED"],
    ["nobody", PUBLIC, "DENY UNKNOWN_VIEWER"],
    ["nobody", to("nobody"), "DENY UNKNOWN_VIEWER"],
    ["", PUBLIC, "DENY UNKNOWN_VIEWER"],
  ])("%s asks for %j: %s", (id, entry, expected) => {
    expect(ask(viewer(id), entry)).toBe(expected);
  });
});

describe("a room", () => {
  it.each<[readonly string[], Gated, string]>([
    [[], PUBLIC, "ALLOW PUBLIC"],
    [["anna"], PUBLIC, "ALLOW PUBLIC"],
    [[], to("WORLD"), "ALLOW LISTED"],
    [["anna"], to("WORLD"), "ALLOW LISTED"],
    [["anna"], to("anna"), "ALLOW ALL_PRESENT_LISTED"],
    [["anna", "op"], to("op", "anna", "berta"), "ALLOW ALL_PRESENT_LISTED"],
    [["anna", "berta"], to("anna"), "DENY NOT_LISTED"],
    [["berta"], to("anna"), "DENY NOT_LISTED"],
    [[], to("anna"), "DENY NOT_LISTED"],
    [["anna", "nobody"], PUBLIC, "DENY UNKNOWN_VIEWER"],
    [["WORLD"], to("WORLD"), "DENY UNKNOWN_VIEWER"],
  ])("of %j asks for %j: %s", (present, entry, expected) => {
    expect(ask(room(...present), entry)).toBe(expected);
  });
});

describe("what is malformed is shown to nobody", () => {
  it.each<[string, unknown]>([
    ["no entry", null],
    ["a text", "PUBLIC"],
    ["no visibility", {}],
    ["null as visibility", { visibility: null }],
    ["a text as visibility", { visibility: "PUBLIC" }],
    ["no scope", { visibility: { visible_to: ["anna"] } }],
    ["another scope", { visibility: { scope: "public", visible_to: [] } }],
    ["public with an audience", { visibility: { scope: "PUBLIC", visible_to: ["anna"] } }],
    ["public with a text", { visibility: { scope: "PUBLIC", visible_to: "" } }],
    ["private without an audience", { visibility: { scope: "PRIVATE" } }],
    ["private for a text", { visibility: { scope: "PRIVATE", visible_to: "anna" } }],
    ["private for nobody", { visibility: { scope: "PRIVATE", visible_to: [] } }],
    ["private for a number among others", { visibility: { scope: "PRIVATE", visible_to: ["anna", 1] } }],
  ])("%s", (_what, entry) => {
    for (const view of [viewer("anna"), room("anna"), room()]) {
      expect(ask(view, entry as Gated)).toBe("DENY MALFORMED_VISIBILITY");
    }
  });

  it.each<[string, unknown]>([
    ["no view", null],
    ["a text", "anna"],
    ["nothing", undefined],
    ["another kind", { kind: "all", id: "anna", present: ["anna"] }],
    ["a room without a list", { kind: "room", present: "anna" }],
  ])("a view that is %s sees nothing", (_what, view) => {
    for (const entry of [PUBLIC, to("anna")]) expect(ask(view as View, entry)).toBe("DENY UNKNOWN_VIEWER");
  });

  it("public without a list is public", () => {
    expect(ask(viewer("anna"), { visibility: { scope: "PUBLIC" } })).toBe("ALLOW PUBLIC");
    expect(ask(viewer("anna"), { visibility: { scope: "PUBLIC", visible_to: null } })).toBe("ALLOW PUBLIC");
  });
});

it("the key of a view tells viewers and rooms apart", () => {
  const keys = [viewer("anna"), viewer("berta"), room("anna"), room("anna", "berta"), room()].map(viewKey);
  expect(keys).toEqual(["viewer:anna", "viewer:berta", "room:anna", "room:anna,berta", "room:"]);
});

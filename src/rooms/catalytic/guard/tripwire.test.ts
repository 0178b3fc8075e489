import { describe, expect, it } from "vitest";
import { effectivePolicy } from "../declare/policy.ts";
import { compareTripwire, type Fingerprint, type TripwireFacts } from "./tripwire.ts";

const file: Fingerprint = {
  type: "file",
  ino: "1",
  mode: "0644",
  uid: 0,
  gid: 0,
  size: 1,
  mtime_ns: "1",
  ctime_ns: "1",
  nlink: 1,
  target: null,
};
const dir: Fingerprint = { ...file, type: "dir", mode: "0755", size: 0 };
const later = { mtime_ns: "2", ctime_ns: "2" };
type Entries = Readonly<Record<string, Fingerprint>>;

function compare(
  before: Entries,
  after: Entries,
  more: Partial<TripwireFacts> & { noise?: string[]; report?: boolean } = {},
) {
  const { noise = [], report = false, ...facts } = more;
  const found = compareTripwire({
    policy: effectivePolicy({ forbidden_roots: ["law"] }).policy!,
    settings: { noise, on_hit: report ? "report" : "fail" },
    guard_class: "audit",
    before: new Map(Object.entries(before)),
    after: new Map(Object.entries(after)),
    tool_touched: [],
    ...facts,
  });
  return {
    violations: found.violations.map(({ code, path, fields }) => [code, path, ...(fields ?? [])].join(" ")),
    noise: found.noise,
  };
}

describe("what changed outside", () => {
  it("is nothing when nothing changed", () => {
    expect(compare({ a: file, d: dir }, { a: { ...file }, d: dir })).toEqual({ violations: [], noise: [] });
  });

  it("is told by path, with the fields that differ", () => {
    const before = { "b/x": file, c: file, b: dir };
    const after = { "b/y": file, c: { ...file, size: 2, ...later }, b: dir };
    expect(compare(before, after).violations).toEqual([
      "OUTSIDE_REMOVED b/x",
      "OUTSIDE_ADDED b/y",
      "OUTSIDE_CHANGED c ctime_ns mtime_ns size",
    ]);
    expect(compare({ a: file }, { a: { ...file, sha256: "x" } }).violations).toEqual(["OUTSIDE_CHANGED a sha256"]);
  });

  it("is graver where nothing may ever be written, the tool's own folder included", () => {
    const before = {
      ".git/config": file,
      "law/x": file,
      ".verbatim/state/x": file,
      ".verbatim/out/x": file,
      lawful: file,
    };
    const after = Object.fromEntries(Object.keys(before).map((path) => [path, { ...file, mode: "0600" }]));
    expect(compare(before, after).violations).toEqual([
      "FORBIDDEN_CHANGED .git/config mode",
      "OUTSIDE_CHANGED .verbatim/out/x mode",
      "FORBIDDEN_CHANGED .verbatim/state/x mode",
      "FORBIDDEN_CHANGED law/x mode",
      "OUTSIDE_CHANGED lawful mode",
    ]);
  });

  it("is no change of a folder where something came or went in it, or where the tool worked", () => {
    const touched = { ...dir, ...later, nlink: 3, size: 9 };
    expect(compare({ d: dir }, { d: touched, "d/x": file }).violations).toEqual(["OUTSIDE_ADDED d/x"]);
    expect(compare({ d: dir, "d/x": file }, { d: touched }).violations).toEqual(["OUTSIDE_REMOVED d/x"]);
    expect(compare({ ".": dir }, { ".": touched, x: file }).violations).toEqual(["OUTSIDE_ADDED x"]);
    expect(compare({ d: dir }, { d: touched }, { tool_touched: ["d"] }).violations).toEqual([]);
    expect(compare({ d: dir }, { d: touched }).violations).toHaveLength(1);
    const edited = { "d/x": { ...file, size: 2, ...later } };
    expect(compare({ d: dir, "d/x": file }, { d: touched, ...edited }).violations).toHaveLength(2);
    expect(compare({ d: dir }, { d: { ...touched, mode: "0700" } }, { tool_touched: ["d"] }).violations).toHaveLength(
      1,
    );
    expect(compare({ d: dir }, { d: { ...file, ...later } }, { tool_touched: ["d"] }).violations).toHaveLength(1);
    expect(compare({ d: file }, { d: { ...dir, ...later } }, { tool_touched: ["d"] }).violations).toHaveLength(1);
    expect(compare({ d: file }, { d: { ...file, ...later } }, { tool_touched: ["d"] }).violations).toHaveLength(1);
  });
});

describe("noise", () => {
  const changed = [{ a: file }, { a: { ...file, ...later } }] as const;
  const namespace = { guard_class: "namespace" } as const;

  it("is what other runs did at the same time, under every guard", () => {
    expect(compare(...changed, { others: ["a"] })).toEqual({ violations: [], noise: ["a"] });
    expect(compare(...changed, { others: ["b"] }).noise).toEqual([]);
  });

  it("is what is declared as such, where the kernel kept the command from it", () => {
    expect(compare(...changed, { ...namespace, noise: ["a"] })).toEqual({ violations: [], noise: ["a"] });
    expect(compare(...changed, { noise: ["a"] }).noise).toEqual([]);
    expect(compare(...changed, { ...namespace, noise: ["b"] }).noise).toEqual([]);
  });

  it("is a look of git at its folder, and nothing more of it", () => {
    const git = (more: object) => compare({ ".git": dir }, { ".git": { ...dir, ...more } }, namespace);
    expect(git(later)).toEqual({ violations: [], noise: [".git"] });
    expect(git({ ...later, mode: "0700" }).noise).toEqual([]);
    expect(compare({}, { ".git": dir }, namespace).noise).toEqual([]);
    expect(compare({ g: dir }, { g: { ...dir, ...later } }, namespace).noise).toEqual([]);
  });

  it("is everything that is only to be reported, but never what is forbidden", () => {
    expect(compare(...changed, { ...namespace, report: true })).toEqual({ violations: [], noise: ["a"] });
    expect(compare(...changed, { report: true }).noise).toEqual([]);
    const law = [{ "law/a": file }, { "law/a": { ...file, ...later } }] as const;
    expect(compare(...law, { ...namespace, report: true })).toMatchObject({
      noise: [],
      violations: [expect.any(String)],
    });
  });
});

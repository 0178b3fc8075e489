import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { locatePlace } from "./named-place.ts";

let folder: string;
let root: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-place-")));
  root = join(folder, "root");
  mkdirSync(join(root, "src"), { recursive: true });
  mkdirSync(join(folder, "root-2"));
  writeFileSync(join(root, "src", "a.ts"), "");
  symlinkSync("src", join(root, "in"));
  symlinkSync("..", join(root, "up"));
  symlinkSync("../later", join(root, "out"));
  symlinkSync("src/later", join(root, "soon"));
  symlinkSync("out", join(root, "twice"));
  symlinkSync("round", join(root, "round"));
  symlinkSync(root, join(folder, "same"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each<[string, string, string | null]>([
  ["src/a.ts", "root/src/a.ts", "src/a.ts"],
  ["", "root", "."],
  [".", "root", "."],
  ["src/..", "root", "."],
  ["new/deep/b", "root/new/deep/b", "new/deep/b"],
  ["..", "", null],
  ["../root-2/b", "root-2/b", null],
  ["../..c", "..c", null],
  ["..c", "root/..c", "..c"],
  ["in/a.ts", "root/src/a.ts", "src/a.ts"],
  ["in/b/c", "root/src/b/c", "src/b/c"],
  ["up/b", "b", null],
  ["up", "", null],
  ["out", "later", null],
  ["out/b", "later/b", null],
  ["twice", "later", null],
  ["soon", "root/src/later", "src/later"],
  ["../same/src/a.ts", "root/src/a.ts", "src/a.ts"],
])("%j leads to %j, inside: %j", (named, real, inside) => {
  expect(locatePlace(root, root, named)).toEqual({ real: join(folder, real).replace(/\/$/, ""), inside });
  expect(locatePlace(join(folder, "same"), root, named).inside).toBe(inside);
});

it("an absolute path is itself, a relative one is meant from the folder it is named in", () => {
  expect(locatePlace(root, "/", join(root, "src"))).toEqual({ real: join(root, "src"), inside: "src" });
  expect(locatePlace(root, join(root, "src"), "a.ts").inside).toBe("src/a.ts");
  expect(locatePlace(root, "/", "usr").inside).toBe(null);
});

it.each(["round", "a\0b", "x".repeat(5000), "round/a"])("what cannot be a path is refused: %j", (named) => {
  expect(() => locatePlace(root, root, named)).toThrow(
    expect.objectContaining({ code: "HOOK_INPUT_INVALID", where: "/tool_input" }),
  );
});

it("says which text is no path, as far as it can be shown", () => {
  expect(() => locatePlace(root, root, "y".repeat(5000))).toThrow(
    `"${"y".repeat(100)}" cannot be a path here (ENAMETOOLONG)`,
  );
});

it("a root that is not there is no answer", () => {
  expect(() => locatePlace(join(folder, "none"), root, "a")).toThrow("ENOENT");
});

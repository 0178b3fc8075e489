// What is taken out of the reach of a command, how much of it, and how an anchor becomes again what it was.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import { diffAnchors, isSameEntry, restoreAnchor, stageOutputs } from "./staging.ts";

let base: string;
const at = (path: string) => join(base, path);
const put = (path: string, text: string) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-staging-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  for (const folder of ["before", "after"]) mkdirSync(at(folder));
});

const anchor = () => ({ path: "out", before: at("before"), after: at("after") });
const LIMITS = { max_entries: 100, output_bytes: 100, quarantine_bytes: 100 };

function stage(outputs: readonly string[], limits: Partial<typeof LIMITS> = {}, made: readonly string[] = []) {
  rmSync(at("stage"), { recursive: true, force: true });
  return stageOutputs(
    { disk: runDisk },
    {
      outputs,
      anchors: [anchor()],
      stage: at("stage"),
      made: new Set(made),
      limits: { ...LIMITS, ...limits },
      skip: () => false,
    },
  );
}

describe("a declared output", () => {
  it("may be exactly as large as what is left, and not a byte larger", async () => {
    put("after/a.txt", "12345");
    put("after/b.txt", "123");
    const outputs = ["out/a.txt", "out/b.txt"];
    const fits = await stage(outputs, { output_bytes: 8 });
    expect([[...fits.too_large!], [...fits.kept]]).toEqual([[], outputs]);
    expect(fits.entries.get("out/b.txt")).toMatchObject({ type: "file", size: 3 });
    const second = await stage(outputs, { output_bytes: 7 });
    expect([[...second.too_large!], [...second.kept]]).toEqual([["out/b.txt"], ["out/a.txt"]]);
    expect(second.entries.get("out/b.txt")).toEqual({ type: "other" });
    expect([existsSync(at("stage/out/a.txt")), existsSync(at("stage/out/b.txt"))]).toEqual([true, false]);
    // What did not fit took nothing of what is left for others.
    expect([...(await stage(outputs, { output_bytes: 4 })).too_large!]).toEqual(["out/a.txt"]);
  });

  it("may have exactly as many entries as are left, and not one more", async () => {
    for (const name of ["x", "y"]) put(`after/site/${name}`, "");
    put("after/a.txt", "");
    const outputs = ["out/site/", "out/a.txt"];
    const all = await stage(outputs, { max_entries: 4 });
    expect([[...all.too_large!], [...all.kept]]).toEqual([[], ["out/site", "out/a.txt"]]);
    expect([...(await stage(outputs, { max_entries: 3 })).too_large!]).toEqual(["out/a.txt"]);
    expect([...(await stage(outputs, { max_entries: 2 })).too_large!]).toEqual(["out/site"]);
  });

  it("that is not there, or is a folder that the tool made and nobody used, is none", async () => {
    mkdirSync(at("after/made"));
    mkdirSync(at("after/own"));
    const empty = await stage(["out/gone.txt", "out/made/", "out/own/"], {}, ["out/made"]);
    expect([...empty.entries].filter(([, entry]) => entry === null).map(([path]) => path)).toEqual([
      "out/gone.txt",
      "out/made",
    ]);
    expect([...empty.kept]).toEqual(["out/own"]);
    put("after/made/x", "used");
    expect([...(await stage(["out/made/"], {}, ["out/made"])).kept]).toEqual(["out/made"]);
  });
});

describe("what nobody declared", () => {
  it("is kept as long as it fits, all of it listed", async () => {
    put("after/a.txt", "12345");
    put("after/b.txt", "123");
    symlinkSync("a.txt", at("after/link"));
    mkdirSync(at("after/folder"));
    const { entries, kept } = await stage([], { quarantine_bytes: 8 });
    expect([...entries.keys()].sort()).toEqual(["out/a.txt", "out/b.txt", "out/folder", "out/link"]);
    expect([...kept]).toEqual(["out/a.txt", "out/b.txt", "out/link"]);
    expect(readFileSync(at("stage/out/b.txt"), "utf8")).toBe("123");
    const less = await stage([], { quarantine_bytes: 7 });
    expect([less.kept.has("out/b.txt"), less.entries.get("out/b.txt")]).toEqual([false, { type: "other" }]);
    // As large as it was: it is read, but it is not kept beyond the limit either.
    put("before/c.txt", "was");
    put("after/c.txt", "is.");
    const same = await stage([], { quarantine_bytes: 10 });
    expect([same.kept.has("out/c.txt"), same.entries.get("out/c.txt")]).toMatchObject([
      false,
      { type: "file", size: 3 },
    ]);
    put("before/b.txt", "gone now");
    rmSync(at("after/b.txt"));
    expect((await stage([])).entries.get("out/b.txt")).toBeNull();
  });
});

async function tree(folder: string) {
  const { entries } = await runDisk.snapshot(at(folder), { strict_mtime: true, max_entries: 100 });
  // The times of folders are not put back, only those of what is in them.
  const shown = [...entries].map(([path, one]) => [path, one.type === "dir" ? { ...one, mtime_ns: null } : one]);
  return Object.fromEntries(shown);
}

it("an anchor becomes what it was, from its copy, and what did not differ is not touched", async () => {
  for (const path of ["changed", "removed", "file-to-folder", "folder-to-file/x", "gone/deep/y", "same"]) {
    put(`before/${path}`, `${path} as it was\n`);
  }
  symlinkSync("same", at("before/link"));
  for (const path of ["before/mode", "before/gone/empty"]) mkdirSync(at(path));
  chmodSync(at("before/mode"), 0o750);
  const was = await tree("before");
  rmSync(at("after"), { recursive: true });
  await runDisk.copy(at("before"), at("after"));
  const { ino } = statSync(at("after/same"));
  put("after/changed", "other\n");
  for (const path of ["removed", "file-to-folder", "folder-to-file", "gone", "link"]) {
    rmSync(at(`after/${path}`), { recursive: true });
  }
  put("after/file-to-folder/z", "new\n");
  put("after/folder-to-file", "new\n");
  put("after/added/deep", "new\n");
  symlinkSync("changed", at("after/link"));
  chmodSync(at("after/mode"), 0o777);
  const { changes } = await diffAnchors({ disk: runDisk }, [anchor()], () => false, 100);
  expect(changes.has("out/same")).toBe(false);
  await restoreAnchor(runDisk, anchor(), changes);
  expect(await tree("after")).toEqual(was);
  expect(statSync(at("after/same")).ino).toBe(ino);
});

it("two readings of a special file are never the same", () => {
  const file = { type: "file", mode: "0644", size: 1, sha256: "ab" } as const;
  expect(isSameEntry(file, { ...file })).toBe(true);
  expect(isSameEntry(file, { ...file, mode: "0600" })).toBe(false);
  expect(isSameEntry({ type: "other" }, { type: "other" })).toBe(false);
  expect(isSameEntry(file, { type: "other" })).toBe(false);
  expect(isSameEntry({ type: "symlink", target: "a" }, { type: "symlink", target: "b" })).toBe(false);
});

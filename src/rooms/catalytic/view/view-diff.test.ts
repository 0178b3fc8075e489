// What changed in an overlay, found by its upper folder. The sides are plain folders; equal files are one file with two names.
import {
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import { Reading, viewLimits } from "../tree/reading.ts";
import { diffOverlay } from "./view-diff.ts";

let base: string;
const at = (...parts: string[]) => join(base, ...parts);
const put = (path: string, text: string) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-overlay-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  for (const path of ["a", "src/b", "src/deep/c", "old/d", "still/e", "hole/f"]) put(`lower/${path}`, `${path}\n`);
  mkdirSync(at("upper"));
  link("lower", "merged");
});

function link(from: string, to: string): void {
  mkdirSync(at(to));
  for (const item of readdirSync(at(from), { withFileTypes: true })) {
    if (item.isDirectory()) link(`${from}/${item.name}`, `${to}/${item.name}`);
    else linkSync(at(from, item.name), at(to, item.name));
  }
}

/** Writes a file of the merged side as an overlay does: a new file, which the upper folder has too. */
function write(path: string, text: string): void {
  rmSync(at("merged", path), { force: true });
  put(`merged/${path}`, text);
  put(`upper/${path}`, text);
}

async function diff(maxEntries = 100): Promise<Record<string, string>> {
  const reading = new Reading(runDisk, () => 0, viewLimits(maxEntries));
  const places = { lower: at("lower"), merged: at("merged"), upper: at("upper") };
  const { changes } = await diffOverlay(runDisk, places, (path) => path === "hole", reading);
  return Object.fromEntries(
    [...changes].map(([path, { before, after }]) => [path, `${before?.type ?? "none"} ${after?.type ?? "none"}`]),
  );
}

it("is nothing where nothing was touched", async () => {
  expect(await diff()).toEqual({});
});

it("is what was written, added and removed, in folders of every depth", async () => {
  write("a", "changed\n");
  write("src/deep/c", "changed\n");
  write("src/deep/new", "new\n");
  write("made/deep/x", "new\n");
  write("hole/f", "not looked at\n");
  rmSync(at("merged/src/b"));
  writeFileSync(at("upper/src/b"), "a whiteout");
  expect(await diff()).toEqual({
    a: "file file",
    made: "none dir",
    "made/deep": "none dir",
    "made/deep/x": "none file",
    "src/b": "file none",
    "src/deep/c": "file file",
    "src/deep/new": "none file",
  });
});

it("is not what somebody else wrote to the real tree, of which the upper folder has nothing", async () => {
  writeFileSync(at("lower/still/e"), "theirs\n");
  rmSync(at("lower/a"));
  rmSync(at("merged/a"));
  expect(await diff()).toEqual({});
});

it("is everything below a folder that was renamed, removed, or made a file", async () => {
  renameSync(at("merged/old"), at("merged/renamed"));
  writeFileSync(at("upper/old"), "a whiteout");
  cpSync(at("merged/renamed"), at("upper/renamed"), { recursive: true });
  rmSync(at("merged/src/deep"), { recursive: true });
  write("src/deep", "a file now\n");
  expect(await diff()).toEqual({
    old: "dir none",
    "old/d": "file none",
    renamed: "none dir",
    "renamed/d": "none file",
    "src/deep": "dir file",
    "src/deep/c": "file none",
  });
});

it("shows another folder's files at the old paths after two folders changed places", async () => {
  renameSync(at("merged/old"), at("merged/between"));
  renameSync(at("merged/still"), at("merged/old"));
  renameSync(at("merged/between"), at("merged/still"));
  for (const name of ["old", "still"]) mkdirSync(at("upper", name));
  expect(await diff()).toEqual({
    "old/d": "file none",
    "old/e": "none file",
    "still/d": "none file",
    "still/e": "file none",
  });
});

it("is refused when it is more than may be looked at", async () => {
  for (const name of ["1", "2", "3"]) write(`made/${name}`, "x");
  await expect(diff(2)).rejects.toMatchObject({ code: "VIEW_TOO_LARGE" });
});

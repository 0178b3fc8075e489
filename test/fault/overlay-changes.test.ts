import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { Reading, viewLimits } from "../../src/rooms/catalytic/tree/reading.ts";
import { diffOverlay } from "../../src/rooms/catalytic/view/view-diff.ts";
import { diskFolder } from "../support/memory-folder.ts";

// Three folders stand for an overlay: links with one number are what a kernel shows of the lower side.

let base: string;
const at = (...names: string[]) => join(base, ...names);

beforeEach(() => {
  base = mkdtempSync(join(diskFolder(), "verbatim-overlay-"));
  for (const side of ["lower", "merged", "upper"]) mkdirSync(at(side));
  for (const name of ["server.txt", "kept.txt"]) {
    writeFileSync(at("lower", name), "one\n");
    linkSync(at("lower", name), at("merged", name));
  }
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

/** What changed, where someone does something between the look at the real side and the look at the view. */
async function changesWith(somebody: () => void): Promise<string[]> {
  let looks = 0;
  const disk: typeof runDisk = {
    ...runDisk,
    scan: async (root, options) => {
      if (looks++ === 1) somebody();
      return runDisk.scan(root, options);
    },
  };
  const reading = new Reading(disk, () => 0, viewLimits(99));
  const places = { lower: at("lower"), merged: at("merged"), upper: at("upper") };
  return [...(await diffOverlay(disk, places, () => false, reading)).changes.keys()];
}

describe("what differs between two looks at an overlay", () => {
  it("is not the command's where it has nothing in the upper folder: written, made or removed by someone else", async () => {
    const found = await changesWith(() => {
      appendFileSync(at("lower", "server.txt"), "two\n");
      writeFileSync(at("lower", "made.txt"), "made\n");
      linkSync(at("lower", "made.txt"), at("merged", "made.txt"));
      for (const side of ["lower", "merged"]) unlinkSync(at(side, "kept.txt"));
    });
    expect(found).toEqual([]);
  });

  it("is the command's where the upper folder has it, though someone writes it at the same time", async () => {
    for (const name of ["server.txt", "new.txt"]) {
      writeFileSync(at("upper", name), "mine\n");
      rmSync(at("merged", name), { force: true });
      linkSync(at("upper", name), at("merged", name));
    }
    const found = await changesWith(() => appendFileSync(at("lower", "server.txt"), "two\n"));
    expect(found).toEqual(["new.txt", "server.txt"]);
  });

  it("is the command's where the view shows another file of the real side, or hides one: a folder was renamed or made anew", async () => {
    writeFileSync(at("lower", "other.txt"), "other\n");
    renameSync(at("merged", "server.txt"), at("merged", "gone.txt"));
    linkSync(at("lower", "other.txt"), at("merged", "server.txt"));
    unlinkSync(at("merged", "kept.txt"));
    expect(await changesWith(() => undefined)).toEqual(["gone.txt", "kept.txt", "other.txt", "server.txt"]);
  });
});

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeScratchFolder } from "../../../../test/support/scratch.ts";
import { StreamLog } from "./output-log.ts";
import { listOutputFiles, readRecorded, takeRecorded } from "./recorded-output.ts";

let dir: string;
beforeEach(() => {
  dir = makeScratchFolder("verbatim-output-");
  mkdirSync(join(dir, "agent/attempts/01"), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const readPart = (folder: string, path: string, from: number, most: number) => {
  try {
    const bytes = readFileSync(join(folder, path));
    return { size: bytes.length, bytes: bytes.subarray(from, from + most) };
  } catch {
    return null;
  }
};
const run = () => ({ folder: { dir } }) as Parameters<typeof readRecorded>[1];
const read = (from: number, most = 1000) => {
  const found = readRecorded({ readPart }, run(), 1, "stdout", from, most);
  return found === null ? null : { ...found, bytes: found.bytes.toString() };
};
const files = () => readdirSync(join(dir, "agent/attempts/01")).sort();

/** Prints in pieces of any size; the text of a byte says where it was. */
const TEXT = Array.from({ length: 40 }, (_, n) => String(n % 10)).join("");
function print(most: number, ...sizes: number[]): string {
  const log = new StreamLog(join(dir, "agent/attempts/01"), 1, "stdout", most);
  let at = 0;
  for (const size of sizes) {
    log.add(Buffer.from(TEXT.slice(at, at + size)));
    at += size;
  }
  log.close();
  return TEXT.slice(0, at);
}

describe("what an agent prints", () => {
  it("is read by its place in all of it, across its files, as long as nothing made room", () => {
    expect(read(0)).toBeNull();
    const text = print(20, 3, 9, 8);
    expect(files()).toEqual(["output.13.log", "output.6.log", "output.log"]);
    expect(read(0)).toEqual({ bytes: text, first: 0, size: 20 });
    expect(read(3, 11)).toEqual({ bytes: text.slice(3, 14), first: 3, size: 20 });
    expect(read(20)).toEqual({ bytes: "", first: 20, size: 20 });
    expect(read(99)).toEqual({ bytes: "", first: 20, size: 20 });
  });

  it.each([[[40]], [[1, 39]], [Array.from({ length: 40 }, () => 1)], [[7, 7, 7, 7, 7, 5]]])(
    "beyond its limit is its beginning and its newest, never more than the limit, printed as %j",
    (sizes) => {
      const text = print(20, ...sizes);
      // 6 bytes of the beginning, and parts of 7 from 6, 13, 20, 27 and 34 on, of which the last two are there.
      expect(files()).toEqual(["output.27.log", "output.34.log", "output.log"]);
      expect(read(0)).toEqual({ bytes: text.slice(0, 6), first: 0, size: 40 });
      expect(read(6)).toEqual({ bytes: text.slice(27), first: 27, size: 40 });
      expect(read(30, 4)).toEqual({ bytes: text.slice(30, 34), first: 30, size: 40 });
      const kept = files().reduce((sum, name) => sum + statSync(join(dir, "agent/attempts/01", name)).size, 0);
      expect(kept).toBeLessThanOrEqual(20);
      expect(listOutputFiles(run(), 1, "stdout")).toHaveLength(3);
      expect(listOutputFiles(run(), 1, "stderr")).toHaveLength(1);
    },
  );

  it("is the recorded log afterwards where that has all of it, and otherwise stays as it was written down", () => {
    const recorded = join(dir, "STDOUT.log");
    print(20, 20);
    writeFileSync(recorded, "the whole of it");
    takeRecorded(run(), 1, "stdout", recorded);
    expect([files(), read(0)]).toEqual([["output.log"], { bytes: "the whole of it", first: 0, size: 15 }]);
    const text = print(20, 40);
    takeRecorded(run(), 1, "stdout", recorded);
    expect(read(6)).toEqual({ bytes: text.slice(27), first: 27, size: 40 });
    takeRecorded(run(), 1, "stdout", join(dir, "absent.log"));
    expect(read(0, 5)?.bytes).toBe(text.slice(0, 5));
  });

  it("with no room for parts is its beginning alone", () => {
    print(2, 9);
    expect(files()).toEqual(["output.log"]);
    expect(read(0)).toEqual({ bytes: "01", first: 0, size: 2 });
    print(0, 9);
    expect(read(0)?.size).toBe(0);
  });
});

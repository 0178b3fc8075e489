import { describe, expect, it } from "vitest";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { RunDisk } from "../ports.ts";
import { Reading, viewLimits } from "./reading.ts";

const disk = {
  async scan(_: string, { skip }: { skip(path: string): boolean }) {
    for (const path of ["a", "b"]) skip(path);
    return { packed: new Map(), not_utf8: new Set() };
  },
} as unknown as RunDisk;

describe("a reading of what a command left", () => {
  it("takes files until their bytes are too many, and small ones after a large one that was not taken", () => {
    const reading = new Reading(disk, () => 0, { ...viewLimits(9), file_bytes: 10, total_bytes: 15 });
    expect([11, 10, 6, 5, 1].map((size) => reading.takes(size))).toEqual([false, true, false, true, false]);
  });

  it("ends when its time is over, also in the middle of a scan", async () => {
    let now = 0;
    const reading = new Reading(disk, () => now++, { ...viewLimits(9), time_ms: 1 });
    reading.check();
    await expect(reading.scan("/", { from: [""], skip: () => false })).rejects.toMatchObject({
      code: "VIEW_READ_TIMED_OUT",
    });
  });

  it("takes no more new entries than may be, over all its scans", async () => {
    const asked: number[] = [];
    const scan = (size: number) => ({
      packed: new Map(Array.from({ length: size }, (_, i) => [`${i}`, ""])),
      not_utf8: new Set<string>(),
    });
    const sizes = [3, 6, 4];
    const counting = {
      scan: async (_: string, { max_entries }: { max_entries: number }) => {
        asked.push(max_entries);
        return scan(sizes[asked.length - 1]!);
      },
    } as unknown as RunDisk;
    const reading = new Reading(counting, () => 0, { ...viewLimits(9), entries: 10 });
    const options = { from: [""], skip: () => false };
    const was = await reading.scan("/", options);
    await reading.scan("/", options, was);
    await reading.scan("/", options, was);
    expect(asked).toEqual([Number.MAX_SAFE_INTEGER, 13, 10]);
  });

  it("says in its own words that there is too much, and passes every other failure on", async () => {
    const failing = (thrown: Error) =>
      new Reading({ scan: () => Promise.reject(thrown) } as unknown as RunDisk, () => 0, {
        ...viewLimits(9),
        entries: 10,
      });
    const options = { from: [""], skip: () => false };
    await expect(failing(new VerbatimError("TRIPWIRE_TOO_LARGE")).scan("/", options)).rejects.toMatchObject({
      code: "VIEW_TOO_LARGE",
      details: { path: ".", limit: 10 },
    });
    await expect(failing(new VerbatimError("DISK_FULL")).scan("/", options)).rejects.toMatchObject({
      code: "DISK_FULL",
    });
    await expect(failing(new TypeError("broken")).scan("/", options)).rejects.toThrow(TypeError);
  });
});

import { describe, expect, it } from "vitest";
import type { RunDisk } from "./ports.ts";
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
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createBuildLock } from "./build-lock.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-lock-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the lock of index builds", () => {
  it("is INDEX_BUSY with the holder's process after the time it waits", async () => {
    const path = join(folder, "locks", "index");
    await createBuildLock(path).hold(async () => {
      await expect(createBuildLock(path, 30).hold(async () => "second")).rejects.toMatchObject({
        code: "INDEX_BUSY",
        exit: 4,
        message: `another index build is running (process ${process.pid})`,
        details: { pid: process.pid },
      });
    });
    expect(await createBuildLock(path, 30).hold(async () => "second")).toBe("second");
  });

  it("lets those who wait in, one after the other", async () => {
    const lock = createBuildLock(join(folder, "index"));
    let inside = 0;
    let most = 0;
    const done = await Promise.all(
      Array.from({ length: 5 }, (_, i) =>
        lock.hold(async () => {
          most = Math.max(most, ++inside);
          await new Promise((resolve) => setImmediate(resolve));
          inside--;
          return i;
        }),
      ),
    );
    expect(done).toEqual([0, 1, 2, 3, 4]);
    expect(most).toBe(1);
  });

  it("is free again after a failure", async () => {
    const lock = createBuildLock(join(folder, "index"), 30);
    await expect(lock.hold(() => Promise.reject(new Error("lamp")))).rejects.toThrow("lamp");
    expect(await lock.hold(async () => 1)).toBe(1);
  });
});

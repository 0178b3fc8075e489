import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { diskFolder } from "../../../../test/support/memory-folder.ts";
import { readGuarded, readGuardedChunks, withGuardedFile } from "./guarded-file.ts";

const MEGABYTE = 1024 * 1024;

let folder: string;
let place: string;

beforeEach(() => {
  folder = mkdtempSync(join(diskFolder(), "verbatim-guarded-"));
  place = join(folder, "file");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const pattern = (length: number): Buffer => Buffer.from(Uint8Array.from({ length }, (_, i) => i % 251));

describe("a file of the guarded side", () => {
  it.each([0, 1, 1023, MEGABYTE - 1, MEGABYTE, MEGABYTE + 1, 2 * MEGABYTE + 7])(
    "of %i bytes is read whole, from anywhere and no further than was asked",
    (length) => {
      const bytes = pattern(length);
      writeFileSync(place, bytes);
      expect(readGuarded(place, length)?.equals(bytes)).toBe(true);
      expect(readGuarded(place, 4 * MEGABYTE)?.equals(bytes)).toBe(true);
      if (length > 0) expect(readGuarded(place, length - 1)).toBeNull();
      const middle = Math.floor(length / 2);
      const rest = withGuardedFile(place, ({ read }) => read(middle, 4 * MEGABYTE));
      expect(rest?.equals(bytes.subarray(middle))).toBe(true);
      expect(withGuardedFile(place, ({ read }) => read(length, 10))).toHaveLength(0);
      expect(withGuardedFile(place, ({ read }) => read(0, 10))?.equals(bytes.subarray(0, 10))).toBe(true);
    },
  );

  it("that grows after it was opened is read to its new end, and shows that it is larger than allowed", () => {
    const bytes = pattern(3 * MEGABYTE);
    writeFileSync(place, bytes.subarray(0, 10));
    const grown = withGuardedFile(place, ({ read }) => {
      appendFileSync(place, bytes.subarray(10));
      return [read(0, 4 * MEGABYTE), read(0, 11)] as const;
    });
    expect(grown?.[0].equals(bytes)).toBe(true);
    expect(grown?.[1]).toHaveLength(11);
    expect([...readGuardedChunks(place, 10)].map(({ length }) => length)).toEqual([11]);
  });

  it("that shrinks after it was opened ends where it ends now", () => {
    writeFileSync(place, pattern(100));
    const left = withGuardedFile(place, ({ read }) => {
      truncateSync(place, 7);
      return read(0, 100);
    });
    expect(left?.equals(pattern(7))).toBe(true);
  });

  it("keeps no more memory than it has bytes", () => {
    writeFileSync(place, "twelve bytes");
    expect(readGuarded(place, MEGABYTE)?.buffer.byteLength).toBeLessThan(64 * 1024);
  });

  it("is nothing where it is a link, a folder or not there", () => {
    mkdirSync(join(folder, "sub"));
    writeFileSync(place, "x");
    symlinkSync("file", join(folder, "link"));
    for (const name of ["sub", "link", "gone"]) expect(readGuarded(join(folder, name), 10)).toBeNull();
  });
});

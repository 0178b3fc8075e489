import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileSystemOf } from "./mounts.ts";

describe.skipIf(!existsSync("/proc/self/mountinfo"))("the file system of a place", () => {
  it("is the one df names, for what is there and for what would be made there", () => {
    const expected = execFileSync("df", ["--output=fstype", tmpdir()], { encoding: "utf8" }).trim().split("\n")[1];
    expect(fileSystemOf(tmpdir())).toBe(expected);
    expect(fileSystemOf(join(tmpdir(), "not/there/yet"))).toBe(expected);
  });

  it("is that of the place a link leads to, and of the innermost mount", () => {
    const base = mkdtempSync(join(tmpdir(), "verbatim-mounts-"));
    try {
      symlinkSync("/proc", join(base, "link"));
      expect([fileSystemOf(join(base, "link")), fileSystemOf("/proc/self")]).toEqual(["proc", "proc"]);
    } finally {
      rmSync(base, { recursive: true });
    }
  });
});

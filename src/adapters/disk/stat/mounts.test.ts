import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskFolder } from "../../../../test/support/memory-folder.ts";
import { needs } from "../../../../test/support/needs.ts";
import { fileSystemOf } from "./mounts.ts";

describe(
  "the file system of a place",
  needs(existsSync("/proc/self/mountinfo") ? null : "there is no /proc/self/mountinfo here"),
  () => {
    it("is the one df names, for what is there and for what would be made there", () => {
      const expected = execFileSync("df", ["--output=fstype", diskFolder()], { encoding: "utf8" })
        .trim()
        .split("\n")[1];
      expect(fileSystemOf(diskFolder())).toBe(expected);
      expect(fileSystemOf(join(diskFolder(), "not/there/yet"))).toBe(expected);
    });

    it("is that of the place a link leads to, and of the innermost mount", () => {
      const base = mkdtempSync(join(diskFolder(), "verbatim-mounts-"));
      try {
        symlinkSync("/proc", join(base, "link"));
        expect([fileSystemOf(join(base, "link")), fileSystemOf("/proc/self")]).toEqual(["proc", "proc"]);
      } finally {
        rmSync(base, { recursive: true });
      }
    });
  },
);

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { needs } from "../../../../test/support/needs.ts";
import { readWhileWritten } from "./guarded-walk.ts";

// Guards: what a command that is still at work may do to the place that is read.

const linux = process.platform === "linux" ? null : "the two places are exchanged by a call of Linux";
const RENAME = process.arch === "arm64" ? 276 : 316;

it("is never led outside by a folder that is exchanged for a link again and again", needs(linux), async () => {
  const base = mkdtempSync(join(tmpdir(), "walk-"));
  for (const folder of ["home/lamp", "outside"]) mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(base, "home/lamp/login"), "inside");
  writeFileSync(join(base, "outside/login"), "outside");
  symlinkSync(join(base, "outside"), join(base, "home/link"));
  const swap = `chdir("${base}/home"); my ($a, $b) = ("lamp", "link"); $| = 1; print "ready\\n"; syscall(${RENAME}, -100, $a, -100, $b, 2) while 1`;
  const child = spawn("/usr/bin/perl", ["-e", swap], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await once(child.stdout, "data");
    const seen = new Set<string | undefined>();
    // Long enough for both states to have been met, however busy the machine is.
    for (let i = 0; i < 2000 || seen.size < 2; i++) {
      seen.add(readWhileWritten(join(base, "home"), "lamp/login", 100)?.toString());
    }
    expect(seen).toEqual(new Set(["inside", undefined]));
  } finally {
    child.kill("SIGKILL");
    rmSync(base, { recursive: true, force: true });
  }
});

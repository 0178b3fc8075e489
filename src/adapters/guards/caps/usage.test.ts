import { spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { needs } from "../../../../test/support/needs.ts";
import { measureFolder, measureProcesses } from "./usage.ts";

const linux = process.platform === "linux" ? null : "/proc is Linux";

it("counts the processes below another, and what they share only once where it matters", needs(linux), async () => {
  // Four processes that have the same 40 MB.
  const script = `$| = 1; my $x = "x" x 40_000_000; for (1 .. 3) { fork() or do { sleep 30; exit } } print "ready\\n"; sleep 30`;
  const child = spawn("/bin/sh", ["-c", `/usr/bin/perl -e '${script}'; true`], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    await once(child.stdout, "data");
    const rough = measureProcesses(child.pid!, Number.MAX_SAFE_INTEGER);
    expect(rough.processes).toBe(4);
    expect(rough.memory).toBeGreaterThan(120_000_000);
    const shared = measureProcesses(child.pid!, 100_000_000);
    expect(shared.memory).toBeGreaterThan(39_000_000);
    expect(shared.memory).toBeLessThan(120_000_000);
  } finally {
    process.kill(-child.pid!, "SIGKILL");
  }
});

it("adds up a folder by what it takes on disk: links are not followed, hard links count once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "usage-"));
  try {
    mkdirSync(join(folder, "a/b"), { recursive: true });
    writeFileSync(join(folder, "a/b/f"), Buffer.alloc(100_000, 1));
    linkSync(join(folder, "a/b/f"), join(folder, "same"));
    symlinkSync("/usr", join(folder, "away"));
    writeFileSync(join(folder, "hole"), "");
    truncateSync(join(folder, "hole"), 50_000_000);
    const { bytes, largest } = await measureFolder(folder);
    expect(bytes).toBeGreaterThanOrEqual(100_000);
    expect(bytes).toBeLessThan(200_000);
    expect(largest).toBe(50_000_000);
    expect(await measureFolder(join(folder, "not there"))).toEqual({ bytes: 0, largest: 0 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("counts what is empty as a block, because a disk may be full of names", async () => {
  const folder = mkdtempSync(join(tmpdir(), "usage-"));
  try {
    for (let i = 0; i < 100; i++) writeFileSync(join(folder, `${i}`), "");
    expect((await measureFolder(folder)).bytes).toBe(100 * 4096);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

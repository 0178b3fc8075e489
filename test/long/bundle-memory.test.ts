// Guards: verifying a bundle takes less than 120 MB of memory, whatever the sizes (jobs and bundles, performance).
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { writeBundle } from "../../bench/bundle-corpus.ts";
import { BIN } from "../support/cli.ts";

const MOST_BYTES = 120_000_000;

it.each([
  ["10,000 small artifacts", 10_000, (next: (bound: number) => number) => 100 + next(9_900)],
  ["10 artifacts of 50 MB", 10, () => 50_000_000],
] as const)(
  "verifying %s stays small, strictly too",
  async (_, count, sizeOf) => {
    const { folder } = await writeBundle(count, sizeOf);
    const aside = mkdtempSync(join(tmpdir(), "verbatim-memory-"));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
      rmSync(aside, { recursive: true });
    });
    const watch = join(aside, "watch.cjs");
    const out = join(aside, "peak");
    const tell = `require("node:fs").writeFileSync(${JSON.stringify(out)}, String(process.resourceUsage().maxRSS * 1024))`;
    writeFileSync(watch, `process.on("exit", () => ${tell});\n`);
    for (const flags of [[], ["--strict"]]) {
      execFileSync(process.execPath, ["--require", watch, BIN, "bundle", "verify", folder, ...flags], {
        stdio: "ignore",
      });
      expect(Number(readFileSync(out, "utf8"))).toBeLessThan(MOST_BYTES);
    }
  },
  300_000,
);

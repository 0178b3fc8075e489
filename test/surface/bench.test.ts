import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { growthOf, isMet, measure, quantileOf, type Result, ratioOf } from "../../bench/harness.ts";

// Guards: what the bench says is what it measured. Times themselves are never asserted.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

function bench(...args: string[]) {
  return spawnSync(join(ROOT, "node_modules/.bin/tsx"), ["tools/bench.ts", ...args], { cwd: ROOT, encoding: "utf8" });
}

describe("npm run bench", () => {
  it("prints one table and writes the same figures to a file", () => {
    const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-test-"));
    try {
      const out = join(folder, "results.json");
      const run = bench("--only", "canonical-json", "--sizes", "20,200", "--rounds", "2", "--out", out);
      expect(run.status, run.stderr).toBe(0);
      const { results } = JSON.parse(readFileSync(out, "utf8")) as { results: Result[] };
      expect(results.map(({ name }) => name)).toEqual(["canonical-json"]);
      expect(results[0]?.samples.map(({ size, rounds }) => [size, rounds])).toEqual([
        [20, 2],
        [200, 2],
      ]);
      const [head, , first, second] = run.stdout.split("\n");
      expect(head?.split(/\s+/)).toEqual(["bench", "size", "ours", "baseline", "ratio", "goal", "growth", "met"]);
      expect(first).toMatch(/^canonical-json\s+20\s/);
      expect(second).toMatch(/^\s+200\s.*(met|MISSED)$/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("refuses a bench that does not exist and names those that do", () => {
    const run = bench("--only", "lantern");
    expect(run.status).toBe(2);
    expect(run.stderr).toMatch(/no bench lantern; there are .*canonical-json/);
  });
});

describe("npm run bench -- --against", () => {
  it("measures the sources against those of a revision, in pairs, with a row for each bench", () => {
    const run = bench("--against", "HEAD", "--only", "canonical-json", "--seconds", "0.1");
    expect(run.status, run.stderr).toBe(0);
    expect(run.stdout).toMatch(/^\| canonical-json \| 1000 \| \d+ \| \d+\.\d\d ms \| \d+\.\d\d ms \| \d+\.\d\dx \|$/m);
    expect(readdirSync(ROOT).filter((name) => name.startsWith(`dist.bench-${run.pid}`))).toEqual([]);
  });

  it("refuses a revision that does not exist, and an option in its place", () => {
    for (const revision of ["no-such-revision", "--output=lantern.tar"]) {
      const run = bench(`--against=${revision}`, "--only", "canonical-json");
      expect(run.status).toBe(2);
      expect(run.stderr).toContain(`git archive ${revision}:`);
    }
    expect(existsSync(join(ROOT, "lantern.tar"))).toBe(false);
  });
});

describe("the bench harness", () => {
  it("takes the faster of each side and changes who goes first", async () => {
    const order: string[] = [];
    const effort = { minRounds: 4, maxRounds: 4, budgetMs: 0 };
    const times = await measure({ ours: () => order.push("ours"), baseline: () => order.push("base") }, effort);
    expect(times.rounds).toBe(4);
    expect(order).toEqual(["ours", "base", "ours", "base", "base", "ours", "ours", "base", "base", "ours"]);
  });

  it("takes a time that is given as the baseline, without waiting for it", async () => {
    const times = await measure({ ours: () => 0, baseline: 3_600_000 }, { minRounds: 2, maxRounds: 2, budgetMs: 0 });
    expect(times).toMatchObject({ rounds: 2, baseline_ms: 3_600_000 });
  });

  it("adds what is allowed beyond the floor to every time of the floor", async () => {
    const effort = { minRounds: 2, maxRounds: 2, budgetMs: 0 };
    const times = await measure({ ours: () => 0, baseline: () => 0, allowed_ms: 3_600_000 }, effort);
    expect(times.baseline_ms).toBeGreaterThanOrEqual(3_600_000);
  });

  it("judges at the 95th percentile where a bench asks for it, and keeps the minima", async () => {
    const values = Array.from({ length: 100 }, (_, i) => ((i * 37) % 100) + 1);
    expect([quantileOf(values, 0), quantileOf(values, 0.95), quantileOf(values, 1)]).toEqual([1, 95, 100]);
    const effort = { minRounds: 3, maxRounds: 3, budgetMs: 0 };
    const { ours_ms, minima } = await measure({ ours: () => 0, baseline: () => 0 }, effort, 0.95);
    expect(minima?.ours_ms).toBeLessThanOrEqual(ours_ms);
  });

  it("reads a rate goal as baseline by ours and a time goal as ours by baseline", () => {
    expect(ratioOf({ kind: "rate", atLeast: 0.7 }, 200, 100)).toBe(0.5);
    expect(ratioOf({ kind: "time", atMost: 1.6 }, 200, 100)).toBe(2);
  });

  it("finds the power a cost grows with", () => {
    const quadratic = [
      { size: 10, ours_ms: 1 },
      { size: 100, ours_ms: 100 },
    ];
    expect(growthOf(quadratic)).toBeCloseTo(2);
    expect(growthOf([{ size: 10, ours_ms: 1 }])).toBeNull();
  });

  it("calls a goal missed when the ratio or the growth is beyond it", () => {
    const rate = { kind: "rate", atLeast: 0.5 } as const;
    expect(isMet(rate, [{ ratio: 0.1 }, { ratio: 0.5 }], 1)).toBe(true);
    expect(isMet(rate, [{ ratio: 0.9 }, { ratio: 0.49 }], 1)).toBe(false);
    expect(isMet(rate, [{ ratio: 0.9 }], 1.5)).toBe(false);
    expect(isMet({ kind: "time", atMost: 2 }, [{ ratio: 2.1 }], null)).toBe(false);
    expect(isMet(rate, [], null)).toBe(false);
  });
});

import { expect, it } from "vitest";
import { buildChild } from "../support/child.ts";
import { killWorkers } from "../support/job-kill.ts";
import { createSqliteJobs } from "../support/job-store.ts";

it("leaves 500 jobs with exactly one receipt per step, whenever their workers were killed", async () => {
  const program = await buildChild("test/fault/children/job-worker.ts");
  const harness = await createSqliteJobs();
  try {
    const report = await killWorkers(harness, program, 500, 5);
    expect(report.errors).toEqual([]);
    expect(report.kills).toBeGreaterThanOrEqual(150);
    expect(report.ends).toEqual(report.expected);
    expect(report.files).toEqual(report.expectedFiles);
  } finally {
    program.remove();
    await harness.destroy();
  }
}, 900_000);

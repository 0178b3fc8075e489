import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { openBundleFolder } from "../../src/adapters/disk/bundles/bundle-folder.ts";
import { verifyBundle } from "../../src/rooms/jobs/bundle/bundle-verify.ts";
import { runJob } from "../../src/rooms/jobs/steps/job-run.ts";
import { buildChild } from "../support/child.ts";
import { makeMessage, read } from "../support/job-corpus.ts";
import { createSqliteJobs, post, readJob } from "../support/job-store.ts";
import { makeDice } from "../support/patch-fuzz.ts";

const KILLS = 12;
const SLICES = 12;

it("a build that is killed leaves its target absent or whole, and nothing acknowledged is lost", async () => {
  const program = await buildChild("test/fault/children/bundle-builder.ts");
  const harness = await createSqliteJobs();
  try {
    const ports = await harness.open();
    const ops = Array.from({ length: SLICES }, (_, i) => read("@CANON/TIDES", `chars[${i}:${i + 1}]`));
    const budgets = { max_symbols: 9, max_sections: 9, max_bytes_expanded: 999, max_expands_per_step: SLICES };
    const job_id = await post(ports, makeMessage(ops, { budgets }));
    await runJob(ports, job_id, { workers: 1 });
    const outs = join(harness.folder, "outs");
    mkdirSync(outs);
    const dice = makeDice(17);
    const acknowledged: string[] = [];
    for (let i = 0; i < KILLS; i++) {
      const child = program.start([harness.folder, job_id, outs]);
      const after = 1 + dice(3 * SLICES);
      child.onLine((line) => {
        if (line.startsWith("built ")) acknowledged.push(line.slice("built ".length));
        if (child.lines.length >= after) child.process.kill("SIGKILL");
      });
      expect((await child.ended).signal).toBe("SIGKILL");
    }
    const names = readdirSync(outs);
    const [visible, hidden] = [names.filter((one) => !one.startsWith(".")), names.filter((one) => one.startsWith("."))];
    for (const name of visible) {
      const report = await verifyBundle(nodeCrypto, openBundleFolder(join(outs, name)), { mode: "strict" });
      expect([name, report.ok, report.counts.artifacts]).toEqual([name, true, SLICES]);
    }
    expect(visible.map((name) => join(outs, name))).toEqual(expect.arrayContaining(acknowledged));
    // Some were killed in the middle, and the ledger names no bundle that is not there.
    expect(hidden.length).toBeGreaterThan(0);
    const { entries } = await readJob(ports, job_id);
    const built = entries.filter(({ kind }) => kind === "BUNDLE_BUILT").length;
    expect(built).toBeGreaterThanOrEqual(acknowledged.length);
    expect(built).toBeLessThanOrEqual(visible.length);
  } finally {
    program.remove();
    await harness.destroy();
  }
});

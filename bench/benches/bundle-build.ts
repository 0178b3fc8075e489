import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBundleFolder } from "../../src/adapters/disk/bundles/bundle-folder.ts";
import { createBundleFolder } from "../../src/adapters/disk/bundles/bundle-target.ts";
import { createLocalFiles } from "../../src/adapters/disk/guarded/local-files.ts";
import { bundleBuild } from "../../src/rooms/jobs/operations/bundle-build.ts";
import { runJob } from "../../src/rooms/jobs/steps/job-run.ts";
import type { Bench } from "../harness.ts";
import { clock, openJobs } from "../job-corpus.ts";
import { seededIntegers, seededWords } from "../seed.ts";

/** Building a bundle, its verification included: the floor is making the same files durable. */
export const bundleBuildBench: Bench = {
  name: "bundle-build",
  onAsking: true,
  what: "build of the bundle of a job of N READ steps, verified, durable and in place",
  baseline: "writing and fsyncing the same files one after the other, and their folders",
  corpus: "seeded slices of 0.1 to 10 kB, all different",
  sizes: [100, 1_000],
  goal: { kind: "time", atMost: 3 },
  maxRounds: 5,
  async prepare(size) {
    const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
    const next = seededIntegers(12);
    const texts = new Map<string, string>();
    const textOf = (slice: string) => {
      const known = texts.get(slice) ?? seededWords(next, 2_000).slice(0, 100 + next(9_900));
      texts.set(slice, known);
      return known;
    };
    const { ports, post } = await openJobs(join(folder, "store"), textOf);
    const job_id = await post(size);
    await runJob(ports, job_id, { workers: 1 });
    let rounds = 0;
    const build = async () => {
      const out = join(folder, `bundle-${rounds++}`);
      const input = { job_id, out, reads_only: false, with_receipts: false };
      await bundleBuild.run(
        {
          ...ports,
          files: createLocalFiles(folder, process.stdin),
          loadKey: () => Promise.reject(new Error("nobody signs here")),
          exists: () => false,
          createFolder: (path, fill) =>
            createBundleFolder(path, clock.now(), (made, sink) => fill(sink, openBundleFolder(made))),
        },
        input,
      );
      return out;
    };
    const made = await build();
    const names = readdirSync(join(made, "artifacts")).map((name) => `artifacts/${name}`);
    const files = [...names, "bundle.json"].map((path) => ({ path, bytes: readFileSync(join(made, path)) }));
    return {
      ours: () => build(),
      baseline: () => writeFiles(join(folder, `plain-${rounds++}`), files),
      async close() {
        await ports.store.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

function writeFiles(folder: string, files: readonly { readonly path: string; readonly bytes: Uint8Array }[]): void {
  mkdirSync(join(folder, "artifacts"), { recursive: true });
  for (const { path, bytes } of files) {
    const file = openSync(join(folder, path), "wx", 0o644);
    writeSync(file, bytes);
    fsyncSync(file);
    closeSync(file);
  }
  for (const path of ["artifacts", ""]) {
    const file = openSync(join(folder, path), "r");
    fsyncSync(file);
    closeSync(file);
  }
}

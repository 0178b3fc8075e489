import { createHash, hash } from "node:crypto";
import { createReadStream, rmSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { openBundleFolder } from "../../src/adapters/disk/bundles/bundle-folder.ts";
import { verifyBundle } from "../../src/rooms/jobs/bundle/bundle-verify.ts";
import { writeBundle } from "../bundle-corpus.ts";
import type { Bench, Pair } from "../harness.ts";

const CONCURRENCY = 8;
const STREAMED = 1024 * 1024;

/** Verifying many small artifacts: the floor is reading and hashing the same files. */
export const bundleVerify: Bench = {
  name: "bundle-verify",
  what: "verification of a bundle of N artifacts of 0.1 to 10 kB",
  baseline: "reading and hashing the same files, eight at a time",
  corpus: "seeded artifacts and their manifest",
  sizes: [1_000, 10_000],
  goal: { kind: "time", atMost: 1.5 },
  prepare: (size) => prepareBundle(size, (next) => 100 + next(9_900)),
};

/** Verifying few large artifacts: memory stays flat, time is hashing. */
export const bundleVerifyLarge: Bench = {
  name: "bundle-verify-large",
  onAsking: true,
  what: "verification of a bundle of N artifacts of 50 MB",
  baseline: "reading and hashing the same files in pieces, eight at a time",
  corpus: "seeded artifacts and their manifest",
  sizes: [2, 10],
  goal: { kind: "time", atMost: 1.5 },
  prepare: (size) => prepareBundle(size, () => 50_000_000),
};

async function prepareBundle(count: number, sizeOf: (next: (bound: number) => number) => number): Promise<Pair> {
  const { folder, paths } = await writeBundle(count, sizeOf);
  const files = openBundleFolder(folder);
  return {
    async ours() {
      const report = await verifyBundle(nodeCrypto, files, { mode: "default" });
      if (!report.ok) throw new Error(`the corpus does not verify: ${report.problems[0]?.code}`);
    },
    baseline: () => hashFiles(paths),
    close: () => rmSync(folder, { recursive: true }),
  };
}

async function hashFiles(paths: readonly string[]): Promise<void> {
  let next = 0;
  const work = async () => {
    for (let i = next++; i < paths.length; i = next++) {
      const path = paths[i]!;
      if (statSync(path).size <= STREAMED) {
        hash("sha256", await readFile(path));
        continue;
      }
      const running = createHash("sha256");
      for await (const chunk of createReadStream(path, { highWaterMark: STREAMED })) running.update(chunk as Buffer);
      running.digest("hex");
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

import { createHash, hash } from "node:crypto";
import { createReadStream, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { openBundleFolder } from "../../src/adapters/disk/bundle-folder.ts";
import { compareCodePoints, type JsonObject, sortedUnique, toCanonicalFile } from "../../src/core/canonical/index.ts";
import { toArtifactId, toBundleId, toPlanHash, toRootHash } from "../../src/rooms/jobs/bundle-hash.ts";
import { verifyBundle } from "../../src/rooms/jobs/bundle-verify.ts";
import type { Bench, Pair } from "../harness.ts";
import { seededIntegers, seededWords } from "../seed.ts";

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
  what: "verification of a bundle of N artifacts of 50 MB",
  baseline: "reading and hashing the same files in pieces, eight at a time",
  corpus: "seeded artifacts and their manifest",
  sizes: [2, 10],
  goal: { kind: "time", atMost: 1.5 },
  prepare: (size) => prepareBundle(size, () => 50_000_000),
};

async function prepareBundle(count: number, sizeOf: (next: (bound: number) => number) => number): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-bench-bundle-"));
  mkdirSync(join(folder, "artifacts"));
  const next = seededIntegers(11);
  const made: (JsonObject & { artifact_id: string; path: string; sha256: string })[] = [];
  const steps: JsonObject[] = [];
  for (let i = 0; i < count; i++) {
    const ref = `@BENCH/S${String(i).padStart(6, "0")}`;
    const slice = "lines[0:9]";
    const artifact_id = await toArtifactId(nodeCrypto, ref, slice);
    const words = seededWords(next, 40);
    const size = sizeOf(next);
    const text = `${words.repeat(Math.ceil(size / words.length)).slice(0, size)}\n`;
    const path = `artifacts/${artifact_id}.txt`;
    writeFileSync(join(folder, path), text);
    made.push({
      artifact_id,
      kind: "SYMBOL_SLICE",
      ref,
      slice,
      path,
      sha256: hash("sha256", text),
      bytes: Buffer.byteLength(text),
    });
    steps.push({
      step_id: `s${i}`,
      ordinal: i + 1,
      op: "READ_SYMBOL",
      refs: { symbol_id: ref },
      constraints: { slice },
      expected_outputs: {},
    });
  }
  const artifacts = made.sort((a, b) => compareCodePoints(a.artifact_id, b.artifact_id));
  await writeManifest(folder, steps, artifacts);
  const files = openBundleFolder(folder);
  const paths = ["bundle.json", ...artifacts.map(({ path }) => path)].map((path) => join(folder, path));
  return {
    async ours() {
      const report = await verifyBundle(nodeCrypto, files, { mode: "default" });
      if (!report.ok) throw new Error(`the corpus does not verify: ${report.problems[0]?.code}`);
    },
    baseline: () => hashFiles(paths),
    close: () => rmSync(folder, { recursive: true }),
  };
}

async function writeManifest(
  folder: string,
  steps: JsonObject[],
  artifacts: (JsonObject & { artifact_id: string; sha256: string })[],
): Promise<void> {
  const manifest: JsonObject = {
    bundle_version: "5.0.0",
    bundle_id: "",
    run_id: "bench",
    job_id: "bench",
    message_id: "bench",
    plan_hash: toPlanHash(nodeCrypto, "bench", steps),
    steps,
    inputs: { symbols: sortedUnique(artifacts.map(({ ref }) => String(ref))), files: [], slices: ["lines[0:9]"] },
    artifacts,
    hashes: { root_hash: "" },
    provenance: {},
  };
  const bundle_id = await toBundleId(nodeCrypto, manifest);
  const root_hash = await toRootHash(nodeCrypto, artifacts);
  writeFileSync(join(folder, "bundle.json"), toCanonicalFile({ ...manifest, bundle_id, hashes: { root_hash } }));
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

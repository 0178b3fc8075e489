import { hash } from "node:crypto";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeCrypto } from "../src/adapters/crypto/node-crypto.ts";
import { compareCodePoints, type JsonObject, sortedUnique, toCanonicalFile } from "../src/core/canonical/index.ts";
import { toArtifactId, toBundleId, toPlanHash, toRootHash } from "../src/rooms/jobs/bundle/bundle-hash.ts";
import { seededIntegers, seededWords } from "./seed.ts";

/** A bundle of so many seeded artifacts in a new temporary folder, and the paths of its files. */
export async function writeBundle(
  count: number,
  sizeOf: (next: (bound: number) => number) => number,
): Promise<{ readonly folder: string; readonly paths: readonly string[] }> {
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
  return { folder, paths: ["bundle.json", ...artifacts.map(({ path }) => path)].map((path) => join(folder, path)) };
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

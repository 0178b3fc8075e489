import { formatCanonical, type JsonObject } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Crypto } from "../../../core/ports.ts";
import { refOf, sliceOf, toPairKey } from "./bundle-checks.ts";
import type { BundleFiles } from "./bundle-files.ts";
import { loadManifest, verifyBundle } from "./bundle-verify.ts";
import type { LooseManifest, ManifestMode } from "./manifest.ts";

/** What a replay gives: a receipt for every step, and a hash over all of them. */
export interface Replay {
  /** Receipts as canonical JSON Lines. */
  readonly jsonl: string;
  readonly replay_hash: string;
  readonly exit: 0 | 1;
}

/**
 * Runs a bundle again, offline: verifies it, then makes a receipt for every step out of its artifact. A bundle that
 * does not verify is REPLAY_BUNDLE_INVALID and gives nothing.
 */
export async function replayBundle(crypto: Crypto, files: BundleFiles, mode: ManifestMode): Promise<Replay> {
  const report = await verifyBundle(crypto, files, { mode });
  const loaded = report.ok ? await loadManifest(files, mode) : null;
  if (loaded === null || "problems" in loaded) {
    throw new VerbatimError("REPLAY_BUNDLE_INVALID", {
      message: `the bundle does not verify: ${report.problems.map(({ code }) => code).join(", ")}`,
      exit: report.exit_code,
      details: { exit: report.exit_code, problems: report.problems },
    });
  }
  const { manifest } = loaded;
  const artifacts = new Map(manifest.artifacts.map((one) => [toPairKey(one.ref, one.slice), one]));
  let jsonl = "";
  let exit: 0 | 1 = 0;
  for (const step of manifest.steps) {
    const artifact = artifacts.get(toPairKey(refOf(step), sliceOf(step)));
    jsonl += `${formatCanonical(toReceipt(manifest.run_id, step, artifact))}\n`;
    if (artifact === undefined) {
      exit = 1;
      break;
    }
  }
  return { jsonl, replay_hash: await crypto.sha256(jsonl), exit };
}

type Step = LooseManifest["steps"][number];
type Artifact = LooseManifest["artifacts"][number];

function toReceipt(run_id: string, step: Step, artifact: Artifact | undefined): JsonObject {
  const ref = refOf(step);
  const base = { run_id, step_id: step.step_id };
  if (artifact === undefined) {
    const result = { code: "REPLAY_ARTIFACT_MISSING" };
    return {
      ...base,
      expanded: [],
      actions: [{ type: "READ", target: ref, status: "FAILURE", result }],
      outputs: {},
      status: "FAILURE",
    };
  }
  const { artifact_id, bytes, path, sha256, slice } = artifact;
  return {
    ...base,
    expanded: [{ symbol_or_section_id: ref, slice, content_hash: sha256 }],
    actions: [{ type: "READ", target: ref, status: "SUCCESS", result: { artifact_id, bytes, payload_ref: path } }],
    outputs: toOutputs(step, sha256),
    status: "SUCCESS",
  };
}

function toOutputs(step: Step, sha256: string): JsonObject {
  const expected = (step["expected_outputs"] ?? {}) as JsonObject;
  const outputs = Object.create(null) as JsonObject;
  for (const [name, value] of Object.entries(expected)) {
    if (value === "content_hash") outputs[name] = `sha256:${sha256}`;
  }
  return outputs;
}

import { formatCanonical, isJsonObject, type JsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { refOf, sliceOf, toPairKey } from "./bundle-checks.ts";
import type { BundleFiles } from "./bundle-files.ts";
import type { BundleProblem } from "./bundle-problem.ts";
import { loadManifest } from "./bundle-verify.ts";
import type { LooseManifest } from "./manifest.ts";

/** A bundle as a person looks at it. */
export function describeBundle(manifest: LooseManifest) {
  const { bundle_id, run_id, job_id, message_id, plan_hash, hashes, inputs, provenance } = manifest;
  const artifacts = new Map(manifest.artifacts.map((one) => [toPairKey(one.ref, one.slice), one]));
  return {
    bundle_id,
    run_id,
    job_id,
    message_id,
    plan_hash,
    root_hash: hashes.root_hash,
    steps: manifest.steps.map((step) => {
      const artifact = artifacts.get(toPairKey(refOf(step), sliceOf(step)));
      return {
        ordinal: Number(step.ordinal),
        op: step.op,
        ref: refOf(step),
        slice: sliceOf(step),
        artifact_id: artifact?.artifact_id ?? null,
        bytes: artifact === undefined ? null : Number(artifact.bytes),
      };
    }),
    inputs: { symbols: inputs.symbols, files: inputs.files, slices: inputs.slices },
    provenance: provenance as Record<string, unknown>,
  };
}

/** Loads a manifest leniently, or BUNDLE_INVALID with every problem. */
export async function requireManifest(files: BundleFiles, label: string): Promise<LooseManifest> {
  const loaded = await loadManifest(files, "default");
  if ("problems" in loaded) throw invalidBundle(label, loaded.problems);
  return loaded.manifest;
}

export function invalidBundle(label: string, problems: readonly BundleProblem[]): VerbatimError {
  return new VerbatimError("BUNDLE_INVALID", {
    message: `${label} cannot be loaded as a bundle: ${problems.map(({ code }) => code).join(", ")}`,
    where: label,
    details: { problems },
  });
}

interface BundleDiff {
  readonly equal: boolean;
  readonly fields: readonly { readonly pointer: string; readonly a: unknown; readonly b: unknown }[];
  readonly steps: Changes;
  readonly artifacts: Changes;
}

interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

const SCALARS = ["bundle_version", "bundle_id", "run_id", "job_id", "message_id", "plan_hash"] as const;

/** What two manifests say differently: plain fields, steps by id, artifacts by id, provenance. */
export function diffManifests(a: LooseManifest, b: LooseManifest): BundleDiff {
  const pairs: [string, JsonValue, JsonValue][] = SCALARS.map((name) => [`/${name}`, a[name], b[name]]);
  pairs.push(["/hashes/root_hash", a.hashes.root_hash, b.hashes.root_hash], ["/inputs", a.inputs, b.inputs]);
  pairs.push(["/provenance", a.provenance, b.provenance]);
  const fields = pairs
    .filter(([, x, y]) => formatCanonical(x) !== formatCanonical(y))
    .map(([pointer, x, y]) => ({ pointer, a: x, b: y }));
  const steps = compareById(a.steps, b.steps, "step_id");
  const artifacts = compareById(a.artifacts, b.artifacts, "artifact_id");
  const equal =
    fields.length === 0 && isEmpty(steps) && isEmpty(artifacts) && formatCanonical(a) === formatCanonical(b);
  return { equal, fields, steps, artifacts };
}

function compareById(a: readonly JsonObject[], b: readonly JsonObject[], key: string): Changes {
  const left = new Map(a.map((one) => [String(one[key]), one]));
  const right = new Map(b.map((one) => [String(one[key]), one]));
  return {
    added: [...right.keys()].filter((id) => !left.has(id)),
    removed: [...left.keys()].filter((id) => !right.has(id)),
    changed: [...left].flatMap(([id, one]) => {
      const other = right.get(id);
      return other !== undefined && isJsonObject(other) && formatCanonical(other) !== formatCanonical(one) ? [id] : [];
    }),
  };
}

function isEmpty({ added, removed, changed }: Changes): boolean {
  return added.length + removed.length + changed.length === 0;
}

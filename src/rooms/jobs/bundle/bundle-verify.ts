import { type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { FINDINGS, type Finding, isVerbatimError } from "../../../core/errors/index.ts";
import type { Crypto } from "../../../core/ports.ts";
import { evaluateBundleTrust, readAttestation, type TrustPolicy, type TrustResult } from "../../../core/trust/index.ts";
import { checkBundle } from "./bundle-checks.ts";
import type { BundleFiles } from "./bundle-files.ts";
import type { BundleProblem } from "./bundle-problem.ts";
import { checkManifest, type LooseManifest, type ManifestMode } from "./manifest.ts";

const MAX_MANIFEST = 64 * 1024 * 1024;

/** What verification says, in the form of `--json`. */
export interface BundleReport {
  readonly ok: boolean;
  /** Bundle Protocol 9: 0 passed, 1 failed, 2 invalid input. */
  readonly exit_code: 0 | 1 | 2;
  readonly mode: ManifestMode;
  readonly bundle_id: string | null;
  readonly root_hash: string | null;
  readonly computed: {
    readonly bundle_id: string | null;
    readonly root_hash: string | null;
    readonly plan_hash: string | null;
  };
  readonly counts: { readonly steps: number; readonly artifacts: number; readonly bytes: number };
  readonly problems: readonly BundleProblem[];
  readonly trust: Pick<TrustResult, "verdict" | "code" | "valid_keys" | "threshold">;
  readonly proves: readonly string[];
  readonly does_not_prove: readonly string[];
}

interface VerifyOptions {
  readonly mode: ManifestMode;
  /** The bytes of an attestation, if there is one. */
  readonly attestation?: Uint8Array | null;
  /** Whose signatures count; without one nobody's are checked. */
  readonly policy?: TrustPolicy | null;
}

/** A manifest that was read and has the shape of one, or the problems that ended it. */
type Loaded =
  | { readonly manifest: LooseManifest; readonly bytes: Uint8Array }
  | { readonly problems: readonly BundleProblem[] };

/**
 * Verifies a bundle: reads the manifest, checks its shape, then everything it claims. Needs nothing but the files, so
 * it runs the same in a browser. Only defects throw; whatever a bundle contains ends in a report.
 */
export async function verifyBundle(crypto: Crypto, files: BundleFiles, options: VerifyOptions): Promise<BundleReport> {
  const { mode, attestation = null, policy = null } = options;
  const loaded = await loadManifest(files, mode);
  if ("problems" in loaded) return toInvalidReport(mode, loaded.problems);
  const { manifest, bytes } = loaded;
  const checked = await checkBundle({ crypto, files, manifest, bytes, strict: mode === "strict" });
  const trust = await evaluateBundleTrust(crypto, policy, readAttestation(attestation), bytes);
  const ok = checked.problems.length === 0 && trust.exit === 0;
  return {
    ok,
    exit_code: ok ? 0 : 1,
    mode,
    bundle_id: manifest.bundle_id,
    root_hash: manifest.hashes.root_hash,
    computed: checked.computed,
    counts: { steps: manifest.steps.length, artifacts: manifest.artifacts.length, bytes: checked.bytes },
    problems: checked.problems,
    trust: toTrust(trust),
    ...sayWhatItProves(checked.problems.length === 0, mode, trust),
  };
}

/** Phases A and B. */
export async function loadManifest(files: BundleFiles, mode: ManifestMode): Promise<Loaded> {
  const read = await files.readManifest(MAX_MANIFEST);
  if ("problem" in read) return { problems: [toProblem(READ_CODES[read.problem])] };
  let manifest: JsonValue;
  try {
    manifest = parseJson(read.bytes, { file: "bundle.json" });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const message = `${FINDINGS.jobs.MANIFEST_JSON} ${thrown.where ?? ""}: ${thrown.message}`;
    return { problems: [{ code: "MANIFEST_JSON", pointer: "", message, json_code: thrown.code }] };
  }
  const problems = checkManifest(manifest, mode) as readonly BundleProblem[];
  if (problems.length > 0) return { problems };
  return { manifest: manifest as LooseManifest, bytes: read.bytes };
}

const READ_CODES = {
  missing: "MANIFEST_MISSING",
  "not-regular": "MANIFEST_NOT_REGULAR",
  unreadable: "MANIFEST_UNREADABLE",
  "too-large": "MANIFEST_TOO_LARGE",
} as const;

export function toProblem(code: Finding<"jobs">): BundleProblem {
  return { code, pointer: "", message: FINDINGS.jobs[code] };
}

/** A report about something that is not a bundle: exit 2, nothing judged. */
export function toInvalidReport(mode: ManifestMode, problems: readonly BundleProblem[]): BundleReport {
  return {
    ok: false,
    exit_code: 2,
    mode,
    bundle_id: null,
    root_hash: null,
    computed: { bundle_id: null, root_hash: null, plan_hash: null },
    counts: { steps: 0, artifacts: 0, bytes: 0 },
    problems,
    trust: { verdict: "UNSIGNED", code: null, valid_keys: [], threshold: null },
    proves: [],
    does_not_prove: ["anything: this is not a bundle"],
  };
}

function toTrust({ verdict, code, valid_keys, threshold }: TrustResult): BundleReport["trust"] {
  return { verdict, code, valid_keys, threshold };
}

/** Clear words: integrity is one thing, who made it is another, and truth is neither. */
function sayWhatItProves(
  intact: boolean,
  mode: ManifestMode,
  trust: TrustResult,
): Pick<BundleReport, "proves" | "does_not_prove"> {
  const proves: string[] = [];
  if (intact) {
    proves.push("these files are exactly the ones this manifest lists, and the manifest matches its own bundle_id");
    proves.push("every artifact is bounded and belongs to a step");
    if (mode === "strict") proves.push("every step has its artifact, and nothing else is in the folder");
  }
  if (trust.verdict === "TRUSTED" && intact)
    proves.push(`the holders of the keys ${trust.valid_keys.join(", ")} vouch for this bundle`);
  const missing =
    trust.verdict === "TRUSTED"
      ? ["that the text is true or current"]
      : [
          trust.verdict === "UNCHECKED"
            ? "who made it: there is an attestation, but no signature was checked (use a trust policy)"
            : "who made it: anyone can edit a bundle and compute new ids",
          "that the text came from any particular repository, or is current",
          "that the job ran, or that nothing else was shown to the agent",
        ];
  return { proves, does_not_prove: missing };
}

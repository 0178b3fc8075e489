import type { ArtifactFiles } from "../record/artifact-files.ts";
import type { Proof } from "../record/proof.ts";
import type { Trees } from "../tree/tree.ts";
import type { Findings, VerifyOptions, VerifyResult } from "./verify.ts";

/** Layer E: whether the outputs and the domains are still what the proof says. */
export async function checkTree(
  proof: Proof,
  artifacts: ArtifactFiles,
  trees: Trees | null,
  options: VerifyOptions,
  errors: Findings,
  warnings: Findings,
): Promise<VerifyResult["tree"]> {
  if (options.tree === "skip") return "skipped";
  const now = await options.tree();
  if (now === null) return "unavailable";
  let drifted = false;
  const hashes = artifacts.object("OUTPUT_HASHES.json") ?? {};
  for (const path of Object.keys(hashes)) {
    const hash = now.outputs.get(path) ?? null;
    if (hash === hashes[path]) continue;
    drifted = true;
    if (hash === null) errors.path("OUTPUT_MISSING", path, "the output is no longer there");
    else errors.path("OUTPUT_CHANGED", path, `stated ${String(hashes[path])}, now ${hash}`);
  }
  for (const domain of proof.catalytic_domains) {
    if (now.domains.get(domain)?.isSame(trees?.get(domain) ?? new Map()) === true) continue;
    drifted = true;
    (options.strict_tree ? errors : warnings).path("DOMAIN_DRIFTED", domain, "the domain was used again after the run");
  }
  return drifted ? "drifted" : "matches";
}

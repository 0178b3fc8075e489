import { isJsonObject } from "../../core/canonical/index.ts";
import { diffTree } from "./diff.ts";
import type { Proof } from "./proof.ts";
import { readTrees } from "./tree.ts";
import type { Artifacts, Findings, VerifyOptions, VerifyResult } from "./verify.ts";

/** Layer E: whether the outputs and the domains are still what the proof says. */
export function checkTree(
  proof: Proof,
  artifacts: Artifacts,
  options: VerifyOptions,
  errors: Findings,
  warnings: Findings,
): VerifyResult["tree"] {
  if (options.tree === "skip") return "skipped";
  const now = options.tree(proof, artifacts.get("OUTPUTS.json") ?? []);
  if (now === null) return "unavailable";
  let drifted = false;
  const hashes = artifacts.get("OUTPUT_HASHES.json");
  if (isJsonObject(hashes)) {
    for (const path of Object.keys(hashes)) {
      const hash = now.outputs.get(path) ?? null;
      if (hash === hashes[path]) continue;
      drifted = true;
      if (hash === null) errors.path("OUTPUT_MISSING", path, "the output is no longer there");
      else errors.path("OUTPUT_CHANGED", path, `stated ${String(hashes[path])}, now ${hash}`);
    }
  }
  const trees = readTrees(artifacts.get("POST_TREE.json"));
  for (const domain of proof.catalytic_domains) {
    const tree = now.domains.get(domain) ?? new Map();
    const { added, removed, changed } = diffTree(trees?.get(domain) ?? new Map(), tree);
    if (added.size + removed.size + changed.size === 0) continue;
    drifted = true;
    (options.strict_tree ? errors : warnings).path("DOMAIN_DRIFTED", domain, "the domain was used again after the run");
  }
  return drifted ? "drifted" : "matches";
}

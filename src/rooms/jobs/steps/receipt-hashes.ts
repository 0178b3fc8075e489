import { toPointer } from "../../../core/contracts/index.ts";
import type { Receipt } from "../contracts/receipt-shape.ts";

const RESULT_HASHES = ["patch_sha256", "proof_hash"] as const;

/**
 * Pointers of payloads and outputs that name a content the receipt knows nothing of: a payload is what was expanded
 * for its target, an output is something that was read, written or proved.
 */
export function findForeignHashes({ expanded, actions, outputs }: Receipt): string[] {
  const payloads = actions.flatMap(({ target, result }, i) => {
    const reads = expanded.filter(({ symbol_or_section_id: id }) => id === target);
    const ref = result["payload_ref"];
    const isKnown = ref === undefined || reads.some(({ content_hash }) => ref === `sha256:${content_hash}`);
    return isKnown ? [] : [`/actions/${i}/result/payload_ref`];
  });
  const hashes: readonly unknown[] = [
    ...expanded.map(({ content_hash }) => content_hash),
    ...actions.flatMap(({ result }) => RESULT_HASHES.map((name) => result[name])),
  ];
  const known = new Set(hashes.map((hash) => `sha256:${String(hash)}`));
  const foreign = Object.keys(outputs).filter((name) => !known.has(outputs[name]!));
  return [...payloads, ...foreign.map((name) => toPointer("/outputs", name))];
}

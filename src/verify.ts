/**
 * Verifying bundles with nothing but their bytes. No Node module is imported, so a page can use it as it is: drop a
 * folder on it, and the check runs in the browser with WebCrypto.
 *
 * @packageDocumentation
 */

import { webCrypto } from "./app/compose/web-crypto.ts";
import { parseJson } from "./core/canonical/index.ts";
import { parsePolicy } from "./core/trust/index.ts";
import {
  type BundleReport,
  type MemoryTree,
  openMemoryBundle,
  type Replay,
  replayBundle,
  verifyBundle,
} from "./rooms/jobs/index.ts";

export type { BundleProblem, BundleReport, MemoryTree, Replay } from "./rooms/jobs/index.ts";

/** How a bundle in memory is verified. */
export interface VerifyFilesOptions {
  /** Also check what the protocol implies but does not list. */
  readonly strict?: boolean;
  /** Bytes of `<bundle>.dsse.json`. */
  readonly attestation?: Uint8Array;
  /** Bytes of a trust policy: whose signatures count. */
  readonly policy?: Uint8Array;
}

/**
 * Verifies a bundle in memory; `files` maps `bundle.json` and `artifacts/...` to their bytes.
 *
 * @example
 * const files = new Map([["bundle.json", new TextEncoder().encode("{}")]]);
 * const report = await verifyBundleFiles({ files });
 * report.ok; // => false
 */
export async function verifyBundleFiles(tree: MemoryTree, options: VerifyFilesOptions = {}): Promise<BundleReport> {
  const policy = options.policy === undefined ? null : await parsePolicy(webCrypto, parseJson(options.policy));
  return verifyBundle(webCrypto, openMemoryBundle(webCrypto, tree), {
    mode: options.strict === true ? "strict" : "default",
    attestation: options.attestation ?? null,
    policy,
  });
}

/**
 * Replays a bundle in memory: the receipts of its steps as canonical JSON Lines.
 *
 * @example
 * declare const files: ReadonlyMap<string, Uint8Array>;
 * const { jsonl, replay_hash } = await replayBundleFiles({ files });
 */
export function replayBundleFiles(tree: MemoryTree, options: { readonly strict?: boolean } = {}): Promise<Replay> {
  return replayBundle(webCrypto, openMemoryBundle(webCrypto, tree), options.strict === true ? "strict" : "default");
}

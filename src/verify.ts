/**
 * Verifying bundles, entries and proofs of a ledger with nothing but their bytes. No Node module is imported, so a page can
 * use it as it is: drop a folder on it, and the check runs in the browser with WebCrypto.
 *
 * @packageDocumentation
 */

import { webCrypto } from "./app/compose/web-crypto.ts";
import { type JsonValue, parseJson } from "./core/canonical/index.ts";
import {
  CHECKPOINT_PAYLOAD_TYPE,
  type Checkpoint,
  type ConsistencyProof,
  verifyConsistency as checkConsistency,
  verifyInclusion as checkInclusion,
  formatEntry,
  type InclusionProof,
  type InclusionRung,
  parseCheckpoint,
  parseEntry,
  StreamVerifier,
  sealEntry,
  traceInclusion as trace,
} from "./core/ledger/index.ts";
import { evaluateTrust, openEnvelopeFile, parsePolicy, type TrustResult } from "./core/trust/index.ts";
import {
  type BundleReport,
  type MemoryTree,
  openMemoryBundle,
  type Replay,
  replayBundle,
  verifyBundle,
} from "./rooms/jobs/index.ts";

export type { Checkpoint, ConsistencyProof, InclusionProof, InclusionRung } from "./core/ledger/index.ts";
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

/**
 * SHA-256 of bytes, or of a text as UTF-8: 64 hex digits.
 *
 * @example
 * const hash = await sha256("lamp");
 * hash.length; // => 64
 */
export async function sha256(data: Uint8Array | string): Promise<string> {
  return webCrypto.sha256(data);
}

/** What an entry says its hashes are, and what they come to when they are computed again. */
export interface EntryCheck {
  readonly stream: string;
  readonly position: number;
  readonly claimed: { readonly body_hash: string; readonly hash: string };
  readonly computed: { readonly body_hash: string; readonly hash: string };
  /** The line is canonical, and both hashes are the ones it claims. */
  readonly ok: boolean;
}

/**
 * Computes the hashes of an entry again, from its line as `ledger export` writes it.
 *
 * @example
 * declare const line: string;
 * const { ok, computed } = await hashEntry(line);
 */
export async function hashEntry(line: string): Promise<EntryCheck> {
  const entry = parseEntry(parseJson(line));
  const { body_hash, hash } = await sealEntry(webCrypto, { ...entry, body_text: entry.body });
  const ok = body_hash === entry.body_hash && hash === entry.hash && formatEntry(entry) === line;
  const { stream, position } = entry;
  return {
    stream,
    position,
    claimed: { body_hash: entry.body_hash, hash: entry.hash },
    computed: { body_hash, hash },
    ok,
  };
}

/**
 * Whether an entry is in the ledger that has this root.
 *
 * @example
 * declare const proof: InclusionProof;
 * const isInside = await verifyInclusion(proof);
 */
export async function verifyInclusion(proof: InclusionProof): Promise<boolean> {
  return checkInclusion(webCrypto, proof);
}

/**
 * Whether the second ledger is the first one grown.
 *
 * @example
 * declare const proof: ConsistencyProof;
 * const hasOnlyGrown = await verifyConsistency(proof);
 */
export async function verifyConsistency(proof: ConsistencyProof): Promise<boolean> {
  return checkConsistency(webCrypto, proof);
}

/**
 * The way from an entry to the root, one row a level, computed here; null where the path does not fit the tree.
 *
 * @example
 * declare const proof: InclusionProof;
 * const way = await traceInclusion(proof);
 * const isRoot = way?.root === proof.root_hash;
 */
export function traceInclusion(
  proof: InclusionProof,
): Promise<{ readonly leaf: string; readonly rungs: readonly InclusionRung[]; readonly root: string } | null> {
  return trace(webCrypto, proof);
}

/** What is wrong with a chain of entries first, or nothing; and the receipts in it. */
export interface ChainCheck {
  readonly ok: boolean;
  readonly entries: number;
  /** Hash of every receipt in its order: that of the body of its entry. */
  readonly receipts: readonly { readonly position: number; readonly receipt_hash: string }[];
  readonly problem: {
    readonly code: string;
    readonly position: number;
    readonly expected: string;
    readonly actual: string;
  } | null;
}

/**
 * Verifies the chain of a job: all lines of its stream from the first one on, as `ledger export --stream` writes them.
 *
 * @example
 * declare const lines: readonly string[];
 * const { ok, receipts } = await verifyReceiptChain("job/job_0123456789abcdef", lines);
 */
export async function verifyReceiptChain(stream: string, lines: readonly string[]): Promise<ChainCheck> {
  const verifier = new StreamVerifier(webCrypto, stream);
  const entries: JsonValue[] = lines.map((line) => parseJson(line));
  const found = await verifier.acceptExported(entries);
  const receipts = entries.flatMap((one) => {
    const { kind, position, body_hash } = one as Readonly<Record<string, unknown>>;
    return kind === "RECEIPT" ? [{ position: Number(position), receipt_hash: String(body_hash) }] : [];
  });
  const problem =
    found === null
      ? null
      : { code: found.code, position: found.position, expected: found.expected, actual: found.actual };
  return { ok: problem === null, entries: lines.length, receipts, problem };
}

/**
 * Opens a signed checkpoint, given as the bytes of its file; with a policy it also says whose signatures count.
 *
 * @example
 * declare const file: Uint8Array;
 * const { checkpoint, trust } = await openCheckpoint(file);
 */
export async function openCheckpoint(
  file: Uint8Array,
  policy?: Uint8Array,
): Promise<{ readonly checkpoint: Checkpoint; readonly trust: Pick<TrustResult, "verdict" | "code" | "valid_keys"> }> {
  const opened = openEnvelopeFile(file);
  const checkpoint = parseCheckpoint(opened.payload);
  const rules = policy === undefined ? null : await parsePolicy(webCrypto, parseJson(policy));
  const { verdict, code, valid_keys } = await evaluateTrust(webCrypto, rules, "CHECKPOINT", opened);
  if (opened.envelope.payloadType !== CHECKPOINT_PAYLOAD_TYPE)
    return { checkpoint, trust: { verdict: "UNTRUSTED", code: "ATTESTATION_TYPE", valid_keys: [] } };
  return { checkpoint, trust: { verdict, code, valid_keys } };
}

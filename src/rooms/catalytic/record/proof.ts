import { encodeUtf8, formatCanonical, hashCanonical } from "../../../core/canonical/index.ts";
import type { GuardClass, GuardName, GuardRequest, RestoreMethod } from "../../../core/contracts/guards.ts";
import type { Awaitable, Crypto, SyncCrypto } from "../../../core/ports.ts";
import type { NetworkMode } from "../contracts/constants.ts";
import type { Mismatch } from "../tree/diff.ts";
import type { DomainState } from "../tree/tree.ts";
import type { CommandResult, Condition, Violation } from "../verify/verdict.ts";

/** Which guard a run had and what it can do. */
export interface GuardRecord {
  readonly name: GuardName;
  readonly class: GuardClass;
  readonly requested: GuardRequest;
  readonly network: NetworkMode;
  readonly restore_method: RestoreMethod;
  readonly blocks: readonly string[];
  readonly detects: readonly string[];
  readonly tripwire: {
    readonly scope: "full" | "forbidden";
    readonly entries: number;
    readonly noise?: readonly string[];
    readonly stat_only_roots?: readonly string[];
  };
  readonly launcher?: string;
}

export interface MemoRecord {
  readonly hit: true;
  readonly key: string;
  readonly source_run_id: string;
  readonly source_proof_hash: string;
}

/** PROOF.json (CMP-01, Phase 5), before its own hash is added. */
export interface ProofBody {
  readonly proof_version: "cmp01-proof-1";
  readonly run_id: string;
  readonly job_id: string;
  readonly timestamp: string;
  readonly catalytic_domains: readonly string[];
  readonly pre_state: Readonly<Record<string, DomainState>>;
  readonly post_state: Readonly<Record<string, DomainState>>;
  readonly artifacts: Readonly<Record<string, string>>;
  readonly validator: { readonly validator_semver: string; readonly validator_build_id: string };
  readonly guard: GuardRecord;
  readonly command_result: CommandResult;
  readonly violations: readonly Violation[];
  readonly outputs_root: string;
  readonly memo: MemoRecord | null;
  readonly recovered: boolean;
  readonly restoration_result: {
    readonly verified: boolean;
    readonly domains_identical: boolean;
    readonly condition: Condition;
    readonly mismatch_count: number;
    readonly mismatches: readonly Mismatch[];
  };
  readonly previous_proof_hash: string | null;
}

/** PROOF.json: what a run declared, did and left, sealed by its own hash. */
export type Proof = ProofBody & { readonly proof_hash: string };

/** How many mismatches a proof lists; it counts all of them. */
export const LISTED_MISMATCHES = 100;

/**
 * `sha(canon(PROOF without proof_hash))`.
 *
 * @example
 * proofHash(nodeCrypto, { a: 1, proof_hash: "of no account" }) === proofHash(nodeCrypto, { a: 1 }); // => true
 */
export function proofHash(crypto: SyncCrypto, proof: object): string;
export function proofHash(crypto: Crypto, proof: object): Awaitable<string>;
export function proofHash(crypto: Crypto, proof: object): Awaitable<string> {
  const { proof_hash: _, ...body } = proof as { readonly proof_hash?: unknown };
  return hashCanonical(crypto, body);
}

/** The complete proof and the bytes of its file. */
export function sealProof(crypto: SyncCrypto, body: ProofBody): { readonly proof: Proof; readonly bytes: Uint8Array } {
  const proof = { ...body, proof_hash: proofHash(crypto, body) };
  return { proof, bytes: encodeUtf8(`${formatCanonical(proof)}\n`) };
}

import { hashCanonical } from "../../../core/canonical/index.ts";
import type { GuardClass } from "../../../core/contracts/guards.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { JobSpec } from "../declare/jobspec.ts";
import type { OutputItem } from "../outputs/outputs.ts";

/** Everything that decides what a deterministic job gives. */
export interface MemoParts {
  /** Normalised. */
  readonly jobspec: JobSpec;
  /** Domain -> tree root before the run. */
  readonly domain_roots: Readonly<Record<string, string>>;
  readonly input_roots: Readonly<Record<string, string>>;
  /** The effective environment; only its hash is part of the key. */
  readonly env: Readonly<Record<string, string>>;
  readonly executable_sha256: string;
  readonly guard_class: GuardClass;
  readonly platform: string;
  readonly validator: { readonly validator_semver: string; readonly validator_build_id: string };
  readonly policy_sha256: string;
}

/** What a run leaves for later runs with the same key. */
export interface MemoEntry {
  readonly key: string;
  readonly outputs: readonly OutputItem[];
  readonly exit_code: number;
  readonly source_run_id: string;
  readonly source_proof_hash: string;
  readonly entry_hash: string;
}

const NOT_IN_KEY = ["run_id", "intent", "metadata", "guard", "memo", "timeout_ms", "previous_proof_hash", "skill"];

/**
 * The key under which the outputs of a run are remembered (CMP-01, Phase 1.5).
 *
 * @example
 * declare const parts: Parameters<typeof memoKey>[1];
 * const key = memoKey(nodeCrypto, parts);
 */
export function memoKey(crypto: SyncCrypto, parts: MemoParts): string {
  const { env, ...rest } = parts;
  return memoKeyOf(crypto, { ...rest, env_sha256: hashCanonical(crypto, env) });
}

/** The same for an environment that is known by its hash. */
export function memoKeyOf(crypto: SyncCrypto, parts: Omit<MemoParts, "env"> & { readonly env_sha256: string }): string {
  const { jobspec, domain_roots, input_roots, env_sha256, executable_sha256 } = parts;
  const { guard_class, platform, validator, policy_sha256 } = parts;
  const relevant = Object.fromEntries(Object.entries(jobspec).filter(([name]) => !NOT_IN_KEY.includes(name)));
  return hashCanonical(crypto, {
    memo_version: "cmp01-memo-1",
    jobspec: relevant,
    domain_roots,
    input_roots,
    env_sha256,
    executable_sha256,
    guard_class,
    platform,
    validator,
    policy_sha256,
  });
}

/** `entry_hash` of a memo entry: everything else in it. */
export function memoEntryHash(crypto: SyncCrypto, entry: Omit<MemoEntry, "entry_hash">): string {
  const { key, outputs, exit_code, source_run_id, source_proof_hash } = entry;
  return hashCanonical(crypto, { key, outputs, exit_code, source_run_id, source_proof_hash });
}

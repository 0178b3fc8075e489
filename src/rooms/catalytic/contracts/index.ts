import { z } from "zod";
import { GUARD_REQUESTS } from "../../../core/contracts/guards.ts";
import {
  type DerivedCheck,
  defineContract,
  hashHex,
  hasItsBodyHash,
  hasItsHash,
  toPointer,
} from "../../../core/contracts/index.ts";
import { FINDINGS, type Finding } from "../../../core/errors/index.ts";
import type { Crypto } from "../../../core/ports.ts";
import { parseJobSpec } from "../declare/jobspec.ts";
import { type Proof, proofHash } from "../record/proof.ts";
import { DETERMINISMS, EMPTY_ROOT } from "./constants.ts";
import {
  commandResult,
  conditions,
  domainDiff,
  entry,
  exitCode,
  guard,
  jobId,
  manifest,
  mismatch,
  network,
  output,
  path,
  runId,
  runInfo,
  size,
  state,
  time,
  tree,
  violation,
} from "./parts.ts";
import { PIECES } from "./pieces.ts";

/** What follows from the other fields of a value whose shape is right. */
function derived<T>(
  code: Finding<"catalytic">,
  pointer: string,
  holds: (value: T, crypto: Crypto) => Promise<boolean>,
): DerivedCheck<T> {
  const run = async (value: T, crypto: Crypto) => ((await holds(value, crypto)) ? [] : [pointer]);
  return { code, summary: FINDINGS.catalytic[code], run };
}

const jobspecSchema = z.strictObject({
  schema_version: z.literal("cmp01-jobspec-1"),
  run_id: runId,
  job_id: jobId,
  intent: z.string().min(1).max(500),
  determinism: z.enum(DETERMINISMS),
  catalytic_domains: z.array(z.string()).min(1).max(64),
  durable_output_roots: z.array(z.string()).max(64),
  outputs: z.strictObject({ durable_paths: z.array(z.string()).max(1024) }),
  command: z.array(z.string()).min(1).max(4096),
  cwd: z.string().optional(),
  env: z
    .strictObject({
      allow: z.array(z.string().regex(/^(?!VERBATIM_)[A-Za-z_][A-Za-z0-9_]*$/)).optional(),
      set: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  inputs: z.array(z.string()).max(1024).optional(),
  timeout_ms: z.int().min(1).max(86_400_000).optional(),
  expected_exit_codes: z.array(z.int().min(0).max(255)).min(1).max(256).optional(),
  guard: z.enum(GUARD_REQUESTS).optional(),
  network: network.optional(),
  memo: z.boolean().optional(),
  strict_mtime: z.boolean().optional(),
  view: z.boolean().optional(),
  skill: z
    .strictObject({
      path: z.string().optional(),
      declaration: z.enum(["read_only", "catalytic", "writer"]),
      manifest_sha256: hashHex.optional(),
    })
    .nullable()
    .optional(),
  previous_proof_hash: hashHex.nullable().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/** Phase 0 of CMP-01: what a run declares. */
const JOBSPEC = defineContract({
  room: "catalytic",
  name: "jobspec",
  title: "JobSpec",
  summary: "What a catalytic run declares before anything happens: domains, outputs, command, guard.",
  schema: jobspecSchema,
  customCheck: {
    codes: { JOBSPEC_INVALID: "A field of the JobSpec is not valid." },
    check: (value) =>
      parseJobSpec(value).errors.map(({ code, pointer }) => ({ code, pointer, message: "is not valid" })),
  },
});

const statusSchema = z.strictObject({
  schema_version: z.literal("cmp01-status-1"),
  run_id: runId,
  status: z.enum(["declared", "snapshotted", "executing", "sealed", "restored", "succeeded", "failed", "halted"]),
  phase: z.int().min(0).max(5),
  restoration_verified: z.boolean(),
  exit_code: exitCode,
  validation_passed: z.boolean(),
  condition: conditions.nullable(),
  codes: z.array(z.string()),
  message: z.string(),
  next_step: z.string(),
  updated_at: time,
});

/** STATUS.json: the state machine of a run. */
export const STATUS = defineContract({
  room: "catalytic",
  name: "status",
  title: "Run status",
  summary: "The state of a catalytic run: its phase, its verdict, and what to do next.",
  schema: statusSchema,
});

/** POLICY.json: the roots a run is judged by. */
export const POLICY = defineContract({
  room: "catalytic",
  name: "policy",
  title: "Effective policy",
  summary: "The roots a catalytic run was judged by, normalised and sorted.",
  schema: z.strictObject({
    schema_version: z.literal("cmp01-policy-1"),
    profile: z.enum(["standard", "cmp-01"]),
    runs_root: path,
    durable_roots: z.array(path),
    catalytic_roots: z.array(path),
    forbidden_roots: z.array(path),
  }),
});

/** One entry of a tree. */
const ENTRY = defineContract({
  room: "catalytic",
  name: "entry",
  title: "Tree entry",
  summary: "What is at one path of a domain: a file, a folder or a link.",
  schema: entry,
});

/** PRE_TREE.json and POST_TREE.json. */
const TREES = defineContract({
  room: "catalytic",
  name: "trees",
  title: "Domain trees",
  summary: "Every path of every domain, with type, mode, size, hash and links.",
  schema: z.record(path, tree),
});

/** PRE_MANIFEST.json and POST_MANIFEST.json. */
const MANIFESTS = defineContract({
  room: "catalytic",
  name: "manifests",
  title: "Content manifests",
  summary: "Domain to path to SHA-256 of the regular files (CMP-01, Phase 1).",
  schema: z.record(path, manifest),
});

/** RESTORE_DIFF.json. */
const RESTORE_DIFF = defineContract({
  room: "catalytic",
  name: "restore-diff",
  title: "Restore difference",
  summary: "What differs between the trees before and after; empty for a restored run.",
  schema: z.record(path, domainDiff),
});

/** OUTPUTS.json. */
export const OUTPUTS = defineContract({
  room: "catalytic",
  name: "outputs",
  title: "Durable outputs",
  summary: "Every declared output of a run and everything in it.",
  schema: z.array(output),
});

/** VALIDATOR_ID.json. */
const VALIDATOR_ID = defineContract({
  room: "catalytic",
  name: "validator-id",
  title: "Validator",
  summary: "Which build of the tool judged a run.",
  schema: z.strictObject({
    validator_semver: z.string().regex(/^[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?$/),
    validator_build_id: z.string().regex(/^sha256:[0-9a-f]{64}$/),
    rules: z.literal("cmp01-1"),
    runtime: z.string().min(1),
    platform: z.string().min(1),
  }),
});

/** The closing line of LEDGER.jsonl: the envelope and the six fields CMP-01 requires. */
const LEDGER = defineContract({
  room: "catalytic",
  name: "ledger",
  title: "Run ledger",
  summary: "The closing RUN entry of LEDGER.jsonl with the six fields of CMP-01.",
  media: "jsonl",
  schema: z.strictObject({
    stream: z.string().regex(/^catalytic\/[a-z0-9][a-z0-9_-]{0,63}$/),
    position: size,
    previous: hashHex,
    kind: z.literal("RUN"),
    time,
    actor: z.string().min(1),
    body: z.strictObject({
      RUN_INFO: runInfo,
      PRE_MANIFEST: z.record(path, manifest),
      POST_MANIFEST: z.record(path, manifest),
      RESTORE_DIFF: z.record(path, domainDiff),
      OUTPUTS: z.array(output),
      STATUS: statusSchema,
    }),
    body_hash: hashHex,
    hash: hashHex,
  }),
  derived: [
    derived("LEDGER_CHAIN_BROKEN", "/body_hash", hasItsBodyHash),
    derived("LEDGER_CHAIN_BROKEN", "/hash", hasItsHash),
  ],
});

/** PROOF.json. */
export const PROOF = defineContract({
  room: "catalytic",
  name: "proof",
  title: "Restoration proof",
  summary: "The proof of a catalytic run, written last; it binds every artifact by hash.",
  schema: z.strictObject({
    proof_version: z.literal("cmp01-proof-1"),
    run_id: runId,
    job_id: jobId,
    timestamp: time,
    catalytic_domains: z.array(path),
    pre_state: z.record(path, state),
    post_state: z.record(path, state),
    artifacts: z.record(path, hashHex),
    validator: z.strictObject({ validator_semver: z.string(), validator_build_id: z.string() }),
    guard,
    command_result: commandResult,
    violations: z.array(violation),
    outputs_root: hashHex,
    memo: z
      .strictObject({ hit: z.literal(true), key: hashHex, source_run_id: runId, source_proof_hash: hashHex })
      .nullable(),
    recovered: z.boolean(),
    restoration_result: z.strictObject({
      verified: z.boolean(),
      domains_identical: z.boolean(),
      condition: conditions,
      mismatch_count: size,
      mismatches: z.array(mismatch).max(100),
    }),
    previous_proof_hash: hashHex.nullable(),
    proof_hash: hashHex,
  }),
  derived: [
    derived("PROOF_HASH_MISMATCH", "/proof_hash", async (proof: Proof, crypto) => {
      return (await proofHash(crypto, proof)) === proof.proof_hash;
    }),
    { code: "ROOT_MISMATCH", summary: FINDINGS.catalytic.ROOT_MISMATCH, run: findWrongRoots },
  ],
});

/** A domain without entries has the roots of nothing; what a domain with entries has follows from its tree. */
function findWrongRoots(proof: Proof): string[] {
  return (["pre_state", "post_state"] as const).flatMap((moment) =>
    Object.entries(proof[moment]).flatMap(([domain, { entries, ...roots }]) =>
      (["content_root", "tree_root"] as const)
        .filter((root) => entries === 0 && roots[root] !== EMPTY_ROOT)
        .map((root) => toPointer(toPointer(`/${moment}`, domain), root)),
    ),
  );
}

/** Every contract object of the room. */
export const CATALYTIC_CONTRACTS = [
  JOBSPEC,
  STATUS,
  POLICY,
  ENTRY,
  TREES,
  MANIFESTS,
  RESTORE_DIFF,
  OUTPUTS,
  LEDGER,
  VALIDATOR_ID,
  PROOF,
  PIECES,
] as const;

import { z } from "zod";
import { hashHex } from "../../../core/contracts/index.ts";
import { type BodyOf, defineRecords, type RecordOf } from "../../../core/contracts/records.ts";
import { commandResult, exitCode, guard, jobId, runId, size, violation } from "./parts.ts";

const errors = z.array(z.strictObject({ code: z.string(), pointer: z.string() }));
const paths = z.array(z.string());
// A miss may say its reason; a hit says which run it repeats.
const memo = z.strictObject({
  key: hashHex.optional(),
  reason: z.string().optional(),
  source_run_id: z.string().optional(),
  source_proof_hash: hashHex.optional(),
});
const condition = z.string().nullable();

const BODIES = {
  // In the order of a run; VIOLATION and RESTORED may come several times.
  DECLARED: z.strictObject({ jobspec_sha256: hashHex, policy_sha256: hashHex }),
  GUARD_SELECTED: guard,
  SNAPSHOT: z.strictObject({ pre_tree_sha256: hashHex }),
  REFUSED: z.strictObject({ code: z.string(), path: z.string() }),
  MEMO_HIT: memo,
  MEMO_MISS: memo,
  EXEC_STARTED: z.strictObject({ command_sha256: hashHex, env_sha256: hashHex }),
  EXEC_ENDED: commandResult,
  VIOLATION: violation,
  OUTPUTS_SEALED: z.strictObject({ outputs_root: hashHex, count: size }),
  RESTORED: z.strictObject({ attempt: size, method: z.string() }),
  COMPARED: z.strictObject({ domains_identical: z.boolean(), condition, post_tree_sha256: hashHex }),
  PUBLISHED: z.strictObject({ paths, removed: paths.optional() }),
  QUARANTINED: z.strictObject({ paths }),
  RECOVERED: z.strictObject({ condition, domains_identical: z.boolean() }),
  // The closing entry repeats whole artifacts, and is compared with them instead (`formatClosing`).
  RUN: z.looseObject({}),
  // What people decide about a halted run.
  HALT_ACCEPTED: z.strictObject({ by: z.string(), reason: z.string() }),
  HALT_RESOLVED: z.strictObject({ domains: paths }),
  // What never became a run with a proof.
  REJECTED: z.strictObject({ run_id: z.union([runId, z.string()]), job_id: z.union([jobId, z.string()]), errors }),
  SKILL_RUN: z.strictObject({
    skill: z.string(),
    mode: z.string(),
    manifest_sha256: hashHex.nullable(),
    run_id: runId,
    guard: z.string(),
    exit_code: exitCode,
    violations: z.array(violation),
  }),
} as const;

/** The records of the catalytic room: of a run, in its LEDGER.jsonl and its stream, and of what is not a run. */
export const CATALYTIC_RECORDS = defineRecords(BODIES);
type CatalyticRecord = RecordOf<typeof BODIES>;
export type CatalyticRecordKind = CatalyticRecord["kind"];
export type NewCatalyticRecord<K extends CatalyticRecordKind> = BodyOf<typeof BODIES, K>;

import {
  type JsonObject,
  type JsonValue,
  sortedUnique,
  toCanonicalFile,
  toJson,
} from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { ContentStore, SyncCrypto } from "../../../core/ports.ts";
import { BUNDLE_VERSION } from "../contracts/manifest-shape.ts";
import { JOB_RECORDS } from "../contracts/records.ts";
import type { JobRow, JobsReader, JobsStore, ReceiptRow, StepRow } from "../ports.ts";
import { type BundleSink, type FinishedStep, writeArtifacts } from "./bundle-artifacts.ts";
import { toBundleId, toPlanHash, toRootHash } from "./bundle-hash.ts";

export interface BundleBuildPorts {
  readonly store: JobsStore;
  readonly content: ContentStore;
  readonly crypto: SyncCrypto;
}

export interface BundleBuildOptions {
  /** Leave out WRITE and EXECUTE steps and refer to their receipts. */
  readonly reads_only: boolean;
  readonly with_receipts: boolean;
  /** Key id of whoever will sign; part of the bundle. */
  readonly signer: string | null;
}

interface BuiltBundle {
  readonly bundle_id: string;
  readonly root_hash: string;
  readonly job_id: string;
  readonly artifacts: number;
  readonly bytes: number;
  /** The bytes of bundle.json. */
  readonly manifest: Uint8Array;
}

interface FinishedJob {
  readonly job: JobRow;
  readonly reads: readonly FinishedStep[];
  readonly others: readonly FinishedStep[];
}

/**
 * Writes the bundle of a finished job into a sink. Contents come from the payloads that the receipts name, checked by
 * their hashes; the live tree is never read. Same job and options, same bytes. Few artifacts are in memory at a time.
 */
export async function writeBundle(
  ports: BundleBuildPorts,
  jobId: string,
  options: BundleBuildOptions,
  sink: BundleSink,
): Promise<BuiltBundle> {
  const finished = await ports.store.read(({ jobs }) => loadFinishedJob(jobs, jobId, options));
  const artifacts = await writeArtifacts(ports, finished.reads, sink);
  const { run_id, message_id } = finished.job;
  const steps = finished.reads.map(({ row }) => toJson(row.step));
  const root_hash = await toRootHash(ports.crypto, artifacts);
  const draft: JsonObject = {
    bundle_version: BUNDLE_VERSION,
    bundle_id: "",
    run_id,
    job_id: jobId,
    message_id,
    plan_hash: toPlanHash(ports.crypto, run_id, steps),
    steps,
    inputs: toInputs(finished.reads),
    artifacts,
    hashes: { root_hash: "" },
    provenance: toProvenance(finished, options),
  };
  const bundle_id = await toBundleId(ports.crypto, draft);
  const manifest = toCanonicalFile({ ...draft, bundle_id, hashes: { root_hash } });
  await sink.write("bundle.json", manifest);
  const bytes = artifacts.reduce((sum, one) => sum + one.bytes, 0);
  return { bundle_id, root_hash, job_id: jobId, artifacts: artifacts.length, bytes, manifest };
}

/** The completeness gate (Bundle Protocol 5), then what may be bundled at all. */
async function loadFinishedJob(jobs: JobsReader, jobId: string, options: BundleBuildOptions): Promise<FinishedJob> {
  const job = await jobs.job(jobId);
  if (job === null)
    throw new VerbatimError("JOB_UNKNOWN", { message: `there is no job ${jobId}`, details: { job_id: jobId } });
  const rows = await jobs.steps(jobId);
  const receipts = await jobs.receipts(jobId);
  checkComplete(job, rows, receipts);
  const byStep = new Map(receipts.map((one) => [one.step_id, one]));
  const all = rows.map((row) => ({ row, receipt: byStep.get(row.step.step_id)! }));
  const isRead = ({ row }: FinishedStep) => row.step.op === "READ_SYMBOL" || row.step.op === "READ_SECTION";
  const reads = all.filter(isRead);
  const others = all.filter((one) => !isRead(one));
  if (others.length > 0 && !options.reads_only) {
    const listed = others.map(({ row }) => ({ ordinal: row.step.ordinal, op: row.step.op }));
    const names = listed.map(({ ordinal, op }) => `step ${ordinal} (${op})`).join(", ");
    throw new VerbatimError("BUNDLE_HAS_OTHER_STEPS", {
      message: `the job has steps that cannot go into a bundle: ${names}`,
      details: { steps: listed },
    });
  }
  if (reads.length === 0) throw new VerbatimError("BUNDLE_NO_READ_STEPS");
  return { job, reads, others };
}

function checkComplete(job: JobRow, rows: readonly StepRow[], receipts: readonly ReceiptRow[]): void {
  const steps = rows.flatMap(({ step, status }) => {
    const own = receipts.filter(({ step_id }) => step_id === step.step_id);
    const good = status === "COMMITTED" && own.length === 1 && own[0]!.receipt.status === "SUCCESS";
    return good ? [] : [{ ordinal: step.ordinal, step_id: step.step_id, status, receipts: own.length }];
  });
  const made = new Set(receipts.flatMap(({ receipt }) => Object.keys(receipt.outputs)));
  const outputs_missing = job.message.required_outputs.filter((name) => !made.has(name));
  if (steps.length === 0 && outputs_missing.length === 0 && rows.length > 0) return;
  const list = steps.map(
    ({ ordinal, status, receipts: count }) => `step ${ordinal} is ${status} with ${count} receipts`,
  );
  throw new VerbatimError("BUNDLE_JOB_INCOMPLETE", {
    message: [...list, ...outputs_missing.map((name) => `the output ${name} is missing`)].join("; "),
    details: { steps, outputs_missing },
  });
}

function toInputs(reads: readonly FinishedStep[]): JsonObject {
  const expanded = reads.map(({ receipt }) => receipt.receipt.expanded[0]!);
  return {
    symbols: sortedUnique(expanded.map((one) => one.symbol_or_section_id).filter((ref) => ref.startsWith("@"))),
    files: sortedUnique(reads.map(({ row }) => row.resolved.file_path)),
    slices: sortedUnique(expanded.map(({ slice }) => slice)),
  };
}

/** Nothing unless asked for, and nothing that depends on time or machine. */
function toProvenance({ reads, others }: FinishedJob, options: BundleBuildOptions): JsonObject {
  const refer = (steps: readonly FinishedStep[]): JsonValue =>
    steps.map(({ row: { step }, receipt: { receipt_hash } }) => ({
      step_id: step.step_id,
      ordinal: step.ordinal,
      op: step.op,
      receipt_hash,
    }));
  return {
    ...(options.with_receipts ? { receipts: refer(reads) } : {}),
    ...(others.length > 0 ? { omitted_steps: refer(others) } : {}),
    ...(options.signer === null ? {} : { signer: { key_id: options.signer } }),
  };
}

/** The ledger entry of a build. */
export function toBuiltEntry({ bundle_id, job_id, root_hash }: BuiltBundle, actor: string) {
  return JOB_RECORDS.make("BUNDLE_BUILT", actor, { bundle_id, job_id, root_hash });
}

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { decodeUtf8, type JsonObject, type JsonValue, toJson } from "../../core/canonical/index.ts";
import { given } from "../../core/conformance-input.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import { buildIndex, type SymbolRecord } from "../../rooms/context/index.ts";
import {
  type BundleBuildOptions,
  type BundleBuildPorts,
  type JobPorts,
  type PlanProblem,
  planMessage,
  postMessage,
  runJob,
  toMessage,
  writeBundle,
} from "../../rooms/jobs/index.ts";
import type { AreaFunction, AreaPorts } from "./ports.ts";

/** The area of the jobs room that needs a whole workspace: files, an index, symbols and a store. */
export const JOBS_ROOM_AREAS: Readonly<Record<string, AreaFunction>> = {
  "jobs.job": (input, area) =>
    withWorkspace(area, input, async (ports) => {
      const { message, run_id } = input as { message: JsonValue; run_id: string };
      try {
        return await playJob(ports, message, run_id);
      } catch (thrown) {
        const refusals = ["MESSAGE_INVALID", "MESSAGE_UNRESOLVED"];
        if (!isVerbatimError(thrown) || !refusals.includes(thrown.code)) throw thrown;
        const problems = thrown.details?.["problems"] as readonly PlanProblem[];
        return { refused: problems.map(({ code, pointer }) => [code, pointer]) };
      }
    }),
};

const BUNDLE_REFUSALS = [
  "BUNDLE_JOB_INCOMPLETE",
  "BUNDLE_HAS_OTHER_STEPS",
  "BUNDLE_NO_READ_STEPS",
  "BUNDLE_ARTIFACT_ID_COLLISION",
  "BUNDLE_CONTENT_CONFLICT",
];

/** Posts, runs and bundles one message; its job may fail. */
async function playJob(ports: JobPorts, value: JsonValue, run_id: string): Promise<JsonValue> {
  const planned = await planMessage(ports, toMessage(value), run_id);
  const { job } = await postMessage(ports, value, run_id);
  await allow(["JOB_FAILED"], () => runJob(ports, job.job_id, { workers: 1 }));
  const { rows, receipts } = await ports.store.read(async ({ jobs }) => ({
    rows: await jobs.steps(job.job_id),
    receipts: await jobs.receipts(job.job_id),
  }));
  const options = { reads_only: false, with_receipts: false, signer: null };
  const built = await allow(BUNDLE_REFUSALS, () => buildBundleFiles(ports, job.job_id, options));
  const answer = {
    message_id: job.message_id,
    job_id: job.job_id,
    plan_hash: job.plan_hash,
    steps: rows.map(({ step }) => step),
    budget: planned.budget,
    step_status: rows.map(({ status }) => status),
    receipts: receipts.map(({ receipt }) => receipt),
    receipt_hashes: receipts.map(({ receipt_hash }) => receipt_hash),
    ...("refused" in built ? { bundle_error: built.refused } : { bundle: toBundle(built.value) }),
  };
  return toJson(answer);
}

/** The bundle of a job in memory. */
async function buildBundleFiles(ports: BundleBuildPorts, jobId: string, options: BundleBuildOptions) {
  const files = new Map<string, Uint8Array>();
  const sink = { write: async (path: string, bytes: Uint8Array) => void files.set(path, bytes) };
  const { bundle_id, root_hash } = await writeBundle(ports, jobId, options, sink);
  return { files, bundle_id, root_hash };
}

function toBundle({ files, bundle_id, root_hash }: Awaited<ReturnType<typeof buildBundleFiles>>): JsonObject {
  const texts = [...files].map(([path, bytes]) => [path, decodeUtf8(bytes)] as const);
  return { files: Object.fromEntries(texts), bundle_id, root_hash };
}

/** The value of `fn`, or which of these codes it was refused with. */
async function allow<T>(codes: readonly string[], fn: () => Promise<T>): Promise<{ value: T } | { refused: string }> {
  try {
    return { value: await fn() };
  } catch (thrown) {
    if (!isVerbatimError(thrown) || !codes.includes(thrown.code)) throw thrown;
    return { refused: thrown.code };
  }
}

/** A workspace of a vector's files with its index and symbols; gone afterwards. */
async function withWorkspace(
  area: AreaPorts,
  input: JsonObject,
  run: (ports: JobPorts) => Promise<JsonValue>,
): Promise<JsonValue> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-vector-")));
  const env = { XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder };
  const root = join(folder, "workspace");
  const files = { ...(input["files"] as JsonObject), "verbatim.config.json": '{"context":{"sources":["**/*"]}}' };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), String(text));
  }
  const workspace = area.openWorkspace(root, env);
  try {
    const ports = await workspace.context();
    await buildIndex(ports, { full: false });
    await ports.store.transact(async (tx) => {
      for (const symbol of input["symbols"] as readonly JsonValue[]) {
        await tx.context.putSymbol({ symbol: given<SymbolRecord>(symbol), last: null });
      }
    });
    return await run(await workspace.jobs());
  } finally {
    await workspace.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

import type { JsonObject, JsonValue } from "../../../core/canonical/index.ts";
import { toJson } from "../../../core/canonical/index.ts";
import {
  type DerivedCheck,
  defineContract,
  type NamedCheck,
  readInteger,
  readItems,
  readMember,
  readText,
} from "../../../core/contracts/index.ts";
import { FINDINGS, type Finding } from "../../../core/errors/index.ts";
import type { Crypto } from "../../../core/ports.ts";
import { toArtifactId, toBundleId, toPlanHash, toRootHash } from "../bundle/bundle-hash.ts";
import { toArtifactPath } from "../bundle/bundle-paths.ts";
import { checkManifest } from "../bundle/manifest.ts";
import { toStepId } from "../message/ids.ts";
import { checkMessage } from "../message/message.ts";
import { findForeignHashes } from "../steps/receipt-hashes.ts";
import {
  type Artifact,
  artifactSchema,
  type BundleManifest,
  FORBIDDEN_FIELDS,
  manifestSchema,
  statementSchema,
} from "./manifest-shape.ts";
import { messageSchema } from "./message-shape.ts";
import { receiptSchema } from "./receipt-shape.ts";
import { type Plan, planSchema, stepSchema } from "./step-shape.ts";

export type { Artifact, BundleManifest, BundleStep, Statement } from "./manifest-shape.ts";
export type { Message, MessageOp } from "./message-shape.ts";
export type { Receipt } from "./receipt-shape.ts";
export type { Plan, Step } from "./step-shape.ts";

/** Catalytic Chat Contract, Message. */
const MESSAGE = defineContract({
  room: "jobs",
  name: "message",
  title: "Message",
  summary: "A request for bounded work: what to read, write or execute, within which budgets, for which outputs.",
  schema: messageSchema,
  customCheck: { codes: pick(/^MESSAGE_|^SLICE_/), check: checkMessage },
});

const STEP = defineContract({
  room: "jobs",
  name: "step",
  title: "Step",
  summary: "One planned operation of a job with everything it means pinned: the slice, the patch or the JobSpec.",
  schema: stepSchema,
});

/** The body of the ledger entry PLAN. */
const PLAN = defineContract({
  room: "jobs",
  name: "plan",
  title: "Plan",
  summary: "The steps of a job in order, and what each was resolved to when the plan was made.",
  schema: planSchema,
  checks: [
    named("PLAN_STEPS_NOT_ORDERED", (plan) =>
      readItems(plan, "steps").flatMap((step, index) => {
        const ordinal = readInteger(step, "ordinal");
        return ordinal === null || ordinal === index + 1 ? [] : [`/steps/${index}/ordinal`];
      }),
    ),
    named("PLAN_RESOLVED_MISMATCH", findUnresolved),
  ],
  derived: [
    derived("STEP_ID_MISMATCH", async (plan: Plan, crypto) => {
      const toId = async (ordinal: number) => toStepId(crypto, plan.run_id, plan.job_id, ordinal);
      const ids = await Promise.all(plan.steps.map(({ ordinal }) => toId(ordinal)));
      return plan.steps.flatMap(({ step_id }, i) => (step_id === ids[i] ? [] : [`/steps/${i}/step_id`]));
    }),
    derived("PLAN_HASH_MISMATCH", findWrongPlanHash),
  ],
});

async function findWrongPlanHash(
  { plan_hash, run_id, steps }: Pick<Plan, "plan_hash" | "run_id"> & { readonly steps: readonly object[] },
  crypto: Crypto,
): Promise<string[]> {
  return (await toPlanHash(crypto, run_id, steps as readonly JsonObject[])) === plan_hash ? [] : ["/plan_hash"];
}

/** Each step is resolved at its place, and exactly the READ steps have content. */
function findUnresolved(plan: JsonValue): string[] {
  if (!Array.isArray(readMember(plan, "steps")) || !Array.isArray(readMember(plan, "resolved"))) return [];
  const steps = readItems(plan, "steps");
  const resolved = readItems(plan, "resolved");
  if (steps.length !== resolved.length) return ["/resolved"];
  return steps.flatMap((step, index) => {
    const op = readText(step, "op");
    const one = resolved[index]!;
    const hasContent = ["bytes", "content_hash"].map((member) => readMember(one, member) !== undefined);
    const isRead = op?.startsWith("READ_") ?? false;
    const fits =
      readInteger(one, "ordinal") === readInteger(step, "ordinal") && hasContent.every((has) => has === isRead);
    return op === null || fits ? [] : [`/resolved/${index}`];
  });
}

/** Catalytic Chat Contract, Receipt. */
const RECEIPT = defineContract({
  room: "jobs",
  name: "receipt",
  title: "Receipt",
  summary: "The immutable record of one executed step: what was expanded, what was done, with which outcome.",
  schema: receiptSchema,
  checks: [
    named("RECEIPT_STATUS_MISMATCH", (receipt) => {
      const status = readText(receipt, "status");
      const statuses = readItems(receipt, "actions").map((action) => readText(action, "status"));
      const fits = status === "FAILURE" ? statuses.includes("FAILURE") : !statuses.includes("FAILURE");
      return status === "PARTIAL" || status === null || statuses.includes(null) || fits ? [] : ["/status"];
    }),
  ],
  derived: [derived("RECEIPT_OUTPUT_MISMATCH", findForeignHashes)],
});

/** Bundle Protocol 2.2, in the form a build writes. */
const BUNDLE_MANIFEST = defineContract({
  room: "jobs",
  name: "bundle-manifest",
  title: "Bundle manifest",
  summary: "bundle.json: the steps of a finished job, the artifacts they read, and the hashes that bind them.",
  schema: manifestSchema,
  customCheck: { codes: pick(/^SCHEMA_/), check: (value) => checkManifest(value, "strict") },
  checks: [
    named("FORBIDDEN_FIELD", (manifest) =>
      FORBIDDEN_FIELDS.filter((name) => readMember(manifest, name) !== undefined).map((name) => `/${name}`),
    ),
  ],
  // Bundle Protocol 4. Ids of run, job, message and steps are whoever's made the bundle: nothing follows for them.
  derived: [
    derived("BUNDLE_ID_MISMATCH", async (manifest: BundleManifest, crypto) => {
      const id = await toBundleId(crypto, toJson(manifest));
      return id === manifest.bundle_id ? [] : ["/bundle_id"];
    }),
    derived("ROOT_HASH_MISMATCH", async ({ artifacts, hashes }: BundleManifest, crypto) =>
      (await toRootHash(crypto, artifacts)) === hashes.root_hash ? [] : ["/hashes/root_hash"],
    ),
    derived("PLAN_HASH_MISMATCH", findWrongPlanHash),
    derived("ARTIFACT_ID_MISMATCH", ({ artifacts }: BundleManifest, crypto) => findWrongIds(crypto, artifacts)),
    derived("ARTIFACT_PATH_NAME", ({ artifacts }: BundleManifest) => findWrongPaths(artifacts)),
  ],
});

async function findWrongIds(crypto: Crypto, artifacts: readonly Artifact[]): Promise<string[]> {
  const ids = await Promise.all(artifacts.map(({ ref, slice }) => toArtifactId(crypto, ref, slice)));
  return artifacts.flatMap(({ artifact_id }, i) => (artifact_id === ids[i] ? [] : [`/artifacts/${i}/artifact_id`]));
}

function findWrongPaths(artifacts: readonly Artifact[]): string[] {
  return artifacts.flatMap(({ artifact_id, path }, i) =>
    path === toArtifactPath(artifact_id) ? [] : [`/artifacts/${i}/path`],
  );
}

/** Bundle Protocol 2.4. */
const ARTIFACT = defineContract({
  room: "jobs",
  name: "artifact",
  title: "Bundle artifact",
  summary: "One file of a bundle: which slice of which symbol or section it holds, its hash and its size.",
  schema: artifactSchema,
  derived: [
    derived("ARTIFACT_ID_MISMATCH", async ({ artifact_id, ref, slice }: Artifact, crypto) =>
      (await toArtifactId(crypto, ref, slice)) === artifact_id ? [] : ["/artifact_id"],
    ),
    derived("ARTIFACT_PATH_NAME", ({ artifact_id, path }: Artifact) =>
      path === toArtifactPath(artifact_id) ? [] : ["/path"],
    ),
  ],
});

const ATTESTATION_STATEMENT = defineContract({
  room: "jobs",
  name: "attestation-statement",
  title: "Attestation statement",
  summary: "The in-toto Statement that signers of a bundle sign: the hash of bundle.json and its identity.",
  schema: statementSchema,
});

/** The contract objects of the room. */
export const JOBS_CONTRACTS = [MESSAGE, STEP, PLAN, RECEIPT, BUNDLE_MANIFEST, ARTIFACT, ATTESTATION_STATEMENT] as const;

function pick(pattern: RegExp): Record<string, string> {
  return Object.fromEntries(Object.entries(FINDINGS.jobs).filter(([code]) => pattern.test(code)));
}

function named(code: Finding<"jobs">, run: NamedCheck["run"]): NamedCheck {
  return { code, summary: FINDINGS.jobs[code], run };
}

/** What follows from the other fields of a value whose shape is right. */
function derived<T>(
  code: Finding<"jobs">,
  run: (value: T, crypto: Crypto) => ReturnType<DerivedCheck["run"]>,
): DerivedCheck<T> {
  return { code, summary: FINDINGS.jobs[code], run: (value, crypto) => run(value as T, crypto) };
}

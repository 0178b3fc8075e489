import type { JsonValue } from "../../core/canonical/index.ts";
import {
  defineContract,
  type NamedCheck,
  readInteger,
  readItems,
  readMember,
  readText,
} from "../../core/contracts/index.ts";
import { FINDINGS, type Finding } from "../../core/errors/index.ts";
import { checkManifest } from "./manifest.ts";
import { artifactSchema, FORBIDDEN_FIELDS, manifestSchema, statementSchema } from "./manifest-shape.ts";
import { checkMessage } from "./message.ts";
import { messageSchema } from "./message-shape.ts";
import { receiptSchema } from "./receipt-shape.ts";
import { planSchema, stepSchema } from "./step-shape.ts";

export type { Artifact, BundleManifest, BundleStep, Statement } from "./manifest-shape.ts";
export type { Message, MessageOp } from "./message-shape.ts";
export type { Receipt } from "./receipt-shape.ts";
export type { Plan, Step } from "./step-shape.ts";

/** Catalytic Chat Contract, Message. */
export const MESSAGE = defineContract({
  room: "jobs",
  name: "message",
  title: "Message",
  summary: "A request for bounded work: what to read, write or execute, within which budgets, for which outputs.",
  schema: messageSchema,
  own: { codes: pick(/^MESSAGE_|^SLICE_/), check: checkMessage },
});

export const STEP = defineContract({
  room: "jobs",
  name: "step",
  title: "Step",
  summary: "One planned operation of a job with everything it means pinned: the slice, the patch or the JobSpec.",
  schema: stepSchema,
});

/** The body of the ledger entry PLAN. Whether `plan_hash` is the hash of the steps is for the room to check. */
export const PLAN = defineContract({
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
});

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
export const RECEIPT = defineContract({
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
});

/** Bundle Protocol 2.2, in the form a build writes. */
export const BUNDLE_MANIFEST = defineContract({
  room: "jobs",
  name: "bundle-manifest",
  title: "Bundle manifest",
  summary: "bundle.json: the steps of a finished job, the artifacts they read, and the hashes that bind them.",
  schema: manifestSchema,
  own: { codes: pick(/^SCHEMA_/), check: (value) => checkManifest(value, "strict") },
  checks: [
    named("FORBIDDEN_FIELD", (manifest) =>
      FORBIDDEN_FIELDS.filter((name) => readMember(manifest, name) !== undefined).map((name) => `/${name}`),
    ),
  ],
});

/** Bundle Protocol 2.4. */
export const ARTIFACT = defineContract({
  room: "jobs",
  name: "artifact",
  title: "Bundle artifact",
  summary: "One file of a bundle: which slice of which symbol or section it holds, its hash and its size.",
  schema: artifactSchema,
});

export const ATTESTATION_STATEMENT = defineContract({
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

import { decodeUtf8 } from "../../../../core/canonical/index.ts";
import { CONTEXT_PACK_FILE, validateContextPack } from "../../artifacts/context-pack.ts";
import { FIND_WEB_FILE, validateFindWeb } from "../../artifacts/find-web.ts";
import { PLAN_DRAFT_FILE, PLAN_FILE, type Plan, validatePlan } from "../../artifacts/plan.ts";
import { REPORT_PATHS } from "../../artifacts/verify-report.ts";
import {
  EVIDENCE_FILES,
  type FixFacts,
  formatConstraints,
  formatContext,
  formatExternals,
  formatFixBrief,
} from "../../dispatch/evidence-pack.ts";
import { REVIEW_PATCH_FILE } from "../../patch/patch-review.ts";
import { readFailures } from "../gate/step-findings.ts";
import type { Run } from "../run.ts";
import { currentCandidate } from "./candidates.ts";

const decoder = new TextDecoder();

/** Rebuilds the four files of the evidence pack and returns their texts joined. */
export function writeEvidencePack(run: Run): string {
  const texts = buildEvidence(run);
  for (const [i, path] of EVIDENCE_FILES.entries()) {
    const old = run.read(path);
    if (old === null || decodeUtf8(old) !== texts[i]) run.folder.write(path, texts[i]!);
  }
  return texts.join("\n");
}

/** The texts of the evidence pack, in order, without writing them. */
export function buildEvidence(run: Run): string[] {
  const plan = readPlan(run);
  const pack = run.read(CONTEXT_PACK_FILE);
  const web = run.read(FIND_WEB_FILE);
  // What is not valid is asked for again by its own prompt; nobody is shown half of it.
  const found = web === null ? null : validateFindWeb(web, null).value;
  // Who hands out a value has checked it; its type knows no more than that it is JSON.
  const results = (found?.["results"] ?? []) as unknown as Parameters<typeof formatExternals>[0];
  return [
    formatContext(pack === null ? null : validateContextPack(pack).value),
    formatConstraints(run.limits(plan), run.state.policy, plan),
    formatFixBrief(readFixFacts(run)),
    formatExternals(results),
  ];
}

function readPlan(run: Run): Plan | null {
  const signed = run.read(PLAN_FILE);
  if (signed !== null) return validatePlan(signed, { kind: "signed", knownGates: null }).value;
  const draft = run.read(PLAN_DRAFT_FILE);
  return draft === null ? null : validatePlan(draft, { kind: "draft", knownGates: null }).value;
}

function readFixFacts(run: Run): FixFacts {
  const candidate = currentCandidate(run) ?? run.state.candidates.at(-1);
  const patch_sha256 = candidate?.sha256 ?? null;
  if (candidate?.state === "rejected") {
    const review = run.read(REVIEW_PATCH_FILE);
    const text = review === null ? "" : decoder.decode(review);
    return { label: "PATCH_REJECTED", patch_sha256, findings: [candidate.code ?? "PATCH_REJECTED"], log: text.trim() };
  }
  if (candidate?.state !== "verify_failed") {
    return { label: "FIRST_PATCH", patch_sha256: null, findings: [], log: "" };
  }
  const log = [REPORT_PATHS.stdout_log, REPORT_PATHS.stderr_log]
    .map((path) => tailOf(run.read(path)))
    .filter((text) => text !== "");
  const findings = readFailures(run).map(({ kind, id, message }) => `${kind} ${id}: ${message.split("\n")[0]}`);
  return { label: "VERIFY_FAILED", patch_sha256, findings, log: log.join("\n") };
}

function tailOf(bytes: Uint8Array | null): string {
  return bytes === null ? "" : decoder.decode(bytes).trimEnd().split("\n").slice(-40).join("\n");
}

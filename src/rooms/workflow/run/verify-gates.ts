import { checkBehaviors, isMarkedFile, pagePath } from "../artifacts/behaviors.ts";
import { EXPECTED_RESULTS_FILE, validateExpectedResults } from "../artifacts/expected-results.ts";
import { PLAN_FILE, type Plan } from "../artifacts/plan.ts";
import { checkPlan } from "../artifacts/plan-check.ts";
import { REASONS_FILE } from "../artifacts/reasons.ts";
import { VERIFY_REPORT_FILE, type VerifyFailure } from "../artifacts/verify-report.ts";
import { PATCH_FILE } from "../next-step.ts";
import type { GateSession, IsolatedCopy } from "../ports.ts";
import { judgeRunPatch } from "./gate-step.ts";
import type { Run } from "./run.ts";

const decoder = new TextDecoder();
const RUN_FOLDERS = ["artifacts", "reviews", "outbox", "logs"];
const RUN_FILES = ["TRACE.md", "events.jsonl"];

/** Runs a gate the product has itself, over the isolated copy with the patch applied. */
export async function runBuiltInGate(
  gate: "plan_check" | "patch_check" | "behavior_catalog_check",
  run: Run,
  plan: Plan,
  copy: IsolatedCopy,
  gates: GateSession,
): Promise<VerifyFailure[]> {
  switch (gate) {
    case "plan_check":
      return [...checkReferences(run), ...(await checkEvidence(run, gates))];
    case "patch_check": {
      const result = await judgeRunPatch(run, run.read(PATCH_FILE)!, plan);
      return result.verdict === "accept"
        ? []
        : [
            {
              kind: "patch_check",
              id: result.code,
              message: `${result.rule}${result.path === undefined ? "" : ` ${result.path}`}`,
            },
          ];
    }
    case "behavior_catalog_check":
      return await checkCatalog(run, copy);
  }
}

function checkReferences(run: Run): VerifyFailure[] {
  const errors = checkPlan({
    plan: run.read(PLAN_FILE)!,
    reasons: run.read(REASONS_FILE) ?? "",
    expectedResults: run.read(EXPECTED_RESULTS_FILE) ?? "",
    behaviorIds: run.behaviorIds(),
    context: { kind: "signed", knownGates: run.knownGates },
  });
  return errors.map(({ code, message }) => ({ kind: "plan_check", id: code, message }));
}

/** Every evidence path exists: run files under the run, everything else where the gate commands ran. */
async function checkEvidence(run: Run, gates: GateSession): Promise<VerifyFailure[]> {
  const results = validateExpectedResults(run.read(EXPECTED_RESULTS_FILE) ?? "").value ?? {};
  const failures: VerifyFailure[] = [];
  for (const [id, { evidence }] of Object.entries(results)) {
    for (const path of evidence) {
      if (await hasEvidence(run, gates, path)) continue;
      failures.push({ kind: "evidence_missing", id: "EVIDENCE_MISSING", message: `${id}: ${path} does not exist` });
    }
  }
  return failures;
}

async function hasEvidence(run: Run, gates: GateSession, path: string): Promise<boolean> {
  if (path === VERIFY_REPORT_FILE) return true;
  const own = RUN_FOLDERS.includes(path.split("/")[0]!) || RUN_FILES.includes(path);
  return own ? run.folder.size(path) !== null : gates.exists(path);
}

async function checkCatalog(run: Run, copy: IsolatedCopy): Promise<VerifyFailure[]> {
  const config = run.ports.config.behaviors;
  const readText = (path: string) => {
    const bytes = copy.read(path, config.max_file_bytes);
    return bytes === null || bytes.includes(0) ? null : decoder.decode(bytes);
  };
  const files = (await copy.files()).filter((path) => isMarkedFile(path, config));
  function* texts(): Iterable<readonly [string, string]> {
    for (const path of files) {
      const text = readText(path);
      if (text !== null) yield [path, text];
    }
  }
  const { errors } = checkBehaviors(
    { index: readText(config.index), page: (name) => readText(pagePath(config, name)), code: texts() },
    config,
  );
  return errors.map(({ code, message }) => ({ kind: "behavior_catalog", id: code, message }));
}

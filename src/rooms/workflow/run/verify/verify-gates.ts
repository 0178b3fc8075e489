import { checkBehaviors, isMarkedFile, pagePath } from "../../artifacts/behaviors.ts";
import { EXPECTED_RESULTS_FILE, validateExpectedResults } from "../../artifacts/expected-results.ts";
import { PLAN_FILE, type Plan } from "../../artifacts/plan.ts";
import { checkPlan } from "../../artifacts/plan-check.ts";
import { REASONS_FILE } from "../../artifacts/reasons.ts";
import { VERIFY_REPORT_FILE, type VerifyFailure } from "../../artifacts/verify-report.ts";
import { PATCH_FILE } from "../../dispatch/next-step.ts";
import type { IsolatedCopy } from "../../ports.ts";
import { judgeRunPatch } from "../gate/gate-step.ts";
import type { Run } from "../run.ts";

const decoder = new TextDecoder();
const RUN_FOLDERS = ["artifacts", "reviews", "outbox", "logs"];
const RUN_FILES = ["TRACE.md", "events.jsonl"];

/**
 * Runs a gate the product has itself, over the isolated copy with the patch applied. `present` says of the evidence of
 * the copy what is there where the commands ran.
 */
export async function runBuiltInGate(
  gate: "plan_check" | "patch_check" | "behavior_catalog_check",
  run: Run,
  plan: Plan,
  copy: IsolatedCopy,
  present: readonly boolean[],
): Promise<VerifyFailure[]> {
  switch (gate) {
    case "plan_check":
      return [...checkReferences(run), ...checkEvidence(run, present)];
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

/** What the plan and the artifacts it names do not agree about. */
export function checkReferences(run: Run): VerifyFailure[] {
  const errors = checkPlan({
    plan: run.read(PLAN_FILE)!,
    reasons: run.read(REASONS_FILE) ?? "",
    expectedResults: run.read(EXPECTED_RESULTS_FILE) ?? "",
    behaviorIds: run.behaviorIds(),
    context: { kind: "signed", knownGates: run.knownGates },
  });
  return errors.map(({ code, message }) => ({ kind: "plan_check", id: code, message }));
}

interface Evidence {
  /** The result that names it. */
  readonly id: string;
  readonly path: string;
}

function listEvidence(run: Run): Evidence[] {
  const results = validateExpectedResults(run.read(EXPECTED_RESULTS_FILE) ?? "").value ?? {};
  return Object.entries(results).flatMap(([id, { evidence }]) => evidence.map((path) => ({ id, path })));
}

/** Evidence that is looked for where the gate commands run, in order. */
export function listCopyEvidence(run: Run): Evidence[] {
  return listEvidence(run).filter(({ path }) => !isRunFile(path));
}

/** Every evidence path exists: run files under the run, everything else where the gate commands ran. */
function checkEvidence(run: Run, present: readonly boolean[]): VerifyFailure[] {
  let looked = 0;
  const isThere = (path: string) => {
    if (path === VERIFY_REPORT_FILE) return true;
    return isRunFile(path) ? run.folder.size(path) !== null : present[looked++] === true;
  };
  return listEvidence(run).flatMap(({ id, path }) =>
    isThere(path)
      ? []
      : [{ kind: "evidence_missing", id: "EVIDENCE_MISSING", message: `${id}: ${path} does not exist` } as const],
  );
}

function isRunFile(path: string): boolean {
  return RUN_FOLDERS.includes(path.split("/")[0]!) || RUN_FILES.includes(path);
}

async function checkCatalog(run: Run, copy: IsolatedCopy): Promise<VerifyFailure[]> {
  const config = run.ports.config.behaviors;
  const readText = (path: string) => {
    const bytes = copy.read(path, config.max_file_bytes);
    return bytes === null || bytes.includes(0) ? null : decoder.decode(bytes);
  };
  const files = copy.files().filter((path) => isMarkedFile(path, config));
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

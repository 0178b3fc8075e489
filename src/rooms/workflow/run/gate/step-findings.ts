import { type JsonObject, type JsonValue, parseObject } from "../../../../core/canonical/index.ts";
import { readItems, readMember, readText } from "../../../../core/contracts/index.ts";
import type { ArtifactFinding } from "../../artifacts/finding.ts";
import { VERIFY_REPORT_FILE, type VerifyFailure } from "../../artifacts/verify-report.ts";
import { type NextStep, PATCH_FILE } from "../../dispatch/next-step.ts";
import { adviseFor } from "../../patch/patch-review.ts";
import type { Run } from "../run.ts";
import { PATCH_GATE_FILE } from "./gate-record.ts";

/** What is wrong where a run stands: the findings of the step, or why the candidate was refused or failed. */
export function listFindings(run: Run, step: NextStep): ArtifactFinding[] {
  const last = step.state === "stopped" ? run.state.candidates.at(-1)?.state : null;
  if (step.code === "VERIFY_FAILED" || last === "verify_failed") return readFailures(run).map(toFinding);
  if (step.code === "PATCH_REJECTED" || last === "rejected") return listRejections(run);
  return [...step.findings];
}

/** The failures of the last verification; none when its report cannot be read. */
export function readFailures(run: Run): VerifyFailure[] {
  return readItems(readRunJson(run, VERIFY_REPORT_FILE), "failures").flatMap((failure) => {
    const [kind, id, message] = ["kind", "id", "message"].map((key) => readText(failure, key));
    return kind == null || id == null || message == null ? [] : [{ kind, id, message }];
  });
}

/** A JSON file of a run; null when it is missing or someone broke it, which its own validator reports. */
function readRunJson(run: Run, path: string): JsonObject | null {
  return parseObject(run.read(path));
}

function toFinding({ kind, id, message }: VerifyFailure): ArtifactFinding {
  const said = `${id}: ${message.split("\n")[0] ?? ""}`;
  return { code: kind, file: VERIFY_REPORT_FILE, line: null, message: said, fix: "See logs/verify.stderr.log." };
}

function listRejections(run: Run): ArtifactFinding[] {
  const result = readMember(readRunJson(run, PATCH_GATE_FILE) ?? undefined, "result");
  const line = readMember(result, "line");
  const listed = readItems(result, "findings");
  return (listed.length === 0 ? [result ?? null] : listed).map((one) =>
    toRejection(one, typeof line === "number" ? line : null),
  );
}

function toRejection(finding: JsonValue, line: number | null): ArtifactFinding {
  const rule = readText(finding, "rule") ?? "";
  const path = readText(finding, "path");
  const message = path === null ? rule : `${rule} ${path}`;
  return { code: readText(finding, "code") ?? "PATCH_REJECTED", file: PATCH_FILE, line, message, fix: adviseFor(rule) };
}

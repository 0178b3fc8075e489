import type { JsonValue } from "../../../core/canonical/index.ts";
import type { Verdict } from "./finding.ts";
import { FieldCheck, validateJson } from "./json.ts";

export const FILE_REQUEST_FILE = "artifacts/file_request.json";
export const FILE_REQUEST_VERSION = "ctcp-file-request-v1";

/** artifacts/file_request.json (Artifact Contracts B). The needs are judged one by one by the librarian. */
export interface FileRequest {
  readonly goal: string;
  readonly needs: readonly JsonValue[];
  readonly budget: { readonly max_files: number; readonly max_total_bytes: number };
  readonly reason: string;
}

/** The part of the guardrails that bounds a request. */
export interface ContextLimits {
  readonly max_files: number;
  readonly max_total_bytes: number;
}

const MOST_NEEDS = 10_000;

/** Judges the value of a file request; inside a run its budget stays below the guardrails. */
export function checkFileRequest(
  value: JsonValue,
  limits: ContextLimits | null,
  file = FILE_REQUEST_FILE,
): Verdict<FileRequest> {
  const check = new FieldCheck(file);
  const root = check.object(value, "");
  if (root === null) return check.verdict<FileRequest>(null);
  check.schemaVersion(root, FILE_REQUEST_VERSION);
  const goal = check.memberText(root, "", "goal", "not blank");
  const needs = check.memberArray(root, "", "needs");
  if (needs !== null && needs.length > MOST_NEEDS) {
    check.add("FIELD_VALUE", "/needs", `has ${needs.length} entries; the limit is ${MOST_NEEDS}`);
  }
  const budget = check.memberObject(root, "", "budget");
  const numbers =
    budget === null
      ? null
      : (["max_files", "max_total_bytes"] as const).map((key) => {
          const count = check.memberInteger(budget, "/budget", key, 1);
          if (count !== null && limits !== null && count > limits[key]) {
            check.add(
              "FILE_REQUEST_BUDGET_ABOVE_GUARDRAILS",
              `/budget/${key}`,
              `${count} is above the guardrails' limit ${limits[key]}`,
              {
                fix: `Ask for at most ${limits[key]}.`,
              },
            );
          }
          return count;
        });
  const reason = check.memberText(root, "", "reason", "not blank");
  const [max_files, max_total_bytes] = numbers ?? [];
  if (goal === null || needs === null || reason === null || max_files == null || max_total_bytes == null) {
    return check.verdict<FileRequest>(null);
  }
  return check.verdict({ goal, needs, budget: { max_files, max_total_bytes }, reason });
}

/**
 * Judges the bytes of a file request.
 *
 * @example
 * validateFileRequest("{}", null).errors[0]?.code; // => "FIELD_MISSING"
 */
export function validateFileRequest(
  bytes: Uint8Array | string,
  limits: ContextLimits | null,
  file = FILE_REQUEST_FILE,
): Verdict<FileRequest> {
  return validateJson(bytes, file, (value) => checkFileRequest(value, limits, file));
}

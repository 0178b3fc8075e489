import { isJsonObject, type JsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { isInteger } from "../../../core/contracts/index.ts";
import type { Verdict } from "./finding.ts";
import { FieldCheck, validateJson } from "./json.ts";

export const FIND_RESULT_FILE = "artifacts/find_result.json";
export const FIND_RESULT_VERSION = "ctcp-find-result-v1";

/** Judges the value of find_result.json (Artifact Contracts D): the selected workflow is one of the candidates. */
export function checkFindResult(value: JsonValue, file = FIND_RESULT_FILE): Verdict<JsonObject> {
  const check = new FieldCheck(file);
  const root = check.object(value, "");
  if (root === null) return check.verdict<JsonObject>(null);
  check.schemaVersion(root, FIND_RESULT_VERSION);
  const selected = check.memberText(root, "", "selected_workflow_id");
  check.memberText(root, "", "selected_version");
  const candidates = check.memberArray(root, "", "candidates");
  const ids = (candidates ?? []).map((row, i) => checkCandidate(row, `/candidates/${i}`, check));
  if (selected !== null && candidates !== null && !ids.includes(selected)) {
    check.add("FIELD_VALUE", "/selected_workflow_id", `${JSON.stringify(selected)} is not one of the candidates`);
  }
  return check.verdict(root);
}

function checkCandidate(value: JsonValue, at: string, check: FieldCheck): string | null {
  const row = check.object(value, at);
  if (row === null) return null;
  const id = check.memberText(row, at, "workflow_id");
  check.memberText(row, at, "version");
  const score = check.member(row, at, "score");
  const isNumber = typeof score === "number" || isInteger(score) || (score !== undefined && isFloat(score));
  if (score !== undefined && !isNumber) check.add("FIELD_TYPE", `${at}/score`, "must be a number");
  check.memberText(row, at, "why");
  return id;
}

function isFloat(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isJsonObject(value);
}

/**
 * Judges the bytes of find_result.json.
 *
 * @example
 * validateFindResult("{}").errors[0]?.code; // => "FIELD_MISSING"
 */
export function validateFindResult(bytes: Uint8Array | string, file = FIND_RESULT_FILE): Verdict<JsonObject> {
  return validateJson(bytes, file, (value) => checkFindResult(value, file));
}

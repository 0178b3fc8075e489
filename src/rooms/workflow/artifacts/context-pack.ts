import type { JsonObject, JsonValue } from "../../../core/canonical/index.ts";
import { LIBRARIAN_DENIED } from "../../../core/contracts/config/index.ts";
import { findPathProblem } from "../../../core/paths/index.ts";
import type { Verdict } from "./finding.ts";
import { FieldCheck, validateJson } from "./json.ts";

export const CONTEXT_PACK_FILE = "artifacts/context_pack.json";
export const CONTEXT_PACK_VERSION = "ctcp-context-pack-v1";

export const OMIT_REASONS = [
  "too_large",
  "denied",
  "irrelevant",
  "not_found",
  "invalid_request",
  "budget_exceeded",
] as const;
export type OmitReason = (typeof OMIT_REASONS)[number];

/** A component that some system takes for git's own folder. */
export const GIT_SEGMENT = /(?:^|\/)\.git(?:\/|$)/i;

export interface PackFile {
  readonly path: string;
  readonly why: string;
  readonly content: string;
  readonly truncated?: true;
}

export interface OmittedRow {
  readonly path: string;
  readonly reason: OmitReason;
  readonly detail: string;
}

/** artifacts/context_pack.json (Artifact Contracts C). */
export interface ContextPack {
  readonly schema_version: typeof CONTEXT_PACK_VERSION;
  readonly goal: string;
  readonly repo_slug: string;
  readonly summary: string;
  readonly files: readonly PackFile[];
  readonly omitted: readonly OmittedRow[];
}

/** Judges the value of a context pack. */
export function checkContextPack(value: JsonValue, file = CONTEXT_PACK_FILE): Verdict<ContextPack> {
  const check = new FieldCheck(file);
  const root = check.object(value, "");
  if (root === null) return check.verdict<ContextPack>(null);
  check.schemaVersion(root, CONTEXT_PACK_VERSION);
  for (const key of ["goal", "repo_slug", "summary"]) check.memberText(root, "", key);
  const seen = new Set<string>();
  for (const [i, row] of (check.memberArray(root, "", "files") ?? []).entries()) {
    checkFile(row, `/files/${i}`, seen, check);
  }
  for (const [i, row] of (check.memberArray(root, "", "omitted") ?? []).entries()) {
    const omitted = check.object(row, `/omitted/${i}`);
    if (omitted === null) continue;
    check.memberText(omitted, `/omitted/${i}`, "path");
    check.memberWord(omitted, `/omitted/${i}`, "reason", OMIT_REASONS);
    if (Object.hasOwn(omitted, "detail")) check.memberText(omitted, `/omitted/${i}`, "detail");
  }
  // A verdict hands its value out only where the checks above found nothing wrong.
  return check.verdict(root as unknown as ContextPack);
}

function checkFile(value: JsonValue, at: string, seen: Set<string>, check: FieldCheck): void {
  const row = check.object(value, at);
  if (row === null) return;
  const path = check.memberText(row, at, "path", "not blank");
  if (path !== null) checkPath(path, `${at}/path`, seen, check);
  check.memberText(row, at, "why", "not blank");
  check.memberText(row, at, "content");
  if (Object.hasOwn(row, "truncated") && row["truncated"] !== true) {
    check.add(typeof row["truncated"] === "boolean" ? "FIELD_VALUE" : "FIELD_TYPE", `${at}/truncated`, "must be true");
  }
}

/** Artifact Contracts B.1, B.2: every file is one of the repository that may be read, and is there once. */
function checkPath(path: string, at: string, seen: Set<string>, check: FieldCheck): void {
  const slash = path.indexOf("/");
  const first = slash === -1 ? path : path.slice(0, slash);
  const isDenied = LIBRARIAN_DENIED.some((name) => name === first) || GIT_SEGMENT.test(path);
  if (findPathProblem(path) !== null || /[\x01-\x1f\x7f]/.test(path))
    check.add("FIELD_VALUE", at, "must be a path inside the repository");
  else if (isDenied) check.add("FIELD_VALUE", at, "must not be in a place that is never read");
  else if (seen.has(path)) check.add("FIELD_VALUE", at, "appears twice");
  seen.add(path);
}

/**
 * Judges the bytes of a context pack.
 *
 * @example
 * validateContextPack("{}").errors[0]?.code; // => "FIELD_MISSING"
 */
export function validateContextPack(bytes: Uint8Array | string, file = CONTEXT_PACK_FILE): Verdict<ContextPack> {
  return validateJson(bytes, file, (value) => checkContextPack(value, file));
}

/** The first row in which two packs differ, as a pointer, or null: a delivered pack must be the local librarian's. */
export function findPackDifference(given: ContextPack, built: ContextPack): string | null {
  const lists = [
    ["files", given.files, built.files, ["path", "why", "content", "truncated"]],
    ["omitted", given.omitted, built.omitted, ["path", "reason", "detail"]],
  ] as const;
  for (const [name, a, b, keys] of lists) {
    for (let i = 0; i < Math.max(a.length, b.length); i++) {
      const [x, y] = [a[i] as JsonObject | undefined, b[i] as JsonObject | undefined];
      if (x === undefined || y === undefined) return `/${name}/${i}`;
      const key = keys.find((one) => x[one] !== y[one]);
      if (key !== undefined) return `/${name}/${i}/${key}`;
    }
  }
  return null;
}

import type { Scope } from "../artifacts/scope.ts";
import type { Platform } from "./patch-names.ts";
import { parsePatchInTurns } from "./patch-parser.ts";
import { findPolicyFindings, listPaths, type PatchPolicy, type PlanLimits } from "./patch-policy.ts";
import type { PatchOperation, PatchSection } from "./patch-section.ts";
import { PatchRefused, type PatchRejection } from "./rejection.ts";
import { runInTurns, runWhole, type Turns } from "./turns.ts";

/** What an accepted patch will do. */
interface PatchAcceptance {
  readonly verdict: "accept";
  /** Every path git will change, both sides of a rename. */
  readonly changed_paths: readonly string[];
  /** Sources of copies that are not changed. */
  readonly read_paths: readonly string[];
  readonly added_lines: number;
  readonly deleted_lines: number;
  readonly operations: readonly PatchOperation[];
}

/** The verdict on a patch: what it would change, or why it is rejected. */
export type PatchResult = PatchAcceptance | PatchRejection;

/** A patch and what it is judged by. */
export interface GateInput {
  readonly patch: Uint8Array;
  readonly policy: PatchPolicy;
  /** Null without a plan. */
  readonly scope: Scope | null;
  readonly planLimits: PlanLimits | null;
  readonly platform?: Platform;
}

/** A judged patch with its sections, which the git stage compares with what git says. */
interface JudgedPatch {
  readonly result: PatchResult;
  readonly sections: readonly PatchSection[];
}

/**
 * The patch gate without git: grammar, path rules, policy, scope. Pure; cost linear in the patch.
 *
 * @example
 * const text = "diff --git a/a.js b/dist/a.js\nsimilarity index 100%\nrename from a.js\nrename to dist/a.js\n";
 * const patch = new TextEncoder().encode(text);
 * const { result } = judgePatch({ patch, policy: DEFAULT_POLICY, scope: null, planLimits: null });
 * result.verdict === "reject" && result.code; // => "PATCH_POLICY_DENY"
 */
export function judgePatch(input: GateInput): JudgedPatch {
  return runWhole(judgeInTurns(input));
}

/** The same, with a pause between turns: whoever else has something to do gets to do it. */
export async function judgePatchPausing(input: GateInput, pause: () => Promise<unknown>): Promise<JudgedPatch> {
  return await runInTurns(judgeInTurns(input), pause);
}

function* judgeInTurns(input: GateInput): Turns<JudgedPatch> {
  let sections: PatchSection[];
  try {
    sections = yield* parsePatchInTurns(input.patch, input.platform ?? "posix");
  } catch (thrown) {
    if (!(thrown instanceof PatchRefused)) throw thrown;
    return { result: thrown.rejection, sections: [] };
  }
  const findings = findPolicyFindings({ ...input, sections, size: input.patch.length });
  const first = findings[0];
  if (first !== undefined) {
    const stage = first.code === "PATCH_SCOPE_DENY" ? "scope" : "policy";
    return { result: { verdict: "reject", stage, ...first, findings }, sections };
  }
  const sum = (key: "added" | "deleted") => sections.reduce((total, section) => total + section[key], 0);
  const result: PatchAcceptance = {
    verdict: "accept",
    ...listPaths(sections),
    added_lines: sum("added"),
    deleted_lines: sum("deleted"),
    operations: sections.map(({ operation }) => operation),
  };
  return { result, sections };
}

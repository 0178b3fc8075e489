import type { ArtifactFinding } from "./finding.ts";
import { readPlanHeader } from "./plan-header.ts";
import { readLines } from "./text.ts";

/** Whether a signed plan is its approved draft, up to the Status line. */
type PlanMatch =
  | { readonly match: true }
  | { readonly match: false; readonly code: "PLAN_DIFFERS_FROM_DRAFT"; readonly line: number };

/**
 * Compares line by line; only the header's Status line may differ.
 *
 * @example
 * matchPlan("Status: SIGNED\nGoal: tides\n", "Status: DRAFT\nGoal: tides\n"); // => { match: true }
 */
export function matchPlan(signed: Uint8Array | string, draft: Uint8Array | string): PlanMatch {
  const [a, b] = [toComparable(signed), toComparable(draft)];
  const length = Math.max(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a[i] !== b[i]) return { match: false, code: "PLAN_DIFFERS_FROM_DRAFT", line: i + 1 };
  }
  return { match: true };
}

/** Where a signed plan leaves its draft, as a finding. */
export function toDifference({ code, line }: Extract<PlanMatch, { match: false }>, file: string): ArtifactFinding {
  const fix = "Sign it mechanically: verbatim workflow submit PLAN.md --from-draft";
  return { code, file, line, message: "the signed plan differs from the approved draft here", fix };
}

function toComparable(bytes: Uint8Array | string): string[] {
  const lines = [...readLines(bytes, "").lines];
  const status = readPlanHeader(lines, "").entries.get("Status");
  if (status !== undefined) lines[status.line - 1] = "Status:";
  while (lines.at(-1) === "") lines.pop();
  return lines;
}

/**
 * The signed plan that a draft becomes: the same text with its Status line replaced.
 *
 * @example
 * signDraft("Status: DRAFT\n"); // => "Status: SIGNED\n"
 */
export function signDraft(draft: string): string {
  const bom = draft.startsWith("\ufeff") ? "\ufeff" : "";
  const lines = draft.slice(bom.length).split("\n");
  const plain = lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  const status = readPlanHeader(plain, "").entries.get("Status");
  if (status !== undefined) {
    const at = status.line - 1;
    lines[at] = lines[at]!.endsWith("\r") ? "Status: SIGNED\r" : "Status: SIGNED";
  }
  return bom + lines.join("\n");
}

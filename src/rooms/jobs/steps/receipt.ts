import type { JsonObject } from "../../../core/canonical/index.ts";
import { type Breach, toBreachResult } from "../../../core/text/index.ts";
import type { Receipt } from "../contracts/receipt-shape.ts";
import type { NewJobRecord } from "../contracts/records.ts";
import type { Step } from "../contracts/step-shape.ts";
import type { StepFailure, StepRow } from "../ports.ts";

/** How a step ended: its receipt, and the Expansion that a READ leaves besides. */
export interface Outcome {
  readonly receipt: Receipt;
  readonly expansion: NewJobRecord<"EXPANSION"> | null;
}

/** What a step is about: the symbol or section id of its operation. */
export function targetOf(step: Step): string {
  return step.op === "READ_SECTION" ? step.refs.section_id : step.refs.symbol_id;
}

/** READ, WRITE or EXECUTE. */
function typeOf(step: Step): "READ" | "WRITE" | "EXECUTE" {
  return step.op === "WRITE" || step.op === "EXECUTE" ? step.op : "READ";
}

/** A READ that found its pinned payload. */
export function toReadOutcome(run_id: string, { step, resolved }: StepRow): Outcome {
  const target = targetOf(step);
  const { slice } = step.constraints as { slice: string };
  const { bytes = 0, content_hash = "", file_path, section_id } = resolved;
  const payload_ref = `sha256:${content_hash}`;
  const result = { bytes, file_path, payload_ref, section_id };
  const receipt = succeed(run_id, step, result, content_hash);
  return {
    receipt: { ...receipt, expanded: [{ symbol_or_section_id: target, slice, content_hash }] },
    expansion: { run_id, symbol_or_section_id: target, slice, content_hash, payload_ref },
  };
}

/** Where a result lies whose files are in git. */
interface Placed {
  readonly commit: string;
  readonly ref: string;
  readonly tree: string;
}

/** A WRITE whose file is as the patch makes it. A patch touches its target only. */
export function toWriteOutcome(run_id: string, { step, resolved }: StepRow, where: Placed | null = null): Outcome {
  const { patch_sha256 } = step.constraints as { patch_sha256: string };
  const result = { files: [resolved.file_path], patch_sha256, ...where };
  return { receipt: succeed(run_id, step, result, patch_sha256), expansion: null };
}

/** An EXECUTE whose proof verified. */
export function toExecuteOutcome(
  run_id: string,
  { step }: StepRow,
  result: { readonly catalytic_run_id: string; readonly proof_hash: string } & Partial<Placed>,
): Outcome {
  const { proof_hash } = result;
  return { receipt: succeed(run_id, step, { ...result }, proof_hash), expansion: null };
}

/** A step that is the breach of a budget; nothing of it was done. */
export function toBreachOutcome(run_id: string, step: Step, breach: Breach): Outcome {
  return { receipt: fail(run_id, step, toBreachResult(breach) as JsonObject), expansion: null };
}

/** A step that did not happen for any other reason. */
export function toFailureOutcome(run_id: string, step: Step, { code, details }: StepFailure): Outcome {
  return { receipt: fail(run_id, step, { code, details }), expansion: null };
}

function succeed(run_id: string, step: Step, result: JsonObject, hash: string): Receipt {
  const names = Object.keys(step.expected_outputs);
  return {
    run_id,
    step_id: step.step_id,
    expanded: [],
    actions: [{ type: typeOf(step), target: targetOf(step), status: "SUCCESS", result }],
    outputs: Object.fromEntries(names.map((name) => [name, `sha256:${hash}`])),
    status: "SUCCESS",
  };
}

function fail(run_id: string, step: Step, result: JsonObject): Receipt {
  return {
    run_id,
    step_id: step.step_id,
    expanded: [],
    actions: [{ type: typeOf(step), target: targetOf(step), status: "FAILURE", result }],
    outputs: {},
    status: "FAILURE",
  };
}

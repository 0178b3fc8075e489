import { PLAN_FILE } from "../../artifacts/plan.ts";
import { findCandidate, PATCH_FILE } from "../../dispatch/next-step.ts";
import type { Run } from "../run.ts";
import type { CandidateRecord, CandidateState, RunState } from "./run-state.ts";

/** The record of the patch that is in the run now, under the plan that is there. */
export function currentCandidate(run: Run): CandidateRecord | undefined {
  return findCandidate(run.state.candidates, run.hash(PATCH_FILE) ?? "", run.hash(PLAN_FILE) ?? "");
}

/** Changes the state of the current candidate. */
export function markCandidate(
  run: Run,
  state: CandidateState,
  code?: string,
  more: Partial<Pick<RunState, "in_progress" | "status" | "blocked">> = {},
): void {
  const current = currentCandidate(run);
  if (current === undefined) return;
  const { code: _, ...rest } = current;
  const marked = { ...rest, state, ...(code === undefined ? {} : { code }) };
  run.save({ candidates: run.state.candidates.map((one) => (one === current ? marked : one)), ...more });
}

/** The archive folder of a candidate: 01, 02, ... in order of judging. */
function iterationFolder(candidate: CandidateRecord): string {
  return `artifacts/iterations/${String(candidate.iteration ?? 0).padStart(2, "0")}`;
}

/** Where a copy of a run file is kept with its candidate; null without one. */
export function archivePath(run: Run, path: string): string | null {
  const candidate = currentCandidate(run);
  return candidate === undefined ? null : `${iterationFolder(candidate)}/${path.slice(path.lastIndexOf("/") + 1)}`;
}

/** Keeps a copy of a run file with its candidate. */
export function archive(run: Run, path: string): void {
  const place = archivePath(run, path);
  const bytes = run.read(path);
  if (place !== null && bytes !== null) run.folder.write(place, bytes);
}

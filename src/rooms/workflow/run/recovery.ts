import { PATCH_FILE } from "../dispatch/next-step.ts";
import { finishRollback } from "./apply/rollback.ts";
import { restoreSnapshot, snapshotFolder } from "./apply/snapshot.ts";
import { markCandidate } from "./record/candidates.ts";
import { bundleFailure } from "./record/failure-bundle.ts";
import { readEvents } from "./record/run-log.ts";
import type { Session } from "./session.ts";

/** Where the isolated copy of a verification lies, below the run. */
export const COPY_FOLDER = "worktree";

export type Repaired = "apply" | "rollback" | "verify" | null;

/** Finishes or undoes the step that a crash or a kill interrupted, and says which one. */
export async function recoverStep(session: Session): Promise<Repaired> {
  const repaired = await repair(session);
  await recoverBundle(session);
  return repaired;
}

async function repair(session: Session): Promise<Repaired> {
  const { run } = session;
  const pending = run.state.in_progress;
  if (pending === null) return null;
  if (pending.step === "apply" || pending.step === "rollback") {
    if (pending.step === "apply") await undoApply(session, pending.iteration);
    else await finishRollback(session);
    return pending.step;
  }
  run.folder.remove(COPY_FOLDER);
  if (pending.step === "verify") await recoverVerify(session, pending.iteration);
  run.save({ in_progress: null });
  return "verify";
}

async function undoApply(session: Session, iteration: number): Promise<void> {
  const { run } = session;
  await session.withTree(() => restoreSnapshot(run, snapshotFolder(iteration)));
  run.save({ in_progress: null });
  await session.event("orchestrator", "APPLY_RECOVERED", PATCH_FILE);
}

/** A verification that reached its verdict is finished; one without a verdict is closed and uses up no iteration. */
async function recoverVerify(session: Session, iteration: number): Promise<void> {
  const { run } = session;
  const last = readEvents(run).findLast(({ event }) => event.startsWith("VERIFY_"));
  const own = last?.["iteration"] === iteration;
  if (own && last?.event === "VERIFY_PASSED") return markCandidate(run, "verified");
  if (own && last?.event === "VERIFY_FAILED") return markCandidate(run, "verify_failed", "VERIFY_FAILED");
  run.save({ iterations: Math.max(0, run.state.iterations - 1) });
  if (own) await session.event("verifier", "VERIFY_FAILED", "", { interrupted: true });
}

const BUNDLED = /^(?:BUNDLE_CREATED|VERIFY_FAILED|PATCH_REJECTED|STOP_(?!BUDGET)|RUN_ABORTED|RUN_ROLLED_BACK)/;

/** A bundle that a kill kept from being made is made now: nothing that failed is left without one. */
async function recoverBundle(session: Session): Promise<void> {
  const last = readEvents(session.run).findLast(({ event }) => BUNDLED.test(event));
  if (last !== undefined && last.event !== "BUNDLE_CREATED") await bundleFailure(session);
}

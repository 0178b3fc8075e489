import { PATCH_FILE } from "../next-step.ts";
import { markCandidate } from "./candidates.ts";
import { readEvents } from "./run-log.ts";
import type { Session } from "./session.ts";
import { restoreSnapshot } from "./snapshot.ts";

/** Where the isolated copy of a verification lies, below the run. */
export const COPY_FOLDER = "worktree";

/** The snapshot folder of a candidate. */
export function snapshotFolder(iteration: number): string {
  return `snapshot/${String(iteration).padStart(2, "0")}`;
}

/** Finishes or undoes the step that a crash or a kill interrupted. */
export async function recoverStep(session: Session): Promise<void> {
  const { run } = session;
  const pending = run.state.in_progress;
  if (pending === null) return;
  if (pending.step === "apply") {
    await session.withTree(() => restoreSnapshot(run, snapshotFolder(pending.iteration)));
    run.save({ in_progress: null });
    await session.event("orchestrator", "APPLY_RECOVERED", PATCH_FILE);
    return;
  }
  run.folder.remove(COPY_FOLDER);
  if (pending.step === "verify") await recoverVerify(session, pending.iteration);
  run.save({ in_progress: null });
}

/** A verification that reached its verdict is finished; one without a verdict is closed and uses up no iteration. */
async function recoverVerify(session: Session, iteration: number): Promise<void> {
  const { run } = session;
  const last = readEvents(run).findLast(({ event }) => event.startsWith("VERIFY_"));
  const own = last?.["iteration"] === iteration;
  if (own && last?.event === "VERIFY_PASSED") return markCandidate(run, "verified");
  if (own && last?.event === "VERIFY_FAILED") {
    markCandidate(run, "verify_failed", "VERIFY_FAILED");
    return await session.bundle();
  }
  run.save({ iterations: Math.max(0, run.state.iterations - 1) });
  if (!own) return;
  await session.event("verifier", "VERIFY_FAILED", "", { interrupted: true });
  return await session.bundle();
}

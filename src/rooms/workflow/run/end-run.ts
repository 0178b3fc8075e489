import { VerbatimError } from "../../../core/errors/index.ts";
import { COPY_FOLDER } from "./recovery.ts";
import type { Session } from "./session.ts";

/** Ends a run that is still open. No file of the repository is changed. */
export async function abortRun(session: Session, reason: string): Promise<void> {
  const { run } = session;
  const { status, stop_reason } = run.state;
  if (status === "pass" || stop_reason !== null) {
    throw new VerbatimError("RUN_ENDED", {
      message: status === "pass" ? "the run has passed" : `the run was stopped: ${stop_reason}`,
    });
  }
  run.folder.remove(COPY_FOLDER);
  run.save({ status: "fail", stop_reason: "aborted", blocked: null });
  await session.event("operator", "RUN_ABORTED", "", { reason });
  await session.bundle();
}

import { parseJson } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { PATCH_APPLY_FILE, type PatchApplyRecord } from "./apply-step.ts";
import { COPY_FOLDER } from "./recovery.ts";
import type { Session } from "./session.ts";
import { isAt, restoreSnapshot } from "./snapshot.ts";

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

/** Puts the repository back to what it was before a passed run, if nobody has edited the patched paths since. */
export async function rollBackRun(session: Session): Promise<string[]> {
  const { run } = session;
  const bytes = run.read(PATCH_APPLY_FILE);
  if (run.state.status !== "pass" || bytes === null) throw new VerbatimError("RUN_NOT_PASSED");
  const record = parseJson(bytes) as unknown as PatchApplyRecord;
  await session.withTree(() => {
    const edited = record.files.filter(({ path, post }) => !isAt(run, { path, ...post })).map(({ path }) => path);
    if (edited.length > 0) {
      throw new VerbatimError("ROLLBACK_CONFLICT", {
        message: `edited since: ${edited.join(", ")}`,
        details: { paths: edited },
      });
    }
    restoreSnapshot(run, record.snapshot);
    run.save({ status: "fail", stop_reason: "rolled_back", blocked: null });
  });
  const paths = record.files.map(({ path }) => path);
  await session.event("operator", "RUN_ROLLED_BACK", PATCH_APPLY_FILE, { paths });
  await session.bundle();
  return paths;
}

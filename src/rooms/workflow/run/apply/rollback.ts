import { VerbatimError } from "../../../../core/errors/index.ts";
import { readEvents } from "../record/run-log.ts";
import type { Session } from "../session.ts";
import { PATCH_APPLY_FILE, type PatchApplyRecord, readApplyRecord } from "./apply-record.ts";
import { findInTheWay, isAt, readSnapshot, restoreSnapshot, snapshotFolder } from "./snapshot.ts";

/**
 * Puts the repository back to what it was before a passed run, if nobody has edited the patched paths since. A rollback or
 * an apply that was killed is finished or undone by the same call; a second one finds nothing left to do.
 */
export async function rollBackRun(session: Session): Promise<string[]> {
  const { run } = session;
  const record = readApplyRecord(run);
  if (session.repaired === "apply") return await endUndoneApply(session);
  if (run.state.stop_reason === "rolled_back" && record !== null) return requireStillBack(session, record);
  if (run.state.status !== "pass" || record === null) throw new VerbatimError("RUN_NOT_PASSED");
  await session.withTree(() => {
    refuseEdited(session, record, false);
    const iteration = run.state.candidates.at(-1)?.iteration ?? 0;
    run.save({ in_progress: { step: "rollback", iteration, started_at: run.now() } });
    putBack(session, record);
  });
  return await endRolledBack(session, record.files.map(pathOf));
}

/** Restores what is not restored yet. Each file is replaced as a whole, so a killed rollback leaves old or new ones only. */
export async function finishRollback(session: Session): Promise<string[]> {
  const { run } = session;
  const record = readApplyRecord(run);
  if (record === null) throw new VerbatimError("RUN_CORRUPT", { message: "patch_apply.json is missing" });
  await session.withTree(() => putBack(session, record));
  return await endRolledBack(session, record.files.map(pathOf));
}

function putBack(session: Session, record: PatchApplyRecord): void {
  refuseEdited(session, record, true);
  restoreSnapshot(session.run, record.snapshot);
}

/** The repair before this call took back what the killed apply had written, so the run ends as it was asked to. */
async function endUndoneApply(session: Session): Promise<string[]> {
  const { run } = session;
  const folder = snapshotFolder(run.state.candidates.at(-1)?.iteration ?? 0);
  const paths = (readSnapshot(run, folder) ?? []).map(pathOf);
  return await endRolledBack(session, paths);
}

async function endRolledBack(session: Session, paths: string[]): Promise<string[]> {
  const { run } = session;
  if (!readEvents(run).some(({ event }) => event === "RUN_ROLLED_BACK")) {
    await session.event("operator", "RUN_ROLLED_BACK", PATCH_APPLY_FILE, { paths: [...paths] });
  }
  run.save({ status: "fail", stop_reason: "rolled_back", blocked: null, in_progress: null });
  await session.bundle();
  return paths;
}

function requireStillBack({ run }: Session, { files }: PatchApplyRecord): string[] {
  if (files.every(({ path, pre }) => isAt(run, { path, ...pre }))) return files.map(pathOf);
  throw new VerbatimError("RUN_NOT_PASSED", {
    message: "the run was already rolled back, and its files have changed since",
  });
}

function refuseEdited({ run }: Session, { files }: PatchApplyRecord, begun: boolean): void {
  const isOurs = (file: PatchApplyRecord["files"][number]) =>
    isAt(run, { path: file.path, ...file.post }) || (begun && isAt(run, { path: file.path, ...file.pre }));
  const edited = files.filter((file) => !isOurs(file)).map(pathOf);
  const gone = files.filter(({ pre }) => pre.sha256 === null).map(pathOf);
  const back = files.filter(({ pre }) => pre.sha256 !== null).map(pathOf);
  const all = [...edited, ...findInTheWay(run, back, gone)];
  if (all.length === 0) return;
  throw new VerbatimError("ROLLBACK_CONFLICT", { message: `edited since: ${all.join(", ")}`, details: { paths: all } });
}

function pathOf({ path }: { readonly path: string }): string {
  return path;
}

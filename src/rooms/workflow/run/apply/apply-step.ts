import { sortedUnique } from "../../../../core/canonical/index.ts";
import { VerbatimError } from "../../../../core/errors/index.ts";
import { formatArtifact } from "../../artifacts/json.ts";
import { PATCH_FILE } from "../../dispatch/next-step.ts";
import { gateImages, PATCH_GATE_FILE } from "../gate/gate-record.ts";
import { judgeRunPatch } from "../gate/gate-step.ts";
import { currentCandidate, markCandidate } from "../record/candidates.ts";
import { readRecordFile } from "../record/record-file.ts";
import type { Session } from "../session.ts";
import { PATCH_APPLY_FILE, type PatchApplyRecord } from "./apply-record.ts";
import { findInTheWay, isAt, type PostImage, restoreSnapshot, snapshotFolder, takeSnapshot } from "./snapshot.ts";

/** The step `apply`: the one change of the real tree, for a verified candidate, or nothing. */
export async function runApplyStep(session: Session): Promise<void> {
  await session.withTree(() => applyCandidate(session));
}

async function applyCandidate(session: Session): Promise<void> {
  const { run } = session;
  const { git } = run.ports;
  const candidate = currentCandidate(run)!;
  const patch = run.read(PATCH_FILE)!;
  await requireBase(session);
  const result = await judgeRunPatch(run, patch, run.plan());
  const post = readPostImages(session, candidate.sha256);
  if (result.verdict === "reject" || post === null) {
    throw mismatch([], "the patch is no longer what was verified");
  }
  const folder = snapshotFolder(candidate.iteration ?? 0);
  const created = post.filter(({ sha256 }) => sha256 !== null).map(({ path }) => path);
  const deleted = post.filter(({ sha256 }) => sha256 === null).map(({ path }) => path);
  const blocking = findInTheWay(run, created, deleted);
  if (blocking.length > 0) throw dirty(blocking, "a folder that the patch turns into a file contains other files");
  const pre = takeSnapshot(run, folder, result.changed_paths);
  if (pre.some(({ path }) => post.every((image) => image.path !== path))) {
    throw mismatch([], "the patch is no longer what was verified");
  }
  const types = await git.targets(result.changed_paths, run.base);
  const inTheWay = pre.filter(({ path, exists }) => exists && types.get(path) === "missing").map(({ path }) => path);
  if (inTheWay.length > 0) throw dirty(inTheWay, "files that the patch creates already exist");
  const before = await git.states();
  run.save({ in_progress: { step: "apply", iteration: candidate.iteration ?? 0, started_at: run.now() } });
  await session.event("orchestrator", "APPLY_STARTED", PATCH_FILE, { patch_sha256: candidate.sha256 });
  const { code, stderr } = await git.apply(patch);
  const wrong = post.filter((image) => !isAt(run, image)).map(({ path }) => path);
  const others = code === 0 ? await findOtherChanges(session, before, result.changed_paths) : [];
  if (code !== 0 || wrong.length > 0 || others.length > 0) {
    restoreSnapshot(run, folder);
    markCandidate(run, "verify_failed", "APPLY_MISMATCH");
    run.save({ in_progress: null, status: "fail" });
    await session.event("orchestrator", "APPLY_ROLLED_BACK", PATCH_FILE, { paths: [...wrong, ...others] });
    throw mismatch([...wrong, ...others], code === 0 ? "a path differs from what was verified" : stderr.trim());
  }
  const record: PatchApplyRecord = {
    schema_version: "verbatim-patch-apply-v1",
    patch_sha256: candidate.sha256,
    base_commit: run.state.base_commit,
    snapshot: folder,
    files: pre.map(({ path, mode, sha256 }) => {
      const after = post.find((image) => image.path === path)!;
      return { path, pre: { mode, sha256 }, post: { mode: after.mode, sha256: after.sha256 } };
    }),
    applied_at: run.now(),
  };
  run.folder.write(PATCH_APPLY_FILE, formatArtifact(record));
  await session.event("orchestrator", "APPLY_COMPLETED", PATCH_APPLY_FILE, { files: record.files.length });
  // One write: a candidate that is applied in a run that has not passed would be undone and still called applied.
  markCandidate(run, "applied", undefined, { in_progress: null, status: "pass", blocked: null });
  await session.event("orchestrator", "RUN_PASSED", "");
}

async function requireBase(session: Session): Promise<void> {
  const { run } = session;
  const { commit } = await run.ports.git.head();
  if (commit !== run.state.base_commit) {
    throw new VerbatimError("REPO_MOVED", {
      message: `the repository is at ${commit}, but the run started at ${run.state.base_commit}`,
      details: { recorded: run.state.base_commit, current: commit },
    });
  }
  const paths = await run.ports.git.differences(run.base, run.isDirect);
  if (paths.length > 0) throw dirty(paths, "tracked files differ from the run's base");
}

function readPostImages(session: Session, patchSha256: string): readonly PostImage[] | null {
  const record = readRecordFile(gateImages, session.run, PATCH_GATE_FILE);
  return record?.patch_sha256 === patchSha256 ? (record.post_images ?? null) : null;
}

type States = ReadonlyMap<string, string>;

async function findOtherChanges(session: Session, before: States, declared: readonly string[]): Promise<string[]> {
  const after = await session.run.ports.git.states();
  const paths = sortedUnique([...before.keys(), ...after.keys()]);
  return paths.filter((path) => !declared.includes(path) && toState(path, before) !== toState(path, after));
}

const UNTRACKED = "??";

/** Whether rules ignore a file is not a state of the file: a patch may change the rules without touching it. */
function toState(path: string, states: States): string | undefined {
  const state = states.get(path);
  if (state !== undefined && state !== "!!") return state;
  if (path.endsWith("/")) return undefined;
  const parts = path.split("/");
  const isIgnored = parts.some((_, i) => states.get(`${parts.slice(0, i).join("/")}/`) === "!!");
  return state === "!!" || isIgnored ? UNTRACKED : undefined;
}

function dirty(paths: readonly string[], message: string): VerbatimError {
  return new VerbatimError("REPO_DIRTY", {
    message: `${message}: ${paths.slice(0, 20).join(", ")}`,
    details: { paths: paths.slice(0, 20) },
  });
}

function mismatch(paths: readonly string[], message: string): VerbatimError {
  return new VerbatimError("APPLY_MISMATCH", { message, details: { paths } });
}

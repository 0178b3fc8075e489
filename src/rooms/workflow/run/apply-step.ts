import { parseJson } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { formatArtifact } from "../artifacts/json.ts";
import { PATCH_FILE } from "../next-step.ts";
import { currentCandidate, markCandidate } from "./candidates.ts";
import { judgeRunPatch, PATCH_GATE_FILE, type PatchGateRecord } from "./gate-step.ts";
import { snapshotFolder } from "./recovery.ts";
import type { Session } from "./session.ts";
import { isAt, type PostImage, restoreSnapshot, takeSnapshot } from "./snapshot.ts";

export const PATCH_APPLY_FILE = "artifacts/patch_apply.json";

/** artifacts/patch_apply.json: what the repository's paths were and are. */
export interface PatchApplyRecord {
  readonly schema_version: "verbatim-patch-apply-v1";
  readonly patch_sha256: string;
  readonly base_commit: string;
  readonly snapshot: string;
  readonly files: readonly {
    readonly path: string;
    readonly pre: { readonly mode: string | null; readonly sha256: string | null };
    readonly post: { readonly mode: string | null; readonly sha256: string | null };
  }[];
  readonly applied_at: string;
}

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
  const pre = takeSnapshot(run, folder, result.changed_paths);
  if (pre.some(({ path }) => post.every((image) => image.path !== path))) {
    throw mismatch([], "the patch is no longer what was verified");
  }
  const types = await git.targets(result.changed_paths, run.base);
  const inTheWay = pre.filter(({ path, exists }) => exists && types.get(path) === "missing").map(({ path }) => path);
  if (inTheWay.length > 0) throw dirty(inTheWay, "files that the patch creates exist already");
  const before = await git.fingerprint(false);
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
  markCandidate(run, "applied");
  run.save({ in_progress: null, status: "pass", blocked: null });
  await session.event("orchestrator", "RUN_PASSED", "");
}

async function requireBase(session: Session): Promise<void> {
  const { run } = session;
  const { commit } = await run.ports.git.head();
  if (commit !== run.state.base_commit) {
    throw new VerbatimError("REPO_MOVED", {
      message: `the repository is at ${commit}, the run began at ${run.state.base_commit}`,
      details: { recorded: run.state.base_commit, current: commit },
    });
  }
  const paths = await run.ports.git.differences(run.base, run.isDirect);
  if (paths.length > 0) throw dirty(paths, "tracked files differ from the run's base");
}

function readPostImages(session: Session, patchSha256: string): readonly PostImage[] | null {
  const bytes = session.run.read(PATCH_GATE_FILE);
  if (bytes === null) return null;
  const record = parseJson(bytes) as unknown as PatchGateRecord;
  return record.patch_sha256 === patchSha256 ? (record.post_images ?? null) : null;
}

async function findOtherChanges(session: Session, before: string, declared: readonly string[]): Promise<string[]> {
  const rows = (text: string) => new Set(text.slice(text.indexOf("\n") + 1).split("\0"));
  const after = await session.run.ports.git.fingerprint(false);
  const [a, b] = [rows(before), rows(after)];
  const changed = [...a].filter((row) => !b.has(row)).concat([...b].filter((row) => !a.has(row)));
  const names = changed.filter((row) => row !== "").map((row) => row.slice(3));
  return names.filter((name) => !declared.includes(name));
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

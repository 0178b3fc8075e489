import { VerbatimError } from "../../../core/errors/index.ts";
import { findMarkers } from "../artifacts/behaviors.ts";
import type { VerifyFailure } from "../artifacts/verify-report.ts";
import type { Candidate } from "../contracts/candidate.ts";
import { PATCH_FILE } from "../dispatch/next-step.ts";
import type { BaseTree, CopyChange } from "../ports.ts";
import { COPY_FOLDER } from "../run/recovery.ts";
import { readRepoText } from "../run/run.ts";
import type { Session } from "../run/session.ts";
import { checkReferences, runBuiltInGate } from "../run/verify/verify-gates.ts";

/**
 * What the gates of the product itself find wrong with the newest candidate. Only a repository that catalogues its
 * behaviours, or a change that marks one, is looked at as a whole tree: that gate reads every file.
 */
export async function checkOwnGates(
  session: Session,
  candidate: Candidate,
  base: BaseTree & { readonly commit: string },
): Promise<VerifyFailure[]> {
  const { run } = session;
  const patch = run.read(PATCH_FILE);
  const failures = checkReferences(run);
  if (patch === null || !needsCheckout(session, patch)) return failures;
  run.folder.remove(COPY_FOLDER);
  try {
    const { git } = run.ports;
    const copy = await git.checkOut(run.folder.makeFolder(COPY_FOLDER), base, base.commit);
    const { code, stderr } = await copy.apply(patch);
    if (code !== 0) {
      const message = `the patch does not apply to a checkout: ${stderr.trim()}`;
      return [...failures, { kind: "patch_check", id: "PATCH_GIT_CHECK_FAIL", message }];
    }
    requireSame(candidate, await copy.changes());
    return [...failures, ...(await runBuiltInGate("behavior_catalog_check", run, run.plan(), copy, []))];
  } finally {
    run.folder.remove(COPY_FOLDER);
  }
}

/** The patch, applied to a checkout, must have given exactly the files the agent left. */
function requireSame({ files }: Candidate, made: readonly CopyChange[]): void {
  const text = files.filter(({ hunks }) => hunks !== undefined);
  const images = new Map(made.map((image) => [image.path, image]));
  const wrong = text.find(({ path, sha256, mode }) => {
    const image = images.get(path);
    return image === undefined || image.sha256 !== sha256 || image.mode !== mode;
  });
  if (wrong === undefined && images.size === text.length) return;
  throw new VerbatimError("AGENT_CAPTURE_FAILED", {
    message: `the patch does not reproduce what the agent left at ${wrong?.path ?? "an unknown path"}`,
    details: { path: wrong?.path ?? null },
  });
}

function needsCheckout({ run }: Session, patch: Uint8Array): boolean {
  const { behaviors } = run.ports.config;
  if (readRepoText(run.ports, behaviors.index) !== null) return true;
  return findMarkers(new TextDecoder().decode(patch).replace(/^\+/gm, ""), behaviors).length > 0;
}

import type { JsonValue } from "../../../../core/canonical/index.ts";
import { VerbatimError } from "../../../../core/errors/index.ts";
import { judgeArtifact } from "../../artifacts/artifact-kinds.ts";
import { CONTEXT_PACK_FILE, findPackDifference, validateContextPack } from "../../artifacts/context-pack.ts";
import { FILE_REQUEST_FILE, validateFileRequest } from "../../artifacts/file-request.ts";
import type { ArtifactFinding } from "../../artifacts/finding.ts";
import { PLAN_FILE } from "../../artifacts/plan.ts";
import { PATCH_FILE } from "../../dispatch/next-step.ts";
import { buildRunPack } from "../../dispatch/pack-step.ts";
import { dropSections } from "../../patch/leave-out.ts";
import type { Run } from "../run.ts";
import type { Session } from "../session.ts";
import { judgeContext } from "./judge-context.ts";

/** No artifact is larger. */
export const MOST_ARTIFACT_BYTES = 16 * 1024 * 1024;

/** An artifact as it is kept: only a patch without a final line feed gets one. */
export function toStoredBytes(
  path: string,
  bytes: Uint8Array,
): { readonly bytes: Uint8Array; readonly newlineAdded: boolean } {
  if (bytes.length === 0) throw new VerbatimError("ARTIFACT_EMPTY", { where: path });
  if (bytes.length > MOST_ARTIFACT_BYTES) throw new VerbatimError("ARTIFACT_TOO_LARGE", { where: path });
  if (path !== PATCH_FILE || bytes.at(-1) === 0x0a) return { bytes, newlineAdded: false };
  const whole = new Uint8Array(bytes.length + 1);
  whole.set(bytes);
  whole[bytes.length] = 0x0a;
  return { bytes: whole, newlineAdded: true };
}

/** What is wrong with bytes that should become an artifact of a run. A patch is judged by the gate, not here. */
export function judgeInRun(
  run: Run,
  path: string,
  bytes: Uint8Array,
): { readonly errors: readonly ArtifactFinding[]; readonly warnings: readonly ArtifactFinding[] } {
  if (path === PATCH_FILE) return { errors: [], warnings: [] };
  return judgeArtifact(path, bytes, judgeContext(run));
}

/** A delivered pack must be exactly the local librarian's. */
export function requireVerbatimPack(run: Run, bytes: Uint8Array): void {
  const request = run.read(FILE_REQUEST_FILE);
  const value = request === null ? null : validateFileRequest(request, run.guardrails()).value;
  const given = validateContextPack(bytes).value;
  if (value === null || given === null) return;
  const at = findPackDifference(given, buildRunPack(run, value));
  if (at !== null) {
    throw new VerbatimError("CONTEXT_PACK_NOT_VERBATIM", {
      message: `the pack differs at ${at}`,
      where: `${CONTEXT_PACK_FILE}#${at}`,
      details: { at },
    });
  }
}

/** Stores an artifact: the old bytes go to superseded/, the new ones are written whole, and it is logged. */
export async function storeArtifact(
  session: Session,
  path: string,
  given: Uint8Array,
  role: string,
  extras: Readonly<Record<string, JsonValue>> = {},
): Promise<void> {
  const { run } = session;
  const whole = toStoredBytes(path, given);
  const { patch: bytes, left_out } =
    path === PATCH_FILE ? dropSections(whole.bytes, run.state.direct?.leave_out ?? []) : keepAll(whole.bytes);
  const { newlineAdded } = whole;
  if (left_out.length > 0) {
    if (bytes.length === 0) {
      throw new VerbatimError("ARTIFACT_EMPTY", { message: "everything in the patch is left out", where: path });
    }
    run.folder.write(`superseded/whole_patch.${run.ports.crypto.sha256(whole.bytes).slice(0, 12)}`, whole.bytes);
  }
  const old = run.read(path);
  const sha256 = run.ports.crypto.sha256(bytes);
  if (old !== null) {
    const before = run.ports.crypto.sha256(old);
    if (before !== sha256) run.folder.write(`superseded/${path.replaceAll("/", "_")}.${before.slice(0, 12)}`, old);
  }
  run.folder.write(path, bytes);
  if (path === CONTEXT_PACK_FILE) {
    run.save({ context_pack: { file_request_sha256: run.hash(FILE_REQUEST_FILE)! } });
  }
  const { [path]: _, ...reviews } = run.state.reviews;
  // A review that is handed in again is about the files as they are now, even when its words are the same.
  if (path.startsWith("reviews/")) run.save({ reviews });
  const plain = path in run.state.artifacts ? "ARTIFACT_CHANGED" : "ARTIFACT_ACCEPTED";
  const event = EVENTS[path] ?? (path.startsWith("reviews/") ? "REVIEW_WRITTEN" : plain);
  if (path !== PATCH_FILE) run.save({ artifacts: { ...run.state.artifacts, [path]: sha256 } });
  const added = newlineAdded ? { final_newline_added: true } : {};
  const dropped = left_out.length === 0 ? {} : { left_out: [...left_out] };
  await session.event(role, event, path, { sha256, ...added, ...dropped, ...extras });
  if (path !== PATCH_FILE) await fulfilPrompt(session, path);
}

function keepAll(patch: Uint8Array): ReturnType<typeof dropSections> {
  return { patch, left_out: [] };
}

const EVENTS: Readonly<Record<string, string>> = { [PATCH_FILE]: "PATCH_RECEIVED", [PLAN_FILE]: "PLAN_SIGNED" };

/** A prompt is fulfilled when its target is another one than when it was written, and valid. */
export async function fulfilPrompt(session: Session, path: string): Promise<void> {
  const { run } = session;
  const prompt = run.state.prompts?.[path];
  if (prompt === undefined || prompt.target_sha256 === run.hash(path)) return;
  const { [path]: _, ...others } = run.state.prompts ?? {};
  run.save({ prompts: others });
  await session.event("orchestrator", "OUTBOX_PROMPT_FULFILLED", prompt.file, { target: path });
}

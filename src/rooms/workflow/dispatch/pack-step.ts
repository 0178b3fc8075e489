import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { CONTEXT_PACK_FILE, type ContextPack } from "../artifacts/context-pack.ts";
import { FILE_REQUEST_FILE, type FileRequest, validateFileRequest } from "../artifacts/file-request.ts";
import { formatArtifact } from "../artifacts/json.ts";
import { WORKFLOW_RECORDS } from "../contracts/records.ts";
import { buildPack, type LibrarianRules } from "../librarian/librarian.ts";
import type { WorkflowPorts } from "../operations/ports.ts";
import { streamOf } from "../run/record/run-log.ts";
import type { Run } from "../run/run.ts";
import type { Session } from "../run/session.ts";

/** The librarian's rules of a repository. */
export function librarianRules(ports: WorkflowPorts): LibrarianRules {
  const { mandatory_docs, librarian, secrets } = ports.config;
  return { mandatory_docs, secrets, ...librarian };
}

/** The pack the local librarian builds for a request of a run. */
export function buildRunPack(run: Run, request: FileRequest): ContextPack {
  const missing_docs = run.state.direct !== undefined && run.state.direct.files.length === 0 ? "skip" : "fail";
  return buildPack(request, run.state.repo_slug, { ...librarianRules(run.ports), missing_docs }, run.ports.reader);
}

/** The step `context_pack`. A pack that cannot be made is remembered for this request, and nothing is written. */
export async function runPackStep(session: Session): Promise<void> {
  const { run } = session;
  const bytes = run.read(FILE_REQUEST_FILE)!;
  const requestSha256 = run.ports.crypto.sha256(bytes);
  const request = validateFileRequest(bytes, run.guardrails()).value;
  if (request === null) throw new VerbatimError("FILE_REQUEST_INVALID", { where: FILE_REQUEST_FILE });
  try {
    const text = formatArtifact(buildRunPack(run, request));
    run.folder.write(CONTEXT_PACK_FILE, text);
    run.save({ context_pack: { file_request_sha256: requestSha256 } });
    await recordPack(run.ports, streamOf(run.id), requestSha256, text);
    await session.event("librarian", "CONTEXT_PACK_WRITTEN", CONTEXT_PACK_FILE, {
      sha256: run.ports.crypto.sha256(text),
    });
  } catch (thrown) {
    if (
      !isVerbatimError(thrown) ||
      !["BUDGET_TOO_SMALL", "MANDATORY_DOC_MISSING", "CONFIG_INVALID"].includes(thrown.code)
    ) {
      throw thrown;
    }
    const { file_request_sha256 } = run.state.context_pack;
    run.save({
      context_pack: {
        ...(file_request_sha256 === undefined ? {} : { file_request_sha256 }),
        failed_request_sha256: requestSha256,
        failed_code: thrown.code,
      },
    });
    await session.event("librarian", "CONTEXT_PACK_FAILED", FILE_REQUEST_FILE, {
      code: thrown.code,
      message: thrown.message,
    });
  }
}

/** The receipt of a pack: hashes of the request, of the pack, and of every file's content. */
export async function recordPack(
  ports: WorkflowPorts,
  stream: string,
  requestSha256: string,
  text: string,
): Promise<void> {
  const { crypto, store, actor } = ports;
  const pack = JSON.parse(text) as ContextPack;
  const files = pack.files.map(({ path, content }) => ({ path, sha256: crypto.sha256(content) }));
  const body = { request_sha256: requestSha256, pack_sha256: crypto.sha256(text), files };
  await store.transact((tx) => tx.ledger.append(stream, "next", [WORKFLOW_RECORDS.make("CONTEXT_PACK", actor, body)]));
}

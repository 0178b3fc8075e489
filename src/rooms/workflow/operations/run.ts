import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, OWNER } from "../../../core/operation.ts";
import { AgentRecord } from "../agent/agent-record.ts";
import { undoAgentRun } from "../agent/recover-agent-run.ts";
import { findKind, KINDS } from "../artifacts/artifact-kinds.ts";
import { CONTEXT_PACK_FILE } from "../artifacts/context-pack.ts";
import { PLAN_DRAFT_FILE, PLAN_FILE } from "../artifacts/plan.ts";
import { signDraft } from "../artifacts/plan-match.ts";
import { PATCH_FILE } from "../dispatch/next-step.ts";
import { dispatchOf } from "../dispatch/prompts.ts";
import { advanceRun } from "../run/advance.ts";
import { rollBackRun } from "../run/apply/rollback.ts";
import { abortRun } from "../run/end-run.ts";
import { findOwnRun, requireSteps } from "../run/find/find-run.ts";
import {
  judgeInRun,
  MOST_ARTIFACT_BYTES,
  requireVerbatimPack,
  storeArtifact,
  toStoredBytes,
} from "../run/gate/receive.ts";
import { Run } from "../run/run.ts";
import { type Session, withSession } from "../run/session.ts";
import { toStepReport } from "../run/status.ts";
import { NEW } from "./new.ts";
import { findingSchema, stepSchema } from "./outputs.ts";
import type { WorkflowPorts } from "./ports.ts";

const run = z
  .string()
  .min(1)
  .optional()
  .describe(
    "run id, a unique beginning or the last six digits of one, @ (newest), @2, or a run directory; default: the only open run",
  );
const steal_lock = z
  .boolean()
  .default(false)
  .describe("take the lock even though its owner may be alive (on another host, known to be dead)");

const ADVANCE = defineOperation({
  name: "workflow.advance",
  summary: "Advance a run until it passes, stops, or waits for someone.",
  effect: "mutate",
  who: OWNER,
  input: z.strictObject({
    run,
    max_steps: z.int().min(1).max(100).default(16).describe("maximum number of steps"),
    apply: z.boolean().default(false).describe("apply a patch that passes its gates, whatever the configuration says"),
    no_apply: z.boolean().default(false).describe("stop before a patch is applied"),
    retry_verify: z.boolean().default(false).describe("verify a failed candidate once more; uses an iteration"),
    steal_lock,
  }),
  output: z.strictObject({
    ...stepSchema,
    steps: z
      .array(z.strictObject({ action: z.string(), target: z.string(), result: z.string() }))
      .describe("what was done, in order"),
  }),
  run: async (ports: WorkflowPorts, input) => {
    if (input.apply && input.no_apply)
      throw new VerbatimError("USAGE", {
        message: { cli: "--apply and --no-apply cannot be combined", others: "apply and no_apply cannot be combined" },
      });
    const found = findOwnRun(ports, input.run);
    requireSteps(found, input.apply ? "apply" : "verify");
    const { folder } = found;
    const options = {
      maxSteps: input.max_steps,
      apply: input.apply ? true : input.no_apply ? false : null,
      retryVerify: input.retry_verify,
    };
    const work = (session: Parameters<typeof advanceRun>[0]) => advanceRun(session, options);
    const steps = await withSession(ports, folder, "workflow advance", work, input.steal_lock);
    const after = Run.load(ports, folder);
    return { ...toStepReport(after, await after.next()), steps };
  },
});

const SUBMIT = defineOperation({
  name: "workflow.submit",
  summary: "Submit an artifact: it is validated, then stored.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    artifact: z.string().min(1).describe("run-relative path of the artifact, its file name or its stem"),
    file: z.string().optional().describe("file with its content; - reads standard input"),
    run,
    from_draft: z.boolean().default(false).describe("PLAN.md: sign the approved draft automatically, without a FILE"),
    steal_lock,
  }),
  output: z.strictObject({
    ...stepSchema,
    artifact: z.string().describe("run-relative path of the artifact"),
    ok: z.boolean().describe("whether it was stored"),
    sha256: z.string().nullable().describe("hash of the stored bytes"),
    errors: z.array(findingSchema).describe("why it was not stored"),
    warnings: z.array(findingSchema).describe("warnings"),
  }),
  run: submit,
});

async function submit(
  ports: WorkflowPorts,
  input: {
    artifact: string;
    file?: string | undefined;
    run?: string | undefined;
    from_draft: boolean;
    steal_lock: boolean;
  },
) {
  const kind = findKind(input.artifact);
  if (kind === null) {
    const fix = `Use one of ${KINDS.filter(({ submitter }) => submitter !== null)
      .map(({ path }) => path)
      .join(", ")}.`;
    throw new VerbatimError("ARTIFACT_UNKNOWN", {
      message: `there is no artifact ${JSON.stringify(input.artifact)}`,
      fix,
    });
  }
  const { path } = kind;
  // With --from-draft the word after the artifact is the run.
  const [file, name] = input.from_draft && input.run === undefined ? [undefined, input.file] : [input.file, input.run];
  const found = findOwnRun(ports, name);
  requireSteps(found, "show");
  const manualPack = path === CONTEXT_PACK_FILE && dispatchOf(found).providers.librarian === "manual_outbox";
  if (kind.submitter === null || (path === CONTEXT_PACK_FILE && !manualPack)) {
    throw new VerbatimError("ARTIFACT_NOT_SUBMITTABLE", {
      message: `${path} is written by Verbatim itself`,
      where: path,
    });
  }
  const given = input.from_draft ? signedDraft(found, path) : await readGiven(ports, file, path);
  const { bytes } = toStoredBytes(path, given);
  if (manualPack) requireVerbatimPack(found, bytes);
  return await withSession(
    ports,
    found.folder,
    `workflow submit ${path}`,
    async (session) => {
      if (session.run.state.status === "pass" || session.run.state.stop_reason !== null)
        throw new VerbatimError("RUN_ENDED");
      const before = await session.run.next();
      const { errors, warnings } = judgeInRun(session.run, path, bytes);
      const role = path === PATCH_FILE && session.run.state.candidates.length > 0 ? "fixer" : kind.submitter!;
      if (errors.length === 0) await storeArtifact(session, path, given, role);
      else await session.event(role, "ARTIFACT_INVALID", path, { codes: errors.map(({ code }) => code) });
      const early = before.target === path || errors.length > 0 ? [] : [notNext(path, before.target)];
      return {
        ...toStepReport(session.run, await session.run.next()),
        artifact: path,
        ok: errors.length === 0,
        sha256: errors.length === 0 ? session.run.hash(path) : null,
        errors: errors.map((finding) => ({ ...finding })),
        warnings: [...warnings, ...early].map((finding) => ({ ...finding })),
      };
    },
    input.steal_lock,
  );
}

function notNext(path: string, target: string | null) {
  const message = `${path} is not the next artifact${target === null ? "" : `; the run is waiting for ${target}`}`;
  return { code: "ARTIFACT_NOT_NEXT", file: path, line: null, message, fix: "It is checked when its turn comes." };
}

function signedDraft(found: Run, path: string): Uint8Array {
  const draft = found.read(PLAN_DRAFT_FILE);
  if (path !== PLAN_FILE || draft === null) {
    throw new VerbatimError("USAGE", {
      message: {
        cli: "--from-draft signs artifacts/PLAN_draft.md as artifacts/PLAN.md",
        others: "from_draft signs artifacts/PLAN_draft.md as artifacts/PLAN.md",
      },
    });
  }
  return new TextEncoder().encode(signDraft(new TextDecoder("utf-8", { ignoreBOM: true }).decode(draft)));
}

async function readGiven(ports: WorkflowPorts, file: string | undefined, path: string): Promise<Uint8Array> {
  if (file === undefined)
    throw new VerbatimError("USAGE", { message: `give the FILE with ${path}, or - for standard input` });
  return await ports.files.read(file, MOST_ARTIFACT_BYTES + 1);
}

const ABORT = defineOperation({
  name: "workflow.abort",
  summary: "End a run permanently. No file in the repository is changed.",
  effect: "mutate",
  who: OWNER,
  input: z.strictObject({
    run: z.string().min(1).describe("the run"),
    reason: z.string().min(1).describe("why"),
    steal_lock,
  }),
  output: z.strictObject({ run_id: z.string(), stop_reason: z.string() }),
  run: async (ports: WorkflowPorts, input) => {
    const found = findOwnRun(ports, input.run);
    requireSteps(found, "discard");
    const { folder } = found;
    await withSession(ports, folder, "workflow abort", (session) => abortRun(session, input.reason), input.steal_lock);
    return { run_id: folder.id, stop_reason: "aborted" };
  },
});

const ROLLBACK = defineOperation({
  name: "workflow.rollback",
  summary: "Restore the repository to what it was before a run that passed.",
  effect: "mutate",
  who: OWNER,
  input: z.strictObject({ run: z.string().min(1).describe("the run"), steal_lock }),
  output: z.strictObject({
    run_id: z.string(),
    stop_reason: z.string(),
    paths: z.array(z.string()).describe("restored paths"),
  }),
  run: async (ports: WorkflowPorts, input) => {
    const { folder } = findOwnRun(ports, input.run);
    const roll = (session: Session) => {
      const record = AgentRecord.load(session.run);
      return record === null ? rollBackRun(session) : undoAgentRun(session, record);
    };
    const paths = await withSession(ports, folder, "workflow rollback", roll, input.steal_lock);
    return { run_id: folder.id, stop_reason: "rolled_back", paths };
  },
});

export const RUN_OPERATIONS = [NEW, ADVANCE, SUBMIT, ABORT, ROLLBACK] as const;

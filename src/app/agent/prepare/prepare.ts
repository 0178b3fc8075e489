import { relative, resolve, sep } from "node:path";
import { VerbatimError } from "../../../core/errors/index.ts";
import { showPath } from "../../../core/paths/index.ts";
import { lookAtTree, type TreeScan } from "../../../rooms/catalytic/index.ts";
import {
  AgentRecord,
  CONTEXT_PACK_FILE,
  createDirectRun,
  describeStep,
  type GitWork,
  type NextStep,
  Run,
  type WorkflowPorts,
} from "../../../rooms/workflow/index.ts";
import type { Feedback } from "../again/deliver-feedback.ts";
import { findSigningKey } from "../attest/signing-key.ts";
import { warnOfPatch } from "../judge/judge.ts";
import { findCommitPlace } from "../landing/commit.ts";
import type { AgentPorts } from "../ports.ts";
import { groupDigits } from "../report/explain-words.ts";
import { readShown } from "../report/report.ts";
import { describeBreak, requirePaths, toKeptPlaces } from "../request/agent-arguments.ts";
import { requireNetwork } from "../request/network.ts";
import { type AgentRequest, toRecorded } from "../request/request.ts";
import { recordProcess } from "../work/agent-process.ts";
import type { Begins } from "./begin-again.ts";
import { rememberBase } from "./prepare-base.ts";

/** A run that is on disk and whose agent may start. */
export interface Prepared {
  readonly ports: WorkflowPorts;
  readonly run: Run;
  /** What is known of the tree. Whoever has it closes it or gives it to a view. */
  readonly look: TreeScan | null;
  /** Paths that stay writable, absolutely. */
  readonly keep: readonly string[];
  /** What it finds besides, where it is not the first attempt. */
  readonly begins?: Begins;
  /** What the agent is told about the attempt before. */
  readonly feedback?: Feedback;
}

const LOOKING = "looking at the tree";
const MOST_DIRTY = 20;
/** Why a context pack may fail. */
const PACK_CODES = ["BUDGET_TOO_SMALL", "MANDATORY_DOC_MISSING", "CONFIG_INVALID"] as const;

/**
 * Looks at the tree, makes the run, and sees to it that everything an agent was promised is there. What another run has just
 * asked git about the same tree is `shared`.
 */
export async function prepare(
  outside: AgentPorts,
  request: AgentRequest,
  shared: GitWork | null = null,
): Promise<Prepared> {
  outside.progress.report({ label: LOOKING, done: 0 });
  await requireNetwork(outside, request.network, request.guard, request.plan.commands.length > 0);
  const keep = toKeptPlaces(outside, request.keep);
  requirePaths(outside.places().root, request);
  await requireCommit(outside);
  const asked = await outside.workflow("mutate");
  if (request.commit !== null) {
    await findCommitPlace(asked, request.commit);
    await findSigningKey(outside, null);
  }
  warnOfPatch(outside);
  sayWhereVerified(outside, request);
  const base = shared === null ? rememberBase(asked.git, () => look(outside)) : { git: shared, look: () => null };
  const ports = { ...asked, git: base.git };
  try {
    const run = await createDirectRun(ports, {
      goal: request.goal,
      runId: outside.runId,
      verify: request.plan.configured ? [] : request.plan.commands.map(({ argv }) => argv),
      noVerify: request.plan.commands.length === 0,
      files: request.files,
      allow: request.allow,
      deny: request.deny,
      leaveOut: [],
      gate: "lite",
      maxFiles: null,
      maxAddedLines: null,
      maxIterations: null,
      policed: false,
    });
    recordProcess(run, outside);
    const dirty = await ports.git.changedTracked();
    const now = Run.load(ports, run.folder);
    const { base_commit: commit, base_tree: tree } = now.state;
    const record = await AgentRecord.create(now, {
      request: toRecorded(request, keep),
      base: { commit, tree, dirty: dirty.slice(0, MOST_DIRTY), dirty_count: dirty.length, busy: [] },
      shown: request.files.length === 0 ? { files: [], bytes: 0 } : readShown(now),
    });
    await requireReady(record, request).catch(async (thrown: unknown) => {
      await record.enter("AGENT_ATTEMPT_ENDED", NOTHING_BEGAN, "not_started", describeBreak(thrown, false).reason);
      throw thrown;
    });
    return { ports, run: now, look: base.look(), keep };
  } catch (thrown) {
    base.look()?.close();
    throw thrown;
  }
}

/** REPO_NOT_GIT before anything is made: without a commit there is nothing that an agent's change could be compared with. */
async function requireCommit(outside: AgentPorts): Promise<void> {
  const { git, identity } = await outside.workflow("read");
  // A repository that has had runs has a commit, and what became of it since is found out on the way.
  if (identity.current() === null) await git.head();
}

/** A command that somebody typed in a folder may have been meant for that folder. */
function sayWhereVerified(outside: AgentPorts, { plan }: AgentRequest): void {
  const folder = relative(outside.places().root, resolve(outside.start)).split(sep).join("/");
  if (folder === "" || plan.configured || plan.commands.length === 0) return;
  outside.notify(`verify commands run in the root of the repository, not in ${showPath(folder)}`);
}

/** What the ledger says of an attempt that never was. */
export const NOTHING_BEGAN = {
  n: 1,
  end: "not_started",
  code: null,
  guard: null,
  catalytic_run: null,
  proof_hash: null,
  attempt_sha256: null,
} as const;

/** Looks at the tree before the run is made. The folder of the state comes first, because it is in the tree. */
async function look(outside: AgentPorts): Promise<TreeScan | null> {
  await outside.content("append");
  const found = await lookAtTree(outside.catalytic(), outside.places());
  if (found === null || found.changed === null) return found;
  const since = found.changed === 0 ? "none" : groupDigits(found.changed);
  const unit = `files, ${since} changed since last time`;
  outside.progress.report({ label: LOOKING, done: found.files, unit, ended: true });
  return found;
}

/** An agent does not start without the context pack it was promised, nor under a plan whose patch no gate will look at. */
async function requireReady({ run }: AgentRecord, { files }: AgentRequest): Promise<void> {
  if (files.length === 0 || run.read(CONTEXT_PACK_FILE) !== null) return await requirePlan(run);
  const failed = PACK_CODES.find((code) => code === run.state.context_pack.failed_code) ?? "INTERNAL";
  const reason = run.state.blocked?.message ?? "the context pack could not be built";
  throw new VerbatimError(failed, { message: reason, where: run.folder.dir });
}

async function requirePlan(run: Run): Promise<void> {
  const step = await run.next();
  if (step.action === "make_patch") return;
  const fix = step.findings[0]?.fix.replace(/^- /, "");
  const message = describeRefusal(step);
  throw new VerbatimError("USAGE", { message, where: run.folder.dir, ...(fix === undefined ? {} : { fix }) });
}

/** Why a run does not get as far as its patch. */
function describeRefusal(step: NextStep): string {
  const [first] = step.findings;
  return first === undefined ? describeStep(step) : `${describeStep(step)}: ${first.message.replace(/^- /, "")}`;
}

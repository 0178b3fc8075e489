import { join, relative, resolve, sep } from "node:path";
import { formatCanonical, sortedUnique } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import {
  type GuardRequest,
  lookAtTree,
  runInView,
  type TreeScan,
  type ViewOutcome,
} from "../../rooms/catalytic/index.ts";
import {
  abortRun,
  advanceRun,
  BufferedRunFolder,
  CONTEXT_PACK_FILE,
  createDirectRun,
  type DirectOptions,
  describeStep,
  gateDirectChange,
  type NextStep,
  needsCheckout,
  PATCH_FILE,
  PLAN_FILE,
  Run,
  skipVerification,
  storeArtifact,
  type WorkflowPorts,
  withSession,
} from "../../rooms/workflow/index.ts";
import type { ServeMcp } from "../compose/compose.ts";
import { HOOK_SPOOL } from "../hooks/hook-receipt.ts";
import {
  describeBreak,
  describeFailure,
  describeTree,
  requirePaths,
  toIntent,
  toKeptPlaces,
} from "./agent-arguments.ts";
import { rememberBase } from "./agent-base.ts";
import { type Captured, captureChanges, NOTHING_CAPTURED } from "./agent-capture.ts";
import { collectReports } from "./agent-hooks.ts";
import { recordProcess } from "./agent-process.ts";
import { countChanges, NOT_VERIFIED, readGate, readProof, readShown, readVerify } from "./agent-result.ts";
import { type AgentOutcome, type AgentSummary, CAPTURED_FILE, SUMMARY_FILE } from "./agent-summary.ts";
import { withTerminal } from "./agent-terminal.ts";
import type { AgentPorts } from "./ports.ts";
import type { VerifyPlan } from "./request.ts";
import { listVerifyCommands, verifyChange } from "./verify.ts";

export interface AgentRequest extends Omit<DirectOptions, "runId" | "gate" | "maxIterations"> {
  readonly command: readonly string[];
  readonly guard: GuardRequest | null;
  readonly timeoutMs: number | null;
  /** Places of the command line, which must be there. */
  readonly keep: readonly string[];
  readonly hashAll: boolean;
  readonly setup: VerifyPlan["setup"];
  /** Whether a failed verify command is tried without the change. */
  readonly baseline: boolean;
}

const COMMAND = "agent";
/** What of its own run an agent may read; the folder of the hooks' spool is kept. */
const OWN_FILES = ["RUN.json", PLAN_FILE, CONTEXT_PACK_FILE];
const MOST_DIRTY = 20;
/** Why a context pack may fail. */
const PACK_CODES = ["BUDGET_TOO_SMALL", "MANDATORY_DOC_MISSING", "CONFIG_INVALID"] as const;

/**
 * Runs a command as an agent under contract: a view of the whole tree, the real tree proved untouched, the change as a
 * patch, the gate, verification. Nothing is applied here.
 */
export async function runAgent(outside: AgentPorts, request: AgentRequest): Promise<AgentSummary> {
  const begun = outside.clock.now();
  const asked = await outside.workflow("mutate");
  const keep = toKeptPlaces(outside, request.keep);
  requirePaths(asked.repoRoot, request);
  const base = rememberBase(asked.git, () => look(outside));
  const ports = { ...asked, git: base.git };
  const run = await createDirectRun(ports, { ...request, runId: null, gate: "lite", maxIterations: null }).catch(
    (thrown: unknown) => {
      base.look()?.close();
      throw thrown;
    },
  );
  await requireReady(ports, run, request).catch((thrown: unknown) => {
    base.look()?.close();
    throw thrown;
  });
  const summary = start(run, request, await ports.git.changedTracked(), keep);
  recordProcess(run, outside);
  save(run, summary);
  // Whatever breaks off here, nobody may read afterwards that the agent is still at work.
  const breakOff = (thrown: unknown, hasWorked = true): never => {
    const { outcome, reason } = describeBreak(thrown, hasWorked);
    save(run, { ...summary, outcome, reason, duration_ms: outside.clock.now() - begun });
    throw thrown;
  };
  const view = await work(outside, ports, run, request, keep, base.look()).catch((thrown: unknown) =>
    breakOff(thrown, false),
  );
  // A command that reached the real tree may have written what git there would obey: nothing is asked of it.
  const isTouched = view.run.violations.length > 0 || view.run.condition.startsWith("RESTORATION_FAILED");
  const captured = isTouched
    ? NOTHING_CAPTURED
    : await captureChanges(outside.changedPaths, {
        root: ports.repoRoot,
        tree: run.state.base_tree,
        objects: join(run.folder.dir, "objects"),
        changes: view.changes,
        leave_out: request.leaveOut.map((path) => path.replace(/\/+$/, "")),
        content: await outside.content("append"),
      }).catch(breakOff);
  if (captured.patch.length > 0) run.folder.write(CAPTURED_FILE, captured.patch);
  const hooks = await collectReports(outside, run).catch(breakOff);
  const { verify, ...judged } = await judge(outside, ports, run, request, view, captured).catch(breakOff);
  const now = Run.load(ports, run.folder);
  const finished: AgentSummary = {
    ...summary,
    ...judged,
    duration_ms: outside.clock.now() - begun,
    agent: {
      ...summary.agent,
      exit_code: view.run.exit_code,
      duration_ms: view.run.duration_ms,
      commits: view.changes.commits,
      stdout: resolve(ports.repoRoot, view.run.run_dir, "STDOUT.log"),
      stderr: resolve(ports.repoRoot, view.run.run_dir, "STDERR.log"),
    },
    proof: readProof(view, ports.repoRoot),
    changes: countChanges(captured, view.changes.ignored + captured.ignored),
    gate: readGate(now),
    verify: verify ?? readVerify(now),
    shown: request.files.length === 0 ? summary.shown : readShown(now),
    hooks,
  };
  save(run, finished);
  if (view.run.interrupted_by !== null) {
    throw new VerbatimError("INTERRUPTED", {
      message: `the agent was interrupted; ${describeTree(finished.proof)}`,
      where: run.folder.dir,
      exit: view.run.interrupted_by === "SIGINT" ? 130 : 143,
    });
  }
  return finished;
}

/** An agent does not start without the context pack it was promised, nor under a plan whose patch no gate will look at. */
async function requireReady(ports: WorkflowPorts, run: Run, { files }: AgentRequest): Promise<void> {
  const now = Run.load(ports, run.folder);
  if (files.length === 0 || now.read(CONTEXT_PACK_FILE) !== null) return await requirePlan(ports, now);
  const failed = PACK_CODES.find((code) => code === now.state.context_pack.failed_code) ?? "INTERNAL";
  const reason = now.state.blocked?.message ?? "the context pack could not be built";
  await end(ports, run, `the agent did not start: ${failed}: ${reason}`);
  throw new VerbatimError(failed, { message: reason, where: run.folder.dir });
}

async function requirePlan(ports: WorkflowPorts, run: Run): Promise<void> {
  const step = await run.next();
  if (step.action === "make_patch") return;
  const message = describeRefusal(step);
  await end(ports, run, `the agent did not start: ${message}`);
  const fix = step.findings[0]?.fix.replace(/^- /, "");
  throw new VerbatimError("USAGE", { message, where: run.folder.dir, ...(fix === undefined ? {} : { fix }) });
}

/** Why a run does not get as far as its patch. */
function describeRefusal(step: NextStep): string {
  const [first] = step.findings;
  return first === undefined ? describeStep(step) : `${describeStep(step)}: ${first.message.replace(/^- /, "")}`;
}

function start(run: Run, request: AgentRequest, dirty: readonly string[], keep: readonly string[]): AgentSummary {
  return {
    run_id: run.id,
    run_dir: run.folder.dir,
    goal: run.state.goal,
    outcome: "working",
    reason: null,
    created_at: run.state.created_at,
    duration_ms: 0,
    base: { commit: run.state.base_commit, dirty: dirty.slice(0, MOST_DIRTY), dirty_count: dirty.length },
    agent: { argv: [...request.command], exit_code: null, duration_ms: 0, commits: 0, stdout: "", stderr: "" },
    proof: null,
    changes: { files: [], added_lines: 0, deleted_lines: 0, ignored: 0, binaries: [], links: [], not_carried: [] },
    gate: null,
    verify: null,
    shown: { files: [], bytes: 0 },
    kept: [...keep],
    hooks: { reported: 0, reported_blocked: 0 },
  };
}

function save(run: Run, summary: AgentSummary): void {
  run.folder.write(SUMMARY_FILE, `${formatCanonical(summary)}\n`);
}

/** Looks at the tree before the run is made. The folder of the state comes first, because it is in the tree. */
async function look(outside: AgentPorts): Promise<TreeScan | null> {
  await outside.content("append");
  return lookAtTree(outside.catalytic(), outside.places());
}

/** Lets the command work in its view. When it cannot even start, the run is ended and the reason is thrown. */
async function work(
  outside: AgentPorts,
  ports: WorkflowPorts,
  run: Run,
  request: AgentRequest,
  keep: readonly string[],
  look: TreeScan | null,
): Promise<ViewOutcome> {
  const places = outside.places();
  const spool = run.folder.makeFolder(HOOK_SPOOL);
  const pack = request.files.length === 0 ? {} : { VERBATIM_PACK: join(run.folder.dir, CONTEXT_PACK_FILE) };
  const cwd = relative(places.root, resolve(outside.start)).split(sep).join("/");
  // Without a network the agent could not reach it.
  const isOffline = outside.config().catalytic.network === "none";
  let mcp: Awaited<ReturnType<ServeMcp>> | undefined;
  try {
    mcp = isOffline ? undefined : await outside.serveMcp?.(places.root);
    return await runInView(withTerminal(outside.catalytic(), outside.terminal), {
      ...places,
      command: request.command,
      intent: toIntent(request.goal),
      cwd: cwd === "" ? "." : cwd,
      extra_env: { VERBATIM_RUN: run.id, ...pack, ...toMcpEnv(mcp) },
      keep: sortedUnique([...keep, spool]),
      hidden: outside.hiddenPlaces(),
      // A hook in the view judges by the plan of its run.
      shown: OWN_FILES.map((file) => join(run.folder.dir, file)),
      hash_all: request.hashAll,
      look,
      // Only at the command line the standard input belongs to whoever asked.
      stdin: outside.door === "cli" ? "inherit" : "null",
      ...(request.guard === null ? {} : { guard: request.guard }),
      ...(request.timeoutMs === null ? {} : { timeout_ms: request.timeoutMs }),
    });
  } catch (thrown) {
    look?.close();
    await end(ports, run, describeBreak(thrown, false).reason);
    throw thrown;
  } finally {
    await mcp?.close();
  }
}

/** How an agent reaches its MCP server. The token is apart from the address, which ends up in logs and arguments. */
function toMcpEnv(mcp: Awaited<ReturnType<ServeMcp>> | undefined): Record<string, string> {
  return mcp === undefined ? {} : { VERBATIM_MCP_URL: mcp.url, VERBATIM_MCP_TOKEN: mcp.token };
}

interface Judged {
  readonly outcome: AgentOutcome;
  readonly reason: string | null;
  /** What the verification said, if it ran where the agent began. */
  readonly verify?: AgentSummary["verify"];
}

/** Gate and verification for a change that may be judged; everything else ends the run. */
async function judge(
  outside: AgentPorts,
  ports: WorkflowPorts,
  run: Run,
  request: AgentRequest,
  view: ViewOutcome,
  captured: Captured,
): Promise<Judged> {
  if (!view.run.accepted) {
    const { outcome, reason } = describeFailure(view);
    await end(ports, run, reason);
    return { outcome, reason };
  }
  if (captured.patch.length === 0) {
    await end(ports, run, "the agent changed nothing that a patch carries");
    return { outcome: "unchanged", reason: null };
  }
  const verify = await withSession(ports, run.folder, COMMAND, async (session) => {
    await storeArtifact(session, PATCH_FILE, captured.patch, "patchmaker", { captured_from: view.run.run_id });
    if (needsCheckout(session, captured.patch)) {
      await advanceRun(session, { maxSteps: 16, apply: false, retryVerify: false });
      return undefined;
    }
    if (!(await gateDirectChange(session, captured.files))) return undefined;
    if (listVerifyCommands(session.run).length > 0) {
      return await verifyChange(outside, session, { ...request, captured, ignored: view.ignored });
    }
    await skipVerification(session);
    return NOT_VERIFIED;
  });
  const judged = Run.load(ports, run.folder);
  const gate = readGate(judged);
  const state = judged.state.candidates.at(-1)?.state;
  const said = verify === undefined ? {} : { verify };
  if (state === "verified" || state === "unverified") {
    if (verify === undefined) requireSameTree(judged, captured);
    return { outcome: state, reason: null, ...said };
  }
  if (state === "rejected") return { outcome: "rejected", reason: describeRejection(gate) };
  if (state === undefined) return { outcome: "rejected", reason: describeRefusal(await judged.next()) };
  const failed = (verify ?? readVerify(judged))?.failures[0];
  const reason = failed?.message.split("\n", 1)[0] ?? judged.state.stop_reason ?? "";
  return { outcome: "verify_failed", reason, ...said };
}

function describeRejection(gate: AgentSummary["gate"]): string {
  const first = gate?.findings[0];
  return `${gate?.code ?? ""} (${gate?.rule ?? ""})${first?.path == null ? "" : ` at ${first.path}`}`;
}

/** The patch, applied in the isolated copy, must have given exactly the files the agent left. */
function requireSameTree(run: Run, captured: Captured): void {
  const bytes = run.read("artifacts/patch_gate.json");
  const record = JSON.parse(Buffer.from(bytes ?? []).toString("utf8")) as {
    readonly post_images?: readonly {
      readonly path: string;
      readonly sha256: string | null;
      readonly mode: string | null;
    }[];
  };
  const made = new Map((record.post_images ?? []).map((image) => [image.path, image]));
  const wrong = captured.files.find(({ path, sha256, mode }) => {
    const image = made.get(path);
    return image === undefined || image.sha256 !== sha256 || image.mode !== mode;
  });
  if (wrong === undefined && made.size === captured.files.length) return;
  throw new VerbatimError("AGENT_CAPTURE_FAILED", {
    message: `the patch does not reproduce what the agent left at ${wrong?.path ?? "an unknown path"}`,
    where: run.folder.dir,
    details: { path: wrong?.path ?? null },
  });
}

async function end(ports: WorkflowPorts, run: Run, reason: string): Promise<void> {
  await withSession(ports, new BufferedRunFolder(run.folder), COMMAND, (session) => abortRun(session, reason));
}

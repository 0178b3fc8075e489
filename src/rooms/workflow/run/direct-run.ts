import { VerbatimError } from "../../../core/errors/index.ts";
import { showPath } from "../../../core/paths/index.ts";
import { EXPECTED_RESULTS_FILE } from "../artifacts/expected-results.ts";
import { FILE_REQUEST_FILE, FILE_REQUEST_VERSION } from "../artifacts/file-request.ts";
import { GUARDRAILS_FILE } from "../artifacts/guardrails.ts";
import { formatArtifact } from "../artifacts/json.ts";
import { PLAN_DRAFT_FILE, PLAN_FILE, REQUIRED_GATES } from "../artifacts/plan.ts";
import { signDraft } from "../artifacts/plan-match.ts";
import { REASONS_FILE, readReasons } from "../artifacts/reasons.ts";
import { REVIEW_COST_FILE } from "../artifacts/review.ts";
import { normalizeScopeEntry } from "../artifacts/scope.ts";
import { VERIFY_REPORT_FILE } from "../artifacts/verify-report.ts";
import { splitWords } from "../dispatch/argv-template.ts";
import { fenceFor } from "../dispatch/evidence-pack.ts";
import { toOneLine } from "../dispatch/prompt.ts";
import type { WorkflowPorts } from "../operations/ports.ts";
import type { PatchPolicy } from "../patch/patch-policy.ts";
import { advanceRun } from "./advance.ts";
import { createRun } from "./create-run.ts";
import { PATCH_GATE_FILE } from "./gate/gate-record.ts";
import { judgeInRun, storeArtifact } from "./gate/receive.ts";
import { BufferedRunFolder } from "./record/buffered-run-folder.ts";
import type { DirectFacts } from "./record/run-state.ts";
import type { Run } from "./run.ts";
import { type Session, withSession } from "./session.ts";

export interface DirectOptions {
  readonly goal: string;
  readonly runId: string | null;
  /** Commands of the gate lite as a person writes them, or in words; empty: the configured ones. */
  readonly verify: readonly (string | readonly string[])[];
  readonly noVerify: boolean;
  readonly files: readonly string[];
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly leaveOut: readonly string[];
  readonly gate: "lite" | "full";
  readonly maxFiles: number | null;
  readonly maxAddedLines: number | null;
  readonly maxIterations: number | null;
  /** False: the policy of agents judges the change, and the gate of the plan only how it is written. */
  readonly policed?: boolean;
}

const MAX_FILES = 50;
const MAX_BYTES = 2_000_000;

/** Forbids nothing that a patch can say. */
const OPEN_POLICY: PatchPolicy = {
  allow_roots: ["."],
  deny_prefixes: [],
  deny_suffixes: [],
  max_files: 1_000_000,
  max_added_lines: 1_000_000_000,
};

/**
 * Creates a run for one command by one person: every planning artifact is written mechanically and passes the same
 * gates, up to the point where the patch is missing.
 */
export async function createDirectRun(ports: WorkflowPorts, options: DirectOptions): Promise<Run> {
  const direct = toDirectFacts(ports, options);
  const policy: PatchPolicy = {
    ...(options.policed === false ? OPEN_POLICY : ports.agentPolicy),
    ...(options.maxFiles === null ? {} : { max_files: options.maxFiles }),
    ...(options.maxAddedLines === null ? {} : { max_added_lines: options.maxAddedLines }),
  };
  const create = { goal: options.goal, runId: options.runId, allowDirty: true, dispatch: null, policy, direct };
  const run = await createRun(holding(ports), create);
  await withSession(ports, run.folder, "workflow new --direct", async (session) => {
    const iterations = options.maxIterations ?? 1;
    await store(
      session,
      GUARDRAILS_FILE,
      `find_mode: resolver_only\nmax_files: ${MAX_FILES}\nmax_total_bytes: ${MAX_BYTES}\nmax_iterations: ${iterations}\n`,
    );
    await store(session, FILE_REQUEST_FILE, formatArtifact(toRequest(options)));
    const draft = formatDraft(ports, options, policy, iterations, session.run.behaviorIds());
    await store(session, PLAN_DRAFT_FILE, draft);
    await store(session, REASONS_FILE, formatReasons(options.goal, session.run.behaviorIds() ?? []));
    await store(session, EXPECTED_RESULTS_FILE, formatResults(options));
    const draftSha256 = session.run.hash(PLAN_DRAFT_FILE)!;
    await store(
      session,
      REVIEW_COST_FILE,
      `Draft-SHA256: ${draftSha256}\nVerdict: APPROVE\n\nBlocking Reasons:\n- none\n\nRequired Fix/Artifacts:\n- none\n`,
    );
    await store(session, PLAN_FILE, signDraft(draft));
    await advanceRun(session, { maxSteps: 16, apply: false, retryVerify: false });
  });
  return run;
}

/** Everything up to the missing patch is made in one go, so that it is written in one go. */
function holding(ports: WorkflowPorts): WorkflowPorts {
  return { ...ports, runs: { ...ports.runs, create: (id) => new BufferedRunFolder(ports.runs.create(id)) } };
}

/** Each is a path without wildcards: a folder stands for everything below it. Said before there is a run. */
function requireScope({ allow, deny }: DirectOptions): void {
  for (const [side, entries] of [["allow", allow] as const, ["deny", deny] as const]) {
    const wrong = entries.find((entry) => normalizeScopeEntry(entry, side) === null);
    if (wrong === undefined) continue;
    // What comes before the first wildcard is what most people mean.
    const plain = normalizeScopeEntry(wrong.replace(/\/?[^/]*[*?].*$/, ""), side);
    const isMeant = plain !== null && plain !== "." && plain !== wrong;
    throw new VerbatimError("USAGE", {
      message: {
        cli: `--${side} ${showPath(wrong)} is not a file or folder inside the repository`,
        others: `${showPath(wrong)} is not a file or folder inside the repository`,
      },
      where: `/${side}`,
      fix: {
        cli: isMeant
          ? `A folder covers everything below it: --${side} ${plain}`
          : `Give a path from the root of the repository, without wildcards: --${side} src`,
        others: "Give a path from the root of the repository, without wildcards.",
      },
    });
  }
}

function toDirectFacts(ports: WorkflowPorts, options: DirectOptions): DirectFacts {
  requireScope(options);
  // A gate that is configured and empty verifies nothing either; only the person at the keyboard may want that.
  const configured = (ports.config.verify.gates.get("lite") ?? []).length > 0;
  if (options.verify.length === 0 && !options.noVerify && !configured) throw new VerbatimError("VERIFY_NOT_CONFIGURED");
  if (options.verify.length > 0 && options.noVerify) {
    throw new VerbatimError("USAGE", {
      message: {
        cli: "--verify and --no-verify cannot be combined",
        others: "verify and no_verify cannot be combined",
      },
    });
  }
  const verify = options.noVerify ? [] : options.verify.length > 0 ? options.verify.map(toWords) : null;
  const policed = options.policed === false ? { policed: false as const } : {};
  return { verify, files: options.files, leave_out: options.leaveOut, ...policed };
}

function toWords(command: string | readonly string[]): readonly string[] {
  return typeof command === "string" ? splitWords(command) : command;
}

function toRequest({ goal, files }: DirectOptions) {
  return {
    schema_version: FILE_REQUEST_VERSION,
    goal,
    needs: files.map((path) => ({ path, mode: "full" })),
    budget: { max_files: MAX_FILES, max_total_bytes: MAX_BYTES },
    reason: "direct run",
  };
}

function formatDraft(
  ports: WorkflowPorts,
  options: DirectOptions,
  policy: PatchPolicy,
  iterations: number,
  behaviorIds: readonly string[] | null,
): string {
  const allow = options.allow.length === 0 ? ["."] : options.allow;
  const named = new Set(options.allow.map((entry) => normalizeScopeEntry(entry, "allow")));
  // An agent may change them; who reads its change is told.
  const guarded = options.policed === false ? [] : ports.config.mandatory_docs.map(({ path }) => path);
  const docs = guarded.filter((path) => !named.has(path));
  const deny = [...options.deny, ...docs];
  const gates = [...REQUIRED_GATES, ...(options.gate === "full" ? ["full"] : [])];
  const bullets = (items: readonly string[]) => items.map((item) => `- ${item}`);
  return [
    "Status: DRAFT",
    "Scope-Allow:",
    ...bullets(allow),
    ...(deny.length === 0 ? ["Scope-Deny: none"] : ["Scope-Deny:", ...bullets(deny)]),
    `Gates: ${gates.join(", ")}`,
    "Stop: scope_violation=true",
    `Budgets: max_iterations=${iterations}, max_files=${Math.max(1, policy.max_files)}, max_total_bytes=${MAX_BYTES}`,
    `Behaviors: ${behaviorIds === null || behaviorIds.length === 0 ? "none" : behaviorIds.join(", ")}`,
    "Results: R001",
    "",
  ].join("\n");
}

/** A goal in a person's own words may hold what looks like an id ("fix ruff B006"); inside a fence it cites nothing. */
function formatReasons(goal: string, selected: readonly string[]): string {
  const text = toOneLine(goal);
  const reason = `- R001: ${text}`;
  const cited = readReasons([reason]).flatMap(({ refs }) => refs);
  if (cited.every((id) => id === "R001" || selected.includes(id))) return `${reason}\n`;
  const fence = fenceFor(text);
  return `- R001: the goal, word for word\n  ${fence}\n  ${text}\n  ${fence}\n`;
}

function formatResults({ goal, noVerify, gate }: DirectOptions): string {
  const [acceptance, evidence, gates] =
    noVerify && gate === "lite"
      ? ["the patch gate accepts the change, which no command verifies", PATCH_GATE_FILE, "patch_check"]
      : ["all declared gates pass", VERIFY_REPORT_FILE, "lite"];
  return `R001: ${toOneLine(goal)}\nAcceptance: ${acceptance}\nEvidence: ${evidence}\nRelated-Gates: ${gates}\n`;
}

async function store(session: Session, path: string, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  const [first] = judgeInRun(session.run, path, bytes).errors;
  if (first !== undefined) {
    throw new VerbatimError("USAGE", {
      message: `${first.code}: ${first.message}`,
      where: path,
      details: { finding: first },
    });
  }
  await storeArtifact(session, path, bytes, "operator");
}

import { formatCanonical } from "../../core/canonical/index.ts";
import type { GuardRequest } from "../../rooms/catalytic/index.ts";
import {
  COPY_FOLDER,
  childEnvironment,
  describeBase,
  findCommands,
  formatArgv,
  type Run,
  type Session,
  type Verified,
  type ViewWrite,
  verifyCandidate,
  verifyDirectChange,
} from "../../rooms/workflow/index.ts";
import type { Captured } from "./agent-capture.ts";
import type { AgentSummary } from "./agent-summary.ts";
import type { AgentPorts } from "./ports.ts";
import type { VerifyPlan } from "./request.ts";

/** A tree with more bytes is not copied; then a checkout is the base of the verification. */
const COPY_MAX = 5_000_000_000;
/** For a command whose time nobody limited. */
const TIMEOUT_S = 1800;

/** The commands that verify a change of a run; none when nobody asked for any. */
export function listVerifyCommands(run: Run) {
  const commands = findCommands(run, "lite") ?? [];
  return commands.map(({ argv, cwd, timeout_s }) => ({ argv, cwd, timeout_s, cmd: formatArgv(argv) }));
}

interface VerifyRequest {
  readonly captured: Captured;
  readonly guard: GuardRequest | null;
  readonly setup: VerifyPlan["setup"];
  readonly baseline: boolean;
  /** What git ignored when the agent began. */
  readonly ignored: ReadonlyMap<string, string> | null;
}

/** Verifies what the agent left on the tree it began with, and writes down what came of it. */
export async function verifyChange(
  outside: AgentPorts,
  session: Session,
  { captured, guard, ignored, setup, baseline }: VerifyRequest,
): Promise<NonNullable<AgentSummary["verify"]>> {
  const { run } = session;
  const { workflow, catalytic } = outside.config();
  const commands = listVerifyCommands(run);
  const isPlain = workflow.verify.isolation === "worktree";
  const verified = await verifyDirectChange(session, async () => {
    const ports = await outside.verification({
      base: isPlain ? "checkout" : "auto",
      copy_max: COPY_MAX,
      guard: isPlain ? "audit" : guard,
      network: null,
      git: run.ports.git,
      checkout: { folder: run.folder.makeFolder(COPY_FOLDER), base: run.base, commit: run.state.base_commit },
    });
    const isBare = setup === "detect" && ports.place.kind === "checkout" && workflow.verify.setup.length > 0;
    try {
      return await verifyCandidate(
        ports,
        {
          v: run.state.iterations,
          candidate: run.hash("artifacts/diff.patch")!,
          base: { ...run.base, head: run.state.base_commit },
          writes: captured.files.map(toWrite),
          commands,
          setup: isBare ? workflow.verify.setup.map(({ argv }) => ({ argv, cmd: formatArgv(argv) })) : setup,
          timeout_s: Math.max(TIMEOUT_S, ...commands.map(({ timeout_s }) => timeout_s)),
          baseline,
          ignored_at_start: ignored,
          env: childEnvironment(run.ports.env, workflow.verify.env_allow, {}),
          run_id: run.id,
          masks: [],
          network: catalytic.network,
          caps: null,
        },
        session.signal,
      );
    } finally {
      run.folder.remove(COPY_FOLDER);
    }
  });
  keep(run, verified);
  return describe(verified);
}

function toWrite({ path, mode, sha256 }: Captured["files"][number]): ViewWrite {
  // The gate has refused links before.
  if (mode === null || mode === "120000" || sha256 === null) return { path, mode: null };
  return { path, mode: mode as "100644" | "100755", sha256 };
}

function keep(run: Run, { report, stdout, stderr }: Verified): void {
  const folder = `agent/verifications/${String(report.v).padStart(2, "0")}`;
  run.folder.write(`${folder}/report.json`, `${formatCanonical(report)}\n`);
  run.folder.write(`${folder}/stdout.log`, stdout);
  run.folder.write(`${folder}/stderr.log`, stderr);
}

function describe({ report, lacks }: Verified): NonNullable<AgentSummary["verify"]> {
  const failed = report.commands.find(({ reason }) => reason !== null);
  return {
    result: report.result,
    isolation: report.catalytic_run === null ? "worktree" : "catalytic",
    catalytic_run: report.catalytic_run,
    on: describeBase(report.base, lacks),
    commands: report.commands.map(({ cmd, exit_code, ms }) => ({ cmd, exit_code, duration_ms: ms })),
    setup: report.setup.map(({ cmd, why, exit_code, ms }) => ({ cmd, why, exit_code, duration_ms: ms })),
    also_fails: report.baseline.some(({ exit_code }) => exit_code !== 0),
    notices: [...report.notices],
    failures:
      report.reason === null
        ? []
        : [
            {
              kind: "verify",
              id: report.code ?? "VERIFY_FAILED",
              message: [report.reason, ...(failed?.tail ?? [])].join("\n"),
            },
          ],
  };
}

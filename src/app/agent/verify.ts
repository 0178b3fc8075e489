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
  type VerifyReport,
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
  const { verified, report } = await verifyDirectChange(session, async () => {
    // Whoever asked for a guard gets one, or GUARD_UNAVAILABLE.
    if (workflow.verify.isolation === "catalytic") await run.ports.isolations.choose("catalytic");
    try {
      const ports = await outside.verification({
        base: isPlain ? "checkout" : "auto",
        copy_max: COPY_MAX,
        guard: isPlain ? "audit" : guard,
        network: null,
        git: run.ports.git,
        checkout: { folder: run.folder.makeFolder(COPY_FOLDER), base: run.base, commit: run.state.base_commit },
      });
      const isBare = setup === "detect" && ports.place.kind === "checkout" && workflow.verify.setup.length > 0;
      const verifyIt = () =>
        verifyCandidate(
          ports,
          {
            v: run.state.iterations,
            candidate: run.hash("artifacts/diff.patch")!,
            base: { ...run.base, head: run.state.base_commit },
            writes: captured.files.map(toWrite),
            commands,
            setup: isBare ? workflow.verify.setup.map((one) => ({ ...one, cmd: formatArgv(one.argv) })) : setup,
            timeout_s: TIMEOUT_S,
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
      return ports.place.guarded ? await verifyIt() : await verifyWatched(run, verifyIt);
    } finally {
      run.folder.remove(COPY_FOLDER);
    }
  });
  keep(run, verified);
  return describe(verified, report);
}

/** Commands that nothing holds back could have written anywhere: the real tree is compared before and after. */
async function verifyWatched(run: Run, verify: () => Promise<Verified>): Promise<Verified> {
  const before = await run.ports.git.fingerprint(true);
  const verified = await verify();
  if ((await run.ports.git.fingerprint(true)) === before) return verified;
  const reason = "your tree changed while the verify commands ran, and no guard held them back";
  return { ...verified, report: { ...verified.report, result: "FAIL", code: "VERIFY_FAILED", reason } };
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

function describe(
  { report, lacks }: Verified,
  { result, failures }: VerifyReport,
): NonNullable<AgentSummary["verify"]> {
  return {
    result,
    isolation: report.catalytic_run === null ? "worktree" : "catalytic",
    catalytic_run: report.catalytic_run,
    on: describeBase(report.base, lacks),
    commands: report.commands.map(({ cmd, exit_code, ms }) => ({ cmd, exit_code, duration_ms: ms })),
    setup: report.setup.map(({ cmd, why, exit_code, ms }) => ({ cmd, why, exit_code, duration_ms: ms })),
    also_fails: report.baseline.some(({ exit_code }) => exit_code !== 0),
    notices: [...report.notices],
    failures: failures.map(({ kind, id, message }) => ({ kind, id, message })),
  };
}

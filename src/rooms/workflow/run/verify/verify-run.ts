import { codePointLength, concatBytes, encodeUtf8 } from "../../../../core/canonical/index.ts";
import { elapsedSince } from "../../../../core/time.ts";
import type { Plan } from "../../artifacts/plan.ts";
import type { VerifyCommand, VerifyFailure } from "../../artifacts/verify-report.ts";
import { formatArgv } from "../../dispatch/argv-template.ts";
import type { GateCommandResult, GateDone, GateWork, IsolatedCopy, Isolation } from "../../ports.ts";
import type { Session } from "../session.ts";
import { childEnvironment } from "./child-environment.ts";
import { runBuiltInGate } from "./verify-gates.ts";
import { findCommands, isBuiltInGate, writeScript } from "./verify-script.ts";

/** What the gates of one verification gave. */
interface GateFindings {
  readonly commands: readonly VerifyCommand[];
  readonly failures: readonly VerifyFailure[];
  readonly executed: readonly string[];
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly catalytic_run_id?: string;
}

interface Collected {
  readonly commands: VerifyCommand[];
  readonly failures: VerifyFailure[];
  readonly executed: string[];
  readonly stdout: Uint8Array[];
  readonly stderr: Uint8Array[];
}

const TAIL_LINES = 20;
const MESSAGE_LENGTH = 2000;
const HEAD_LENGTH = 500;
const KINDS = { exited: "command_failed", timeout: "command_timeout", not_found: "command_not_found" } as const;
const decoder = new TextDecoder();

/** The isolation of this verification. Where `auto` has nothing to run, nothing needs to be guarded. */
export async function chooseIsolation(session: Session, plan: Plan): Promise<Isolation> {
  const { ports } = session.run;
  const { isolation } = ports.config.verify;
  const idle = isolation === "auto" && writeScript(session.run, plan).every(({ commands }) => commands.length === 0);
  return await ports.isolations.choose(idle ? "worktree" : isolation);
}

/** Runs the set-up and every gate of the plan over the copy. */
export async function runGates(
  session: Session,
  isolation: Isolation,
  copy: IsolatedCopy,
  plan: Plan,
): Promise<GateFindings> {
  const { run } = session;
  const found: Collected = { commands: [], failures: [], executed: [], stdout: [], stderr: [] };
  const works = writeScript(run, plan);
  const env = childEnvironment(run.ports.env, run.ports.config.verify.env_allow, { VERBATIM_RUN: run.id });
  const reads = [run.ports.repoRoot, ...(run.base.objects === null ? [] : [run.base.objects])];
  const shared = run.ports.config.verify.share.map(({ path }) => path);
  const gates = await isolation.open({ copy: copy.root, reads, works, shared, env }, session.signal);
  let closed: { readonly catalytic_run_id?: string; readonly problem?: string } = {};
  try {
    for (const work of works) {
      const done = await gates.next();
      session.throwIfInterrupted();
      const failed = found.failures.length;
      collect(work, done, found);
      // A plan may have a gate of the same name as the set-up, so it is told by its place.
      const isSetup = work === works[0] && run.ports.config.verify.setup.length > 0;
      if (!isSetup) await closeGate(session, work, done, { copy, plan, found, failed });
    }
  } finally {
    closed = await gates.close();
  }
  session.throwIfInterrupted();
  const { problem, ...ids } = closed;
  if (problem !== undefined) {
    found.failures.push({ kind: "isolation_violation", id: "isolation_violation", message: problem });
  }
  return { ...found, ...ids, stdout: concatBytes(found.stdout), stderr: concatBytes(found.stderr) };
}

/** Judges a gate whose commands have run, and says how it ended. */
async function closeGate(
  session: Session,
  { gate, commands }: GateWork,
  { present }: GateDone,
  context: {
    readonly copy: IsolatedCopy;
    readonly plan: Plan;
    readonly found: Collected;
    /** How many failures there were before this gate. */
    readonly failed: number;
  },
): Promise<void> {
  const { run } = session;
  const { copy, plan, found, failed } = context;
  if (isBuiltInGate(gate)) {
    const begun = run.ports.clock.now();
    const failures = await runBuiltInGate(gate, run, plan, copy, present);
    const duration_ms = elapsedSince(run.ports.clock, begun);
    found.failures.push(...failures);
    found.commands.push({ cmd: `verbatim:${gate}`, exit_code: failures.length === 0 ? 0 : 1, gate, duration_ms });
  } else if (findCommands(run, gate) === null) {
    found.failures.push({ kind: "gate_missing", id: gate, message: `no commands are configured for the gate ${gate}` });
  } else if (commands.length === 0) await session.event("verifier", "GATE_EMPTY", "", { gate });
  found.executed.push(gate);
  const passed = found.failures.length === failed;
  await session.event("verifier", passed ? "GATE_PASSED" : "GATE_FAILED", "", { gate });
}

function collect({ gate, commands }: GateWork, { results }: GateDone, found: Collected): void {
  for (const [index, result] of results.entries()) {
    const cmd = formatArgv(commands[index]!.argv);
    found.commands.push({ cmd, exit_code: result.exit_code, gate, duration_ms: result.duration_ms });
    const head = encodeUtf8(`$ ${cmd}\n`);
    found.stdout.push(head, result.stdout);
    found.stderr.push(head, result.stderr);
    if (result.exit_code !== 0) found.failures.push(toFailure(`${gate}[${index}]`, cmd, result));
  }
}

/** The end of the output says why something failed: the beginning gives way. */
function toFailure(id: string, cmd: string, result: GateCommandResult): VerifyFailure {
  const output = `${decoder.decode(result.stdout)}\n${decoder.decode(result.stderr)}`.trim();
  const head = `${cut(cmd, HEAD_LENGTH)}: exit code ${result.exit_code}\n`;
  const tail = [
    ...output
      .split("\n")
      .slice(-TAIL_LINES)
      .join("\n")
      .slice(-MESSAGE_LENGTH * 2),
  ];
  const room = MESSAGE_LENGTH - codePointLength(head);
  return { kind: KINDS[result.ending], id, message: `${head}${tail.slice(-room).join("").toWellFormed()}` };
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

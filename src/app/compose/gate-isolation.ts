import { join } from "node:path";
import { GateReports } from "../../adapters/process/gate-reports.ts";
import { GATE_RUNNER_SCRIPT } from "../../adapters/process/gate-runner-script.ts";
import { worktreeIsolation } from "../../adapters/process/worktree-isolation.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import {
  type CatalyticPorts,
  chooseGuard,
  readPolicy,
  runInView,
  type ViewOptions,
  type ViewOutcome,
} from "../../rooms/catalytic/index.ts";
import type { GateScript, GateSession, Isolations } from "../../rooms/workflow/index.ts";
import { createCatalyticPorts, toCatalyticPlaces, toHiddenPlaces } from "./catalytic-ports.ts";
import type { Composition } from "./compose.ts";

/** A day: the longest time a JobSpec may name. */
const LONGEST_MS = 86_400_000;
/** Beside the times of the commands themselves: starting them, and ending one that does not want to. */
const MARGIN_MS = 60_000;
/** Linux takes no single argument of 128 KiB or more, and a UTF-16 unit may take three bytes. */
const PIECE_LENGTH = 40_000;

type Isolated = Omit<ViewOptions, "command" | "intent">;

/**
 * The isolations of a verification: plain processes in the copy, or one catalytic view over it. `auto` is the view
 * where a guard works that keeps everything outside from being written; `catalytic` is the view or an error.
 */
export function createIsolations(composition: Composition): Isolations {
  return {
    async choose(wanted) {
      if (wanted === "worktree") return worktreeIsolation;
      const places = toCatalyticPlaces(composition);
      const { policy, settings } = readPolicy(places.config);
      const ports = createCatalyticPorts(composition);
      // A guard that only watches isolates nothing, so it is taken only where the configuration names it.
      const guard = settings.guard === "auto" ? "require" : settings.guard;
      const probes = await ports.guards.probe(false);
      const choice = chooseGuard(composition.platform, guard, probes, settings.network);
      if (wanted === "auto" && (choice.guard === null || choice.class !== "namespace")) return worktreeIsolation;
      if (choice.guard === null) throw unavailable(guard, probes);
      const isolated = { ...places, guard, runs: join(places.root, policy.runs_root) };
      return { kind: "catalytic", open: async (script, signal) => openView(composition, isolated, script, signal) };
    },
  };
}

function unavailable(guard: string, probes: Readonly<Record<string, string>>): VerbatimError {
  const reasons = Object.entries(probes).map(([name, answer]) => `${name} ${answer}`);
  return new VerbatimError("GUARD_UNAVAILABLE", {
    message: `workflow.verify.isolation is catalytic, but no guard can confine the gates (${reasons.join(", ")})`,
    where: "verbatim.config.json",
    fix: 'See verbatim catalytic doctor, or set workflow.verify.isolation to "worktree", which gives gates your rights.',
    details: { requested: guard, probes: { ...probes } },
  });
}

/** Starts the gate runner in a view of the copy; what it reports is there as soon as it is said. */
function openView(composition: Composition, isolated: Isolated, script: GateScript, signal: AbortSignal): GateSession {
  const reports = new GateReports(script.works);
  const { VERBATIM_RUN: run = "", ...env } = script.env;
  const ports: CatalyticPorts = {
    ...createCatalyticPorts(composition),
    env,
    interrupts: { listen: (onSignal) => listen(signal, onSignal) },
    notify: (text) => composition.notify(`verify: ${text}`),
    onOutput: (stream, bytes) => {
      if (stream === "stdout") reports.hear(bytes);
    },
  };
  const running = runInView(ports, {
    ...isolated,
    root: script.copy,
    visible: script.reads,
    // git is not asked: the rules would be the candidate's.
    ignored: script.shared,
    // Gates run code that an agent wrote.
    hidden: toHiddenPlaces(composition),
    command: [process.execPath, "--input-type=commonjs", "-e", GATE_RUNNER_SCRIPT, "--", ...toArguments(script)],
    intent: `Verify the candidate of workflow run ${run}`,
    extra_env: { VERBATIM_RUN: run },
    timeout_ms: toTimeout(script),
  });
  // Whoever asks for a gate hears of it; close() asks again.
  running.then(
    ({ run: ended }) => reports.finish(ended.exit_code, `the gate runner ended early: ${ended.message}`),
    (thrown: unknown) => reports.fail(thrown),
  );
  return { next: () => reports.next(), close: async () => describe(await running, reports) };
}

function describe({ run }: ViewOutcome, reports: GateReports): { catalytic_run_id: string; problem?: string } {
  const catalytic_run_id = run.run_id;
  const problem = run.accepted ? reports.problem : `catalytic run ${run.run_id}: ${run.condition}: ${run.message}`;
  return problem === null ? { catalytic_run_id } : { catalytic_run_id, problem };
}

/** The work of a gate runner in pieces that the system takes as arguments. */
export function toArguments({ works }: Pick<GateScript, "works">): string[] {
  const text = JSON.stringify(works);
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += PIECE_LENGTH) pieces.push(text.slice(at, at + PIECE_LENGTH));
  return pieces;
}

/** Enough for every command of a script to use up its own time. */
export function toTimeout({ works }: Pick<GateScript, "works">): number {
  const seconds = works.flatMap(({ commands }) => commands).reduce((sum, { timeout_s }) => sum + timeout_s + 6, 0);
  return Math.min(seconds * 1000 + MARGIN_MS, LONGEST_MS);
}

/** An abort reaches the run as the signal that ends it. */
export function listen(signal: AbortSignal, onSignal: (name: "SIGTERM") => void): () => void {
  const onAbort = () => onSignal("SIGTERM");
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  return () => signal.removeEventListener("abort", onAbort);
}

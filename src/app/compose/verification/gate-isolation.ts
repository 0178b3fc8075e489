import { join } from "node:path";
import { GateReports } from "../../../adapters/process/gate-reports.ts";
import { worktreeIsolation } from "../../../adapters/process/worktree-isolation.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { chooseGuard, readPolicy } from "../../../rooms/catalytic/index.ts";
import type { GateScript, GateSession, Isolations } from "../../../rooms/workflow/index.ts";
import { createCatalyticPorts, toCatalyticPlaces } from "../catalytic-ports.ts";
import type { Composition } from "../compose.ts";
import { describeProblem, type GateViewPlace, openGateView } from "./gate-view.ts";

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
    fix: {
      cli: 'See verbatim catalytic doctor, or set workflow.verify.isolation to "worktree", which gives gates your rights.',
      others:
        'Set workflow.verify.isolation to "worktree", which gives gates your rights, or see which guards the doctor finds.',
    },
    details: { requested: guard, probes: { ...probes } },
  });
}

/** A session in a view of the copy. */
function openView(
  composition: Composition,
  places: GateViewPlace,
  script: GateScript,
  signal: AbortSignal,
): GateSession {
  const { works, env } = script;
  const reports = new GateReports(works);
  // git is not asked what is ignored: the rules would be the candidate's.
  const place = { ...places, root: script.copy, visible: script.reads, ignored: script.shared };
  const intent = `Verify the candidate of workflow run ${env["VERBATIM_RUN"] ?? ""}`;
  const running = openGateView(composition, place, { works, env, intent }, reports, signal);
  return {
    next: () => reports.next(),
    async close() {
      const outcome = await running;
      const catalytic_run_id = outcome.run.run_id;
      const problem = describeProblem(outcome, reports);
      return problem === null ? { catalytic_run_id } : { catalytic_run_id, problem };
    },
  };
}

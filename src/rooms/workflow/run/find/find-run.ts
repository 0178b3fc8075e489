import { sortedByCodePoint } from "../../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../../core/errors/index.ts";
import { showPath } from "../../../../core/paths/index.ts";
import type { WorkflowPorts } from "../../operations/ports.ts";
import type { RunFolder } from "../../ports.ts";
import { Run } from "../run.ts";
import { ambiguous, isAge, type NamedRun, resolveRunName } from "./run-name.ts";

/** The run of a name (see `resolveRunName`) or a directory; without a name the only open run of the repository. */
export function findRun(ports: WorkflowPorts, name: string | undefined): Run {
  return Run.load(ports, name === undefined ? findOpen(ports) : findNamed(ports, name));
}

/** The same for whoever wants to change it: RUN_OTHER_REPO when it belongs to another repository. */
export function findOwnRun(ports: WorkflowPorts, name: string | undefined): Run {
  const run = findRun(ports, name);
  requireOwn(run);
  return run;
}

/**
 * RUN_OTHER_REPO unless a run belongs to this repository; a moved one is noted where it is now. `flag` would let the verb
 * use it all the same.
 */
export function requireOwn({ ports, state, folder }: Run, flag?: string): void {
  if (!ports.runs.isOwn(state)) {
    const or = flag === undefined ? "" : `, or in this work tree: add ${flag}`;
    throw new VerbatimError("RUN_OTHER_REPO", {
      message: `the run ${state.run_id} belongs to another repository, not to ${showPath(ports.repoRoot)}`,
      where: folder.dir,
      fix: `Use it where it was created: verbatim -C ${showPath(state.repo_root)} ...${or}`,
      details: { repo_root: state.repo_root, repo_id: state.repo_id ?? null },
    });
  }
  if (ports.identity.current() !== null) ports.identity.settle();
}

/** Whether `verbatim agent` made a run: then its own verbs alone move it on. */
function isOfAgents({ direct }: Run["state"]): boolean {
  return direct?.policed === false;
}

/** RUN_OF_AGENT unless the steps of a workflow may move a run on; `verb` is what does it for agents. */
export function requireSteps({ state, folder }: Run, verb: string): void {
  if (!isOfAgents(state)) return;
  throw new VerbatimError("RUN_OF_AGENT", {
    message: {
      cli: `${state.run_id} is a run of verbatim agent, which has verbs of its own`,
      others: `${state.run_id} is an agent run, which has verbs of its own`,
    },
    where: folder.dir,
    fix: `Use: verbatim agent ${verb} ${state.run_id}`,
  });
}

function findNamed(ports: WorkflowPorts, name: string): RunFolder {
  if (!isAge(name)) {
    const exact =
      /^[^/\\]+$/.test(name) && name !== "." && name !== ".." ? ports.runs.open(name) : ports.runs.openPath(name);
    if (exact !== null) return exact;
  }
  const runs = ports.runs.ids().map((id) => toNamed(ports, id));
  return ports.runs.open(resolveRunName(runs, name, { noun: "run", list: "verbatim workflow list --all" }))!;
}

/** A run that cannot be read can still be named; it counts as the oldest. */
function toNamed(ports: WorkflowPorts, run_id: string): NamedRun {
  try {
    return { run_id, created_at: Run.load(ports, ports.runs.open(run_id)!).state.created_at };
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "RUN_CORRUPT") return { run_id, created_at: "" };
    throw thrown;
  }
}

function findOpen(ports: WorkflowPorts): RunFolder {
  const open = ports.runs.ids().filter((id) => {
    const { state } = Run.load(ports, ports.runs.open(id)!);
    // Those of agents wait for their own verbs.
    return state.status !== "pass" && state.stop_reason === null && !isOfAgents(state);
  });
  const [only, ...others] = open;
  if (only === undefined) {
    throw new VerbatimError("RUN_NOT_FOUND", {
      message: "this repository has no open run",
      fix: { cli: "List runs: verbatim workflow list --all", others: "Name a run by its id, or start a new one." },
    });
  }
  if (others.length > 0) throw ambiguous(sortedByCodePoint(open), null);
  return ports.runs.open(only)!;
}

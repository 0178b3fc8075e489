import { sortedByCodePoint } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { showPath } from "../../../core/paths/index.ts";
import type { WorkflowPorts } from "../operations/ports.ts";
import type { RunFolder } from "../ports.ts";
import { Run } from "./run.ts";

/** The run of an id, a unique prefix of one, or a directory; without a name the only open run of the repository. */
export function findRun(ports: WorkflowPorts, name: string | undefined): Run {
  return Run.load(ports, name === undefined ? findOpen(ports) : findNamed(ports, name));
}

/** The same for whoever wants to change it: RUN_OTHER_REPO when it belongs to another repository. */
export function findOwnRun(ports: WorkflowPorts, name: string | undefined): Run {
  const run = findRun(ports, name);
  requireOwn(run);
  return run;
}

/** RUN_OTHER_REPO unless a run belongs to this repository; a moved one is noted where it is now. */
export function requireOwn({ ports, state, folder }: Run): void {
  if (!ports.runs.isOwn(state)) {
    throw new VerbatimError("RUN_OTHER_REPO", {
      message: `the run ${state.run_id} belongs to another repository, not to ${showPath(ports.repoRoot)}`,
      where: folder.dir,
      fix: `Use it where it was created: verbatim -C ${showPath(state.repo_root)} ...`,
      details: { repo_root: state.repo_root, repo_id: state.repo_id ?? null },
    });
  }
  if (ports.identity.current() !== null) ports.identity.settle();
}

function findNamed(ports: WorkflowPorts, name: string): RunFolder {
  const exact =
    /^[^/\\]+$/.test(name) && name !== "." && name !== ".." ? ports.runs.open(name) : ports.runs.openPath(name);
  if (exact !== null) return exact;
  const found = ports.runs.ids().filter((id) => id.startsWith(name));
  if (found.length === 1) return ports.runs.open(found[0]!)!;
  if (found.length > 1) throw ambiguous(found);
  throw notFound(`this repository has no run ${JSON.stringify(name)}`);
}

function findOpen(ports: WorkflowPorts): RunFolder {
  const open = ports.runs.ids().filter((id) => {
    const { state } = Run.load(ports, ports.runs.open(id)!);
    return state.status !== "pass" && state.stop_reason === null;
  });
  if (open.length === 1) return ports.runs.open(open[0]!)!;
  throw open.length === 0 ? notFound("this repository has no open run") : ambiguous(open);
}

function notFound(message: string): VerbatimError {
  return new VerbatimError("RUN_NOT_FOUND", { message, fix: "List runs: verbatim workflow list --all" });
}

function ambiguous(ids: readonly string[]): VerbatimError {
  const runs = sortedByCodePoint(ids);
  return new VerbatimError("RUN_AMBIGUOUS", {
    message: `more than one run matches: ${runs.join(", ")}`,
    details: { runs },
  });
}

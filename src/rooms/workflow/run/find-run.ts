import { sortedByCodePoint } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { RunFolder } from "../ports.ts";
import type { WorkflowPorts } from "../workflow-ports.ts";
import { Run } from "./run.ts";

/** The run of an id, a unique prefix of one, or a directory; without a name the only open run of the repository. */
export function findRun(ports: WorkflowPorts, name: string | undefined): Run {
  return Run.load(ports, name === undefined ? findOpen(ports) : findNamed(ports, name));
}

function findNamed(ports: WorkflowPorts, name: string): RunFolder {
  const exact =
    /^[^/\\]+$/.test(name) && name !== "." && name !== ".." ? ports.runs.open(name) : ports.runs.openPath(name);
  if (exact !== null) return exact;
  const found = ports.runs.ids().filter((id) => id.startsWith(name));
  if (found.length === 1) return ports.runs.open(found[0]!)!;
  if (found.length > 1) throw ambiguous(found);
  throw notFound(`there is no run ${JSON.stringify(name)} of this repository`);
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
    message: `more than one run is meant: ${runs.join(", ")}`,
    details: { runs },
  });
}
